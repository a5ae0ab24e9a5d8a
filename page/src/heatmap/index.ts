// <regard-heatmap>: one map, or the difference of two, on a canvas.
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { roundUp, type Colouring, type Scale } from "../colour";
import { numbers, tokenAt, type AttentionMap, type Language, type Reduce, type ViewDocument } from "../document";
import "../legend";
import type { Axis, Source } from "../source";
import { say } from "../texts";
import { theme } from "../theme";
import { indexIn, isExact } from "../tile";
import { around, cellAt, clamp, whole, zoomAt, type Cell, type Window } from "../zoom";
import { FONT, inkOf } from "./axes";
import { draw } from "./draw";
import { listen } from "./gestures";
import { pressed } from "./keys";
import { layoutOf, type Layout } from "./layout";
import { style } from "./style";
import { placeTip, tipOf } from "./tip";
import { Weights } from "./weights";

/** A tile has at most this many cells a side: what a server gives, and about what a screen shows. */
const MOST_CELLS = 512;
/** A double click shows about this many places. */
const CLOSE = 20;
/** So many labels are measured for the margins. */
const MEASURED = 400;

export interface CellDetail {
  readonly cell: Cell | null;
  readonly by: "pointer" | "key";
}

export interface TileDetail {
  readonly map: number;
  readonly largest: number;
  readonly every: number;
}

@customElement("regard-heatmap")
export class RegardHeatmap extends LitElement {
  static override styles = [theme, style];

  @property({ attribute: false }) document!: ViewDocument;
  @property({ attribute: false }) bytes!: ArrayBuffer;
  @property({ attribute: false }) source!: Source;
  @property({ type: Number }) map = 0;
  /** The map that is taken away from it; null: none. */
  @property({ attribute: false }) other: number | null = null;
  @property({ attribute: false }) window: Window | null = null;
  @property({ attribute: false }) cursor: Cell | null = null;
  @property({ attribute: false }) pinned: Cell | null = null;
  @property() reduce: Reduce = "mass";
  @property() colouring: Colouring = "linear";
  @property() language: Language = "en";
  /** What the colour bar must reach at least, so that maps side by side can be compared. */
  @property({ attribute: false }) least = 0;
  @property() label = "";
  /** Whether the cursor's numbers are shown beside it. */
  @state() private tipped = false;
  @query("canvas") private canvas!: HTMLCanvasElement;
  @query(".stage") private stage!: HTMLElement;
  @query(".tip") private tip!: HTMLElement | null;

  private readonly weights = new Weights((what) => this.arrived(what));
  private readonly sizes = new ResizeObserver(() => this.resized());
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");
  private box: Layout | null = null;
  private sized = false;
  private forget: (() => void) | null = null;
  private frame = 0;

  private get data(): AttentionMap {
    return this.document.maps[this.map]!;
  }

  /** The part in sight. */
  private get sight(): Window {
    return this.window ? clamp(this.window, this.data) : whole(this.data);
  }

  private get scale(): Scale {
    const { tile, rough } = this.weights;
    const largest = Math.max(this.least, (tile ?? rough)?.largest ?? 0);
    return { kind: this.other === null ? "weights" : "difference", colouring: this.colouring, max: roundUp(largest) };
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.dark.addEventListener("change", this.repaint);
    if (this.hasUpdated) this.sizes.observe(this.stage);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.dark.removeEventListener("change", this.repaint);
    this.sizes.disconnect();
    this.weights.stop();
  }

  override firstUpdated(): void {
    this.sizes.observe(this.stage);
    const cell = (x: number, y: number): Cell | null => cellAt(this.sight, this.data, x, y);
    this.forget?.();
    this.forget = listen(this.canvas, () => this.plotBox(), {
      point: (x, y) => this.point(cell(x, y), "pointer"),
      leave: () => this.cursor && this.point(null, "pointer"),
      move: (dx, dy) => {
        const { r0, r1, c0, c1 } = this.sight;
        const [down, across] = [dy * (r1 - r0), dx * (c1 - c0)];
        this.show(clamp({ r0: r0 + down, r1: r1 + down, c0: c0 + across, c1: c1 + across }, this.data));
      },
      zoom: (factor, x, y) => {
        const changed = this.show(zoomAt(this.sight, this.data, factor, x, y));
        // At an edge the map gives way below the pointer.
        if (changed) this.point(cell(x, y), "pointer");
        return changed;
      },
      click: (x, y) => this.tell("regard-pin", { cell: cell(x, y), by: "pointer" }),
      doubleClick: (x, y) => {
        const close = cell(x, y);
        if (close) this.show(around(close, this.data, CLOSE));
      },
    });
  }

