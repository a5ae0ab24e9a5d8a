// <regard-heads>: every head as a small picture, in a list to choose from.
import { html, LitElement, type PropertyValues } from "lit";
import { customElement, property, query } from "lit/decorators.js";
import { guard } from "lit/directives/guard.js";
import { repeat } from "lit/directives/repeat.js";
import { weightText, type Colouring } from "./colour";
import type { Language, Reduce, ViewDocument } from "./document";
import { style } from "./heads.css";
import { headName, layerNames, SORTS, sortMaps, type Sort } from "./order";
import { Sheet } from "./sheet";
import type { Source } from "./source";
import { say } from "./texts";
import { styled } from "./styled";
import { theme } from "./theme";
import { fitPictures } from "./thumbnails";
import { titlesOf } from "./titles";

const GAP = 4;
const LOW = 190;
/** Pixels of a letter below a picture, and of a name at most. */
const LETTER = 6;
const LONG = 72;
/** Room for a layer's name beside its heads. */
const BESIDE = 22;

/** A head, or the name of the layer whose heads follow. */
type Item = { readonly kind: "head"; readonly map: number; readonly place: number } | { readonly kind: "layer"; readonly layer: number };

@customElement("regard-heads")
export class RegardHeads extends LitElement {
  static override styles = [theme, style];

  @property({ attribute: false }) document!: ViewDocument;
  @property({ attribute: false }) source!: Source;
  @property({ type: Number }) selected = 0;
  @property({ attribute: false }) other: number | null = null;
  @property() sort: Sort = "layer";
  @property() reduce: Reduce = "mass";
  @property() colouring: Colouring = "linear";
  @property() language: Language = "en";
  @query(".list") private list!: HTMLElement;
  @query("canvas") private canvas!: HTMLCanvasElement;

