// <regard-attention>: the page. All heads, one of them large or two compared, and a token.
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { Address, parseAddress, BEGINNING, type ViewState } from "./address";
import { layout } from "./attention.css";
import type { AttentionMap, Language, ViewDocument } from "./document";
import "./heads";
import "./heatmap/index";
import type { CellDetail, RegardHeatmap, TileDetail } from "./heatmap/index";
import "./help";
import type { RegardHelp } from "./help";
import { sourceOf } from "./live";
import { counterpart, SORTS, sortMaps, type Sort } from "./order";
import "./overlay/index";
import type { Source } from "./source";
import { grouped, languageOf, say } from "./texts";
import { Telling } from "./telling";
import { titlesOf } from "./titles";
import { theme } from "./theme";
import "./tokens";
import { heading, notes, toolbar } from "./toolbar";
import { kindSentence, statLines, summary, tellingStats } from "./words";
import { carry, reveal, whole, type Cell, type Window } from "./zoom";

@customElement("regard-attention")
export class RegardAttention extends LitElement {
  static override styles = [theme, layout];

  @property({ attribute: false }) document!: ViewDocument;
  @property({ attribute: false }) bytes!: ArrayBuffer;
  @state() private view: ViewState = BEGINNING;
  @state() private least: Record<number, number> = {};
  @state() private every = 1;
  @query("regard-heatmap") private heatmap!: RegardHeatmap;
  @query("regard-help") private help!: RegardHelp;

  private source!: Source;
  private previous: number | null = null;
  private titles: readonly string[] = [];
  private readonly telling = new Telling(
    () => ({ document: this.document, source: this.source, view: this.view, language: this.language }),
    () => this.requestUpdate(),
  );
  private readonly address = new Address((fragment) => this.arrive(fragment));

  override connectedCallback(): void {
    super.connectedCallback();
    this.address.listen();
    globalThis.addEventListener("keydown", this.key);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.address.stop();
    globalThis.removeEventListener("keydown", this.key);
    this.telling.stop();
  }

  private get map(): AttentionMap {
    return this.document.maps[this.view.map]!;
  }