  private tell(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  private arrived(what: "tile" | "reading"): void {
    const { tile } = this.weights;
    if (what === "tile" && tile && this.other === null) {
      this.tell("regard-tile", { map: this.map, largest: tile.largest, every: tile.every } satisfies TileDetail);
    }
    this.requestUpdate();
  }

  private plotBox(): DOMRect {
    const stage = this.stage.getBoundingClientRect();
    const { plot } = this.layout();
    return new DOMRect(stage.x + plot.x, stage.y + plot.y, plot.width, plot.height);
  }

  private point(cell: Cell | null, by: CellDetail["by"]): void {
    this.tipped = cell !== null;
    const same = cell && this.cursor && cell.row === this.cursor.row && cell.col === this.cursor.col;
    if (!same) this.tell("regard-cursor", { cell, by } satisfies CellDetail);
  }

  /** Ask to show a part; says whether it is another one. */
  private show(window: Window): boolean {
    const now = this.sight;
    if ((["r0", "r1", "c0", "c1"] as const).every((side) => Math.abs(window[side] - now[side]) < 1e-6)) return false;
    // At once, so that the next event of the same frame goes on from here.
    this.window = window;
    this.tell("regard-window", { window });
    return true;
  }

  /** Do what a key asks for. */
  readonly press = (event: KeyboardEvent): void => {
    if (event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (this.cursor) this.tell("regard-pin", { cell: this.cursor, by: "key" } satisfies CellDetail);
      return;
    }
    const { tile } = this.weights;
    const rows = tile ? Math.max(1, Math.round((tile.window.r1 - tile.window.r0) / tile.rows)) : 1;
    const cols = tile ? Math.max(1, Math.round((tile.window.c1 - tile.window.c0) / tile.cols)) : 1;
    const next = pressed(event, { window: this.sight, cursor: this.cursor }, this.data, { rows, cols });
    if (!next) return;
    event.preventDefault();
    this.show(next.window);
    if (next.cursor) this.point(next.cursor, "key");
  };

  private resized(): void {
    this.sized = true;
    this.box = null;
    this.load();
    this.repaint();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("map") || changed.has("other") || changed.has("reduce") || changed.has("source")) {
      this.weights.reset({ source: this.source, map: this.map, other: this.other });
      this.box = null;
    }
    if (changed.has("language")) this.box = null;
    if (changed.has("cursor") && this.cursor === null) this.tipped = false;
  }

  protected override updated(changed: PropertyValues): void {
    const weights = ["map", "other", "reduce", "source"].some((name) => changed.has(name));
    if (weights || changed.has("window")) this.load();
    if (weights || changed.has("cursor")) this.weights.readAt(this.cursor);
    this.repaint();
    if (this.tip && this.cursor) placeTip(this.tip, this.stage, this.layout().plot, this.sight, this.cursor);
    this.hooks();
  }

  /** What tests, and anybody who looks, can read of a map without its pixels. */
  private hooks(): void {
    const { r0, r1, c0, c1 } = this.sight;
    const { here, tile } = this.weights;
    const hooks: Record<string, string> = {
      map: String(this.map),
      other: this.other === null ? "" : String(this.other),
      zoom: [r0, r1, c0, c1].join(","),
      row: this.cursor ? String(this.cursor.row) : "",
      col: this.cursor ? String(this.cursor.col) : "",
      weight: here === null ? "" : String(here),
      known: this.cursor ? (here === null ? "pooled" : "exact") : "",
      pin: this.pinned ? `${this.pinned.row},${this.pinned.col}` : "",
      cells: tile ? (isExact(tile) ? "exact" : "pooled") : "",
      max: String(this.scale.max),
      ready: String(tile !== null),
    };
    for (const [name, value] of Object.entries(hooks)) if (this.dataset[name] !== value) this.dataset[name] = value;
  }