  private names: string[] = [];
  private titles: string[] = [];
  private order: number[] = [];
  private beside = false;
  private across = 1;
  private size = 48;
  private sheet: Sheet | null = null;
  private readonly sizes = new ResizeObserver(() => this.measure());

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.sizes.disconnect();
    this.sheet?.stop();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) this.sizes.observe(this);
  }

  override firstUpdated(): void {
    this.sheet = new Sheet(this.canvas, () => (this.dataset["ready"] = "true"));
    this.sizes.observe(this);
    this.measure();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("document") || changed.has("language")) {
      this.names = layerNames(this.document.layers, this.language);
      this.titles = titlesOf(this.language, this.document);
    }
    if (changed.has("document") || changed.has("sort")) this.order = sortMaps(this.document.maps, this.sort);
  }

  protected override updated(changed: PropertyValues<this>): void {
    this.mark();
    if (changed.has("selected") || changed.has("sort")) this.reveal();
    if (changed.has("document") || changed.has("sort")) this.dataset["order"] = this.order.join(",");
    this.dataset["selected"] = String(this.selected);
    this.dataset["sort"] = this.sort;
    if (changed.has("sort")) this.measure();
    if (changed.size === 0 || [...changed.keys()].some((name) => name !== "selected" && name !== "other")) this.paint();
  }

  /** Show which heads are chosen. By hand: to write a thousand heads anew for two of them takes too long. */
  private mark(): void {
    for (const marked of this.list.querySelectorAll('[aria-selected="true"], .other')) {
      marked.setAttribute("aria-selected", "false");
      marked.classList.remove("other");
    }
    this.option(this.selected)?.setAttribute("aria-selected", "true");
    if (this.other !== null) this.option(this.other)?.classList.add("other");
  }

  private option(map: number): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>(`#head-${map}`);
  }

  /** Pictures are as large as the list's width and height allow; short names of layers stand beside their heads. */
  private measure(): void {
    const width = this.list.clientWidth - 14;
    if (width <= 0) return;
    const layered = this.sort === "layer";
    const beside = layered && this.names.every((name) => name.length <= 3);
    const counts = new Map<number, number>();
    for (const { layer } of this.document.maps) counts.set(layer, (counts.get(layer) ?? 0) + 1);
    // A sorted picture has its name below it.
    const longest = Math.max(...this.document.maps.map((map) => headName(map, this.names).length));
    const named = Math.min(LONG, Math.max(42, longest * LETTER));
    const fit = fitPictures(layered ? [...counts.values()] : [this.document.maps.length], {
      width: beside ? width - BESIDE - GAP : width,
      // On a narrow page the list is as high as its pictures; they are then to fit into this much.
      height: Math.max(LOW, this.list.clientHeight) - 12,
      extra: layered ? (beside ? 0 : 22) : 28,
      smallest: layered ? 18 : named,
      scrolling: layered ? 28 : named + 2,
    });
    this.style.setProperty("--thumb", `${fit.size}px`);
    this.style.setProperty("--columns", `${beside ? `${BESIDE}px ` : ""}repeat(${fit.across}, minmax(0, ${fit.size}px))`);
    if (beside === this.beside && fit.across === this.across && fit.size === this.size) return;
    this.beside = beside;
    this.across = fit.across;
    this.size = fit.size;
    this.requestUpdate();
  }

  private reveal(): void {
    const option = this.option(this.selected);
    if (!option) return;
    const top = option.offsetTop;
    const bottom = top + option.offsetHeight;
    if (top < this.list.scrollTop) this.list.scrollTop = top - 8;
    else if (bottom > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = bottom - this.list.clientHeight + 8;
  }

  private paint(): void {
    const { document, source, reduce, colouring, size } = this;
    const options = [...this.list.querySelectorAll<HTMLElement>("[role=option]")];
    const places = options.map((option) => ({ map: Number(option.dataset["map"]), x: option.offsetLeft, y: option.offsetTop }));
    const height = places.reduce((lowest, { y }) => Math.max(lowest, y + size), 0);
    delete this.dataset["ready"];
    this.sheet?.paint({ document, source, reduce, colouring, size, places, width: this.list.clientWidth, height }, () => this.list.scrollTop);
  }

  private choose(map: number, compare: boolean): void {
    this.dispatchEvent(new CustomEvent("regard-head", { detail: { map, compare }, bubbles: true, composed: true }));
  }

  private readonly clicked = (event: MouseEvent): void => {
    const option = (event.target as HTMLElement).closest<HTMLElement>("[data-map]");
    if (option) this.choose(Number(option.dataset["map"]), event.shiftKey);
  };

  private readonly key = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = this.order.indexOf(this.selected);
    const last = this.order.length - 1;
    const target: Record<string, () => number> = {
      ArrowLeft: () => at - 1,
      ArrowRight: () => at + 1,
      ArrowUp: () => this.nextLine(at, -1),
      ArrowDown: () => this.nextLine(at, 1),
      Home: () => 0,
      End: () => last,
    };
    const go = Object.hasOwn(target, event.key) ? target[event.key] : undefined;
    if (!go) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(this.order[Math.min(last, Math.max(0, go()))]!, false);
  };

  /** The head above or below: the nearest one of the next line. */
  private nextLine(at: number, step: 1 | -1): number {
    const options = [...this.list.querySelectorAll<HTMLElement>("[role=option]")];
    const here = options[at];
    if (!here) return at;
    let best = at;
    for (let other = at + step; other >= 0 && other < options.length; other += step) {
      const there = options[other]!;
      if (there.offsetTop === here.offsetTop) continue;
      if (best !== at && there.offsetTop !== options[best]!.offsetTop) break;
      const nearer = Math.abs(there.offsetLeft - here.offsetLeft) < Math.abs(options[best]!.offsetLeft - here.offsetLeft);
      if (best === at || nearer) best = other;
    }
    return best;
  }

  private items(): Item[] {
    if (this.sort !== "layer") return this.order.map((map, place) => ({ kind: "head", map, place }));
    const items: Item[] = [];
    let last: number | null = null;
    let place = 0;
    for (const map of this.order) {
      const { layer } = this.document.maps[map]!;
      place = layer === last ? place + 1 : 0;
      if (layer !== last) items.push({ kind: "layer", layer });
      last = layer;
      items.push({ kind: "head", map, place });
    }
    return items;
  }

  private renderItem(item: Item) {
    if (item.kind === "layer") {
      const { name, model } = this.document.layers[item.layer] ?? { name: "", model: "" };
      const title = `${model} ${name}`.trim();
      return html`<span class="layer" aria-hidden="true" title=${title}>${this.names[item.layer] ?? item.layer}</span>`;
    }
    const map = this.document.maps[item.map]!;
    const value = this.sort === "layer" ? undefined : map.stats[this.sort];
    const figure = typeof value === "number" && Number.isFinite(value) ? weightText(value, 2) : "";
    const label = (this.titles[item.map] ?? "") + (figure ? `, ${figure}` : "");
    return html`<div
      class="head" role="option" id="head-${item.map}" data-map=${item.map}
      ${styled({ "grid-column": this.beside ? String((item.place % this.across) + 2) : "auto" })}
      aria-selected="false" aria-label=${label} title=${label}>
      <span class="picture"></span>
      ${this.sort === "layer" ? "" : html`<span class="name">${headName(map, this.names)}</span><span class="name">${figure}</span>`}
    </div>`;
  }

  private orderName(sort: Sort): string {
    return say(this.language, sort === "layer" && this.document.called ? "sort_given" : `sort_${sort}`);
  }

  override render() {
    const key = (item: Item): string => (item.kind === "head" ? `h${item.map}` : `l${item.layer}`);
    return html`
      <div class="top">
        <h2 id="heads-title">${this.document.called?.heads[this.language] ?? say(this.language, "heads")} <span class="muted">${this.document.maps.length}</span></h2>
        <label>${say(this.language, "sortBy")}
          <select .value=${this.sort} @change=${(event: Event) =>
            this.dispatchEvent(new CustomEvent("regard-sort", { detail: { sort: (event.target as HTMLSelectElement).value }, bubbles: true, composed: true }))}>
            ${SORTS.map((sort) => html`<option value=${sort} ?selected=${sort === this.sort}>${this.orderName(sort)}</option>`)}
          </select>
        </label>
      </div>
      <div class="list ${this.beside ? "beside" : ""}" role="listbox" tabindex="0" aria-labelledby="heads-title"
        aria-activedescendant="head-${this.selected}" @click=${this.clicked} @keydown=${this.key}>
        <canvas aria-hidden="true" width="1" height="1"></canvas>
        ${guard([this.document, this.sort, this.language, this.beside, this.across], () =>
          repeat(this.items(), key, (item) => this.renderItem(item)))}
      </div>
    `;
  }
}