  get language(): Language {
    return languageOf(this.view.language, this.document.language, navigator.languages ?? []);
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("document")) {
      this.source = sourceOf(this.document, this.bytes);
      this.arrive(globalThis.location?.hash ?? "");
    }
    const before = changed.get("view") as ViewState | undefined;
    if (changed.has("document") || before?.language !== this.view.language) this.titles = titlesOf(this.language, this.document);
  }

  /** Show what an address says. */
  private arrive(fragment: string): void {
    this.view = parseAddress(fragment, this.document.maps);
    this.telling.begin(this.view.pinned ?? this.view.cursor);
  }

  private change(parts: Partial<ViewState>): void {
    this.view = { ...this.view, ...parts };
    this.address.write(this.view);
    this.telling.follow("map" in parts || "other" in parts || "language" in parts);
  }

  private select(number: number): void {
    if (number === this.view.map) return;
    this.previous = this.view.map;
    const next = this.document.maps[number]!;
    const same = next.rows === this.map.rows && next.cols === this.map.cols;
    if (!same) this.telling.cell = null;
    this.least = {};
    this.change(same ? { map: number } : { map: number, window: null, cursor: null, pinned: null });
  }

  private compare(number: number | null): void {
    this.least = {};
    this.change({ other: number });
  }

  private toggleCompare(): void {
    if (this.view.other !== null) {
      this.compare(null);
      return;
    }
    const order = sortMaps(this.document.maps, this.view.sort);
    const at = order.indexOf(this.view.map);
    const before = this.previous !== null && this.previous !== this.view.map ? this.previous : null;
    const other = counterpart(this.document, this.view.map) ?? before ?? order[at + 1] ?? order[at - 1];
    if (other !== undefined) this.compare(other);
  }

  private step(by: 1 | -1): void {
    const order = sortMaps(this.document.maps, this.view.sort);
    const at = order.indexOf(this.view.map) + by;
    if (order[at] !== undefined) this.select(order[at]);
  }

  private pin(cell: Cell | null): void {
    const { pinned } = this.view;
    const same = cell && pinned && cell.row === pinned.row && cell.col === pinned.col;
    this.change({ pinned: same ? null : cell });
  }

  /** One step back: from the pin, then the comparison, then the zoom. */
  private leave(): void {
    if (this.view.pinned) this.change({ pinned: null });
    else if (this.view.other !== null) this.compare(null);
    else if (this.view.window) this.change({ window: null });
    else this.change({ cursor: null });
  }

  private readonly key = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || this.help.open) return;
    const target = event.composedPath()[0];
    if (target instanceof HTMLElement && target.matches("input, select, textarea")) return;
    const { view } = this;
    const actions: Record<string, () => void> = {
      "[": () => this.step(-1),
      "]": () => this.step(1),
      m: () => this.change({ reduce: view.reduce === "mass" ? "max" : "mass" }),
      l: () => this.change({ colouring: view.colouring === "linear" ? "log" : "linear" }),
      c: () => this.toggleCompare(),
      s: () => this.change({ sort: SORTS[(SORTS.indexOf(view.sort) + 1) % SORTS.length]! }),
      "?": () => this.help.show(),
      Escape: () => this.leave(),
    };
    if (Object.hasOwn(actions, event.key)) {
      event.preventDefault();
      actions[event.key]!();
    } else if (target === document.body || target === document.documentElement) this.heatmap?.press(event);
  };

  private headTitle(number: number): string {
    return this.titles[number] ?? "";
  }

  protected override updated(): void {
    this.toggleAttribute("comparing", this.view.other !== null);
    this.dataset["map"] = String(this.view.map);
    this.dataset["other"] = this.view.other === null ? "" : String(this.view.other);
    this.dataset["reduce"] = this.view.reduce;
    this.dataset["colouring"] = this.view.colouring;
    this.dataset["sort"] = this.view.sort;
    this.dataset["language"] = this.language;
    this.dataset["ready"] = "true";
    document.documentElement.lang = this.language === "zh" ? "zh-CN" : "en";
  }

  private renderTop() {
    const { document, language } = this;
    return html`
      ${heading(language, document.title || say(language, "map"), (chosen) => this.change({ language: chosen }), () => this.help.show())}
      ${notes(language, document.notes)}
    `;
  }

  private renderBar() {
    const { language, view } = this;
    const press = (key: string) => this.heatmap.press(new KeyboardEvent("keydown", { key, cancelable: true }));
    return toolbar(language, view, this.titles, {
      select: (map) => this.select(map),
      compare: (map) => this.compare(map),
      swap: () => this.change({ map: view.other!, other: view.map }),
      toggleCompare: () => this.toggleCompare(),
      change: (parts) => this.change(parts),
      zoom: press,
    });
  }

  private renderMap(number: number, less: number | null, caption: unknown, label: string) {
    const { view } = this;
    const map = this.document.maps[number]!;
    const same = map.rows === this.map.rows && map.cols === this.map.cols;
    const cell = (at: Cell | null): Cell | null => (at && at.row < map.rows && at.col < map.cols ? at : null);
    const least = view.other === null || less !== null ? 0 : Math.max(0, ...Object.values(this.least));
    return html`<figure>
      ${caption ? html`<figcaption>${caption}</figcaption>` : nothing}
      <regard-heatmap
        class=${less === null ? (number === view.map ? "first" : "second") : "difference"}
        .document=${this.document} .bytes=${this.bytes} .source=${this.source} .map=${number} .other=${less}
        .window=${view.window && !same ? carry(view.window, this.map, map) : view.window}
        .cursor=${cell(view.cursor)} .pinned=${cell(view.pinned)} .reduce=${view.reduce} .colouring=${view.colouring}
        .language=${this.language} .least=${least} .label=${label}
        @regard-window=${(event: CustomEvent<{ window: Window }>) => this.moved(event.detail.window, map)}
        @regard-cursor=${(event: CustomEvent<CellDetail>) => this.change({ cursor: event.detail.cell })}
        @regard-pin=${(event: CustomEvent<CellDetail>) => this.pin(event.detail.cell)}
        @regard-tile=${(event: CustomEvent<TileDetail>) => this.tiled(event.detail)}
      ></regard-heatmap>
    </figure>`;
  }

  private moved(window: Window, from: AttentionMap): void {
    const own = carry(window, from, this.map);
    const all = whole(this.map);
    const everything = own.r0 <= 0 && own.c0 <= 0 && own.r1 >= all.r1 && own.c1 >= all.c1;
    this.change({ window: everything ? null : own });
  }

  private tiled({ map, largest, every }: TileDetail): void {
    if (this.least[map] !== largest) this.least = { ...this.least, [map]: largest };
    if (map === this.view.map) this.every = every;
  }

  private renderMaps() {
    const { view, language } = this;
    const mapLabel = (number: number): string => {
      const { rows, cols } = this.document.maps[number]!;
      return say(language, "mapLabel", { head: this.headTitle(number), rows: grouped(rows, language), cols: grouped(cols, language) });
    };
    if (view.other === null) return html`<div class="maps">${this.renderMap(view.map, null, nothing, mapLabel(view.map))}</div>`;
    const a = this.map;
    const b = this.document.maps[view.other]!;
    const size = ({ rows, cols }: AttentionMap): string => `${grouped(rows, language)} × ${grouped(cols, language)}`;
    const same = a.rows === b.rows && a.cols === b.cols;
    const names = { a: this.headTitle(view.map), b: this.headTitle(view.other) };
    return html`<div class="maps ${same ? "three" : "two"}">
        ${this.renderMap(view.map, null, html`<b>A</b> ${names.a}`, mapLabel(view.map))}
        ${this.renderMap(view.other, null, html`<b>B</b> ${names.b}`, mapLabel(view.other))}
        ${same ? this.renderMap(view.map, view.other, html`<b>A − B</b>`, say(language, "differenceLabel", names)) : nothing}
      </div>
      ${same ? nothing : html`<p class="small">${say(language, "noDifference", { a: size(a), b: size(b) })}</p>`}`;
  }

  private renderView() {
    const { language, map, view } = this;
    const title = this.headTitle(view.map);
    const kind = kindSentence(language, this.document, map);
    return html`<section class="panel view" aria-labelledby="view-title">
      <div class="title">
        <h2 id="view-title" title=${this.document.layers[map.layer]?.name ?? ""}>${title}</h2>
        <dl class="stats">
          ${statLines(language, { ...map, stats: tellingStats(this.document, map) }).map(({ name, value }) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
        </dl>
      </div>
      ${this.renderBar()} ${this.renderMaps()}
      <p class="said" role="status" aria-live="polite">${this.telling.said}</p>
      <p class="small one" title=${kind}>${this.every > 1 ? say(language, this.document.live ? "sampled" : "sampledPage", { every: grouped(this.every, language) }) : kind}</p>
      <p class="hidden">${summary(language, this.document, map, title)}</p>
    </section>`;
  }

  private renderSide() {
    const { backdrop } = this.document;
    const { map, view } = this;
    const { cell, look } = this.telling;
    const weights = look && look.values.length === map.cols ? look.values : null;
    return html`<section class="panel side" aria-label=${say(this.language, "token")}>
      ${backdrop
        ? html`<regard-overlay .backdrop=${backdrop} .weights=${weights} .language=${this.language}></regard-overlay>`
        : nothing}
      <regard-tokens .document=${this.document} .source=${this.source} .map=${view.map} .cell=${cell}
        .pinned=${view.pinned !== null} .language=${this.language}
        @regard-pick=${(event: CustomEvent<{ cell: Cell }>) => this.pick(event.detail.cell)}></regard-tokens>
    </section>`;
  }

  private pick(cell: Cell): void {
    const window = this.view.window ? reveal(this.view.window, this.map, cell) : null;
    this.change({ cursor: cell, pinned: this.view.pinned ? cell : null, window });
  }

  override render() {
    const { view } = this;
    if (this.document.maps.length === 0) return html`${this.renderTop()}`;
    const alone = this.document.maps.length === 1;
    return html`
      ${this.renderTop()}
      <main class=${alone ? "alone" : ""}>
        ${alone
          ? nothing
          : html`<regard-heads class="panel" .document=${this.document} .source=${this.source} .selected=${view.map} .other=${view.other}
              .sort=${view.sort} .reduce=${view.reduce} .colouring=${view.colouring} .language=${this.language}
              @regard-sort=${(event: CustomEvent<{ sort: Sort }>) => this.change({ sort: event.detail.sort })}
              @regard-head=${(event: CustomEvent<{ map: number; compare: boolean }>) =>
                event.detail.compare ? this.compare(event.detail.map) : this.select(event.detail.map)}></regard-heads>`}
        ${this.renderView()} ${this.renderSide()}
      </main>
      <regard-help .language=${this.language}></regard-help>
    `;
  }
}