  private load(): void {
    // Not before the page has its final layout: a server should not be asked for a tile of another size.
    if (!this.sized || this.stage.clientWidth === 0) return;
    const { plot } = this.layout();
    const cells = Math.max(8, Math.min(MOST_CELLS, Math.floor(Math.min(plot.width, plot.height) * Math.max(1, devicePixelRatio))));
    this.weights.load(this.sight, cells, this.reduce);
  }

  private name(axis: Axis, place: number): string {
    return tokenAt(this.document, axis === "row" ? this.data.row_tokens : this.data.col_tokens, place);
  }

  /** Room for the longest label of some hundreds: a margin that does not move while one zooms. */
  private labelRoom(axis: Axis): number {
    const context = this.canvas.getContext("2d")!;
    context.font = `12px ${FONT}`;
    const places = axis === "row" ? this.data.rows : this.data.cols;
    const step = Math.max(1, Math.floor(places / MEASURED));
    let longest = context.measureText(this.name(axis, places - 1).slice(0, 40)).width;
    for (let place = 0; place < places; place += step) {
      longest = Math.max(longest, context.measureText(this.name(axis, place).slice(0, 40)).width);
    }
    return Math.min(130, Math.max(axis === "row" ? 66 : 44, longest + 18));
  }

  private layout(): Layout {
    this.box ??= layoutOf({
      width: this.stage.clientWidth,
      height: this.stage.clientHeight,
      rows: this.data.rows,
      cols: this.data.cols,
      rowLabel: this.labelRoom("row"),
      colLabel: this.labelRoom("col"),
      strips: this.data.entropy !== null && this.data.received !== null,
    });
    return this.box;
  }

  private readonly repaint = (): void => {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  };

  private paint(): void {
    const context = this.isConnected ? this.canvas?.getContext("2d") : null;
    if (!context || this.stage.clientWidth === 0) return;
    const layout = this.layout();
    const { rough, tile } = this.weights;
    const difference = this.other !== null;
    draw(this.canvas, context, {
      layout,
      width: this.stage.clientWidth,
      height: this.stage.clientHeight,
      window: this.sight,
      tiles: this.document.live && tile ? [rough, tile] : [tile ?? rough],
      scale: this.scale,
      map: this.data,
      ink: inkOf(this),
      cursor: this.cursor,
      pinned: this.pinned,
      entropy: this.data.entropy && !difference ? numbers(this.bytes, this.data.entropy) : null,
      received: this.data.received && !difference ? numbers(this.bytes, this.data.received) : null,
      name: (axis, place) => this.name(axis, place),
      say: (key) => say(this.language, key),
    });
    const { x, y, width, height } = layout.plot;
    this.dataset["plot"] = [x, y, width, height].join(",");
    this.dataset["painted"] = tile ? "true" : "rough";
  }

  private renderTip() {
    const { cursor } = this;
    if (!cursor || !this.tipped) return nothing;
    const { tile, read, here } = this.weights;
    const at = tile ? indexIn(tile, cursor.row, cursor.col) : -1;
    const cell = at >= 0 ? tile!.values[at]! : null;
    const known = { difference: this.other !== null, read, weight: here, cell };
    return tipOf(this.language, this.name("row", cursor.row), this.name("col", cursor.col), known);
  }

  private legendName(): string {
    const { tile } = this.weights;
    if (this.other !== null) return say(this.language, "legendDifference");
    if (!tile || isExact(tile)) return say(this.language, "legendWeights");
    return say(this.language, this.reduce === "mass" ? "legendMass" : "legendMax");
  }

  override render() {
    const { failure } = this.weights;
    return html`
      <div class="stage" tabindex="0" role="application" aria-label=${this.label} @keydown=${this.press} @blur=${() => (this.tipped = false)}>
        <canvas aria-hidden="true"></canvas>
        ${this.renderTip()}
      </div>
      <regard-legend .scale=${this.scale} .label=${this.legendName()}></regard-legend>
      ${failure === null ? nothing : html`<p class="failure" role="status">${say(this.language, "unreachable", { why: failure })}</p>`}
    `;
  }
}
