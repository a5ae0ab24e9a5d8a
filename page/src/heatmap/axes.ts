// What is written around and in a map: tokens along both axes, numbers in cells, thin strips, and the cross of the cursor.
import { cellText, colourOf, inkOn, type Scale } from "../colour";
import { indexIn, isExact, type Tile } from "../tile";
import { cellOf, labelStep, type Cell, type Window } from "../zoom";
import type { Box, Layout } from "./layout";

export const FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", "Microsoft YaHei", sans-serif';
const LINE = 15;

export interface Ink {
  readonly muted: string;
  readonly line: string;
  readonly accent: string;
  readonly accentText: string;
  readonly bar: string;
}

/** The page's colours, for a canvas. */
export function inkOf(element: Element): Ink {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(name).trim() || "#888";
  return { muted: of("--muted"), line: of("--line"), accent: of("--accent"), accentText: of("--accent-ink"), bar: of("--bar") };
}

/** A text that fits, cut with an ellipsis where it must be. Cuts between characters, never within one. */
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  const letters = [...text];
  let low = 0;
  let high = letters.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (context.measureText(`${letters.slice(0, middle).join("")}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? `${letters.slice(0, low).join("")}…` : "";
}

interface Labels {
  readonly name: (place: number) => string;
  /** Places whose label is shown whatever else is. */
  readonly marked: readonly number[];
}

export class Axes {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly layout: Layout,
    private readonly window: Window,
    private readonly ink: Ink,
  ) {}

  private x(col: number): number {
    const { plot } = this.layout;
    return plot.x + ((col - this.window.c0) / (this.window.c1 - this.window.c0)) * plot.width;
  }

  private y(row: number): number {
    const { plot } = this.layout;
    return plot.y + ((row - this.window.r0) / (this.window.r1 - this.window.r0)) * plot.height;
  }

  private get cellWidth(): number {
    return this.layout.plot.width / (this.window.c1 - this.window.c0);
  }

  private get cellHeight(): number {
    return this.layout.plot.height / (this.window.r1 - this.window.r0);
  }

  rowLabels({ name, marked }: Labels): void {
    const { context, ink, layout: { plot } } = this;
    const step = labelStep(this.cellHeight, LINE - 1);
    const room = plot.x - 8;
    context.font = `12px ${FONT}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const taken = marked.map((row) => this.y(row + 0.5));
    const { r0, r1 } = this.window;
    for (let row = Math.ceil((r0 - 0.5) / step) * step; row < r1; row += step) {
      const y = this.y(row + 0.5);
      if (row < 0 || y < plot.y || y > plot.y + plot.height || taken.some((other) => Math.abs(other - y) < LINE)) continue;
      context.fillStyle = ink.muted;
      context.fillText(fitted(context, name(row), room), plot.x - 6, y);
    }
    for (const row of marked) {
      const y = this.y(row + 0.5);
      if (y < plot.y - 1 || y > plot.y + plot.height + 1) continue;
      const text = fitted(context, name(row), room - 4);
      const width = context.measureText(text).width + 8;
      context.fillStyle = ink.accent;
      context.fillRect(plot.x - 2 - width, y - LINE / 2 - 1, width, LINE + 2);
      context.fillStyle = ink.accentText;
      context.fillText(text, plot.x - 6, y);
    }
  }

  colLabels({ name, marked }: Labels): void {
    const { context, ink, layout: { plot } } = this;
    context.font = `12px ${FONT}`;
    context.textBaseline = "middle";
    const { c0, c1 } = this.window;
    const flat = this.labelsLieFlat(name);
    const step = labelStep(this.cellWidth, flat ? 1 : LINE - 1);
    const room = flat ? this.cellWidth - 6 : plot.y - 8;
    const least = flat ? this.cellWidth * 0.6 : LINE;
    const taken = marked.map((col) => this.x(col + 0.5));
    const put = (col: number, chip: boolean): void => {
      const x = this.x(col + 0.5);
      if (x < plot.x - 1 || x > plot.x + plot.width + 1) return;
      context.save();
      context.translate(x, plot.y - 6);
      if (!flat) context.rotate(-Math.PI / 2);
      context.textAlign = flat ? "center" : "left";
      const text = fitted(context, name(col), chip && !flat ? room - 4 : room);
      if (chip) {
        const width = context.measureText(text).width + 8;
        context.fillStyle = ink.accent;
        context.fillRect(flat ? -width / 2 : -4, flat ? -LINE + 2 : -LINE / 2 - 1, width, LINE + 2);
      }
      context.fillStyle = chip ? ink.accentText : ink.muted;
      context.fillText(text, 0, flat ? -LINE / 2 + 3 : 0);
      context.restore();
    };
    for (let col = Math.ceil((c0 - 0.5) / step) * step; col < c1; col += step) {
      const x = this.x(col + 0.5);
      if (col >= 0 && !taken.some((other) => Math.abs(other - x) < least)) put(col, false);
    }
    for (const col of marked) put(col, true);
  }

  /** Labels of columns stand upright, and lie flat only where all in sight fit. */
  private labelsLieFlat(name: (place: number) => string): boolean {
    if (this.cellWidth < 16) return false;
    for (let col = Math.floor(this.window.c0); col < this.window.c1; col += 1) {
      if (this.context.measureText(name(col)).width > this.cellWidth - 6) return false;
    }
    return true;
  }

  /** What the axes are, in the corner between them. */
  corner(queries: string, keys: string): void {
    const { context, ink, layout: { plot } } = this;
    context.font = `11px ${FONT}`;
    context.fillStyle = ink.muted;
    context.textAlign = "right";
    context.textBaseline = "alphabetic";
    context.fillText(`${keys} →`, plot.x - 8, plot.y - 26);
    context.fillText(`${queries} ↓`, plot.x - 8, plot.y - 12);
  }

  /** Lines between cells, and their weights, where cells are large enough. An estimate is marked as one. */
  cells(tile: Tile, scale: Scale, isEmpty: (cell: Cell) => boolean): void {
    const { context, window, layout: { plot } } = this;
    if (!isExact(tile) || Math.min(this.cellWidth, this.cellHeight) < 10) return;
    context.save();
    context.beginPath();
    context.rect(plot.x, plot.y, plot.width, plot.height);
    context.clip();
    context.strokeStyle = "rgba(128, 128, 128, 0.28)";
    context.lineWidth = 1;
    context.beginPath();
    for (let row = Math.ceil(window.r0); row < window.r1; row += 1) {
      context.moveTo(plot.x, Math.round(this.y(row)) + 0.5);
      context.lineTo(plot.x + plot.width, Math.round(this.y(row)) + 0.5);
    }
    for (let col = Math.ceil(window.c0); col < window.c1; col += 1) {
      context.moveTo(Math.round(this.x(col)) + 0.5, plot.y);
      context.lineTo(Math.round(this.x(col)) + 0.5, plot.y + plot.height);
    }
    context.stroke();
    if (this.cellWidth >= 34 && this.cellHeight >= 16) this.numbers(tile, scale, isEmpty);
    context.restore();
  }

  private numbers(tile: Tile, scale: Scale, isEmpty: (cell: Cell) => boolean): void {
    const { context, window } = this;
    context.font = `${Math.min(14, Math.max(11, this.cellHeight * 0.32))}px ${FONT}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    const { decimals, short } = this.decimals(tile, scale);
    for (let row = Math.floor(window.r0); row < window.r1; row += 1) {
      for (let col = Math.floor(window.c0); col < window.c1; col += 1) {
        const at = indexIn(tile, row, col);
        if (at < 0 || isEmpty({ row, col })) continue;
        const value = tile.values[at]!;
        const known = !tile.known || tile.known[at] === 1;
        const text = (known ? "" : "≈") + cellText(value, decimals, short);
        context.fillStyle = inkOn(colourOf(scale, value));
        // A number that does not fit is left out: cut, it would be another number.
        if (context.measureText(text).width <= this.cellWidth - 4) context.fillText(text, this.x(col + 0.5), this.y(row + 0.5));
      }
    }
  }

  /** As many decimals as cells have room for: two to four. Where room is short the nought before the point goes. */
  private decimals(tile: Tile, scale: Scale): { decimals: number; short: boolean } {
    const before = (tile.known ? "≈" : "") + (scale.kind === "difference" ? "−" : "");
    for (let decimals = this.cellWidth >= 90 ? 4 : 3; decimals >= 2; decimals -= 1) {
      // More decimals than need be are not worth numbers that touch.
      const room = this.cellWidth - (decimals > 2 ? 12 : 4);
      if (this.context.measureText(`${before}0.${"0".repeat(decimals)}`).width <= room) return { decimals, short: false };
    }
    return { decimals: 2, short: true };
  }

  /** Bars beside the plot: one value a query, or a key; pooled where there are fewer values than places. */
  strip(box: Box, values: Float32Array, places: number, most: number, along: "rows" | "cols", title: string): void {
    const { context, ink, window, layout: { plot } } = this;
    const rows = along === "rows";
    const pixels = Math.round(rows ? box.height : box.width);
    const [from, to] = rows ? [window.r0, window.r1] : [window.c0, window.c1];
    const length = rows ? box.width : box.height;
    context.fillStyle = ink.bar;
    const value = (place: number): number => values[cellOf(Math.min(places - 1, Math.max(0, place)), places, values.length)]!;
    for (let pixel = 0; pixel < pixels; pixel += 1) {
      const low = Math.floor(from + (pixel / pixels) * (to - from));
      const high = Math.max(low + 1, Math.floor(from + ((pixel + 1) / pixels) * (to - from)));
      let largest = 0;
      const step = Math.max(1, Math.floor((high - low) / 64));
      for (let place = low; place < high; place += step) largest = Math.max(largest, value(place));
      const bar = most > 0 ? Math.max(largest > 0 ? 1 : 0, (largest / most) * length) : 0;
      if (rows) context.fillRect(box.x, box.y + pixel, bar, 1);
      else context.fillRect(box.x + pixel, box.y, 1, bar);
    }
    context.strokeStyle = ink.line;
    context.lineWidth = 1;
    context.beginPath();
    if (rows) {
      context.moveTo(box.x - 0.5, box.y);
      context.lineTo(box.x - 0.5, box.y + box.height);
    } else {
      context.moveTo(box.x, box.y - 0.5);
      context.lineTo(box.x + box.width, box.y - 0.5);
    }
    context.stroke();
    context.fillStyle = ink.muted;
    context.font = `11px ${FONT}`;
    context.textBaseline = "middle";
    if (rows) {
      context.textAlign = "left";
      context.fillText(title, box.x, plot.y - 8);
    } else {
      context.textAlign = "right";
      context.fillText(title, plot.x - 6, box.y + 8);
    }
  }

  /** The row and column of a cell, outlined so that they are seen on any colour. */
  cross({ row, col }: Cell, firm: boolean): void {
    const { context, ink, layout: { plot } } = this;
    context.save();
    context.beginPath();
    context.rect(plot.x - 1, plot.y - 1, plot.width + 2, plot.height + 2);
    context.clip();
    const thin = Math.min(this.cellWidth, this.cellHeight) < 5;
    const width = thin ? 1 : this.cellWidth;
    const height = thin ? 1 : this.cellHeight;
    const x = thin ? this.x(col + 0.5) - 0.5 : this.x(col);
    const y = thin ? this.y(row + 0.5) - 0.5 : this.y(row);
    const light = firm ? ink.accent : "rgba(255, 255, 255, 0.85)";
    for (const [style, thick] of [["rgba(0, 0, 0, 0.6)", firm ? 3.5 : 3], [light, firm ? 2 : 1]] as const) {
      context.strokeStyle = style;
      context.fillStyle = style;
      context.lineWidth = thick;
      if (thin) {
        context.fillRect(plot.x, y + 0.5 - thick / 2, plot.width, thick);
        context.fillRect(x + 0.5 - thick / 2, plot.y, thick, plot.height);
        continue;
      }
      context.strokeRect(plot.x - 4, y, plot.width + 8, height);
      context.strokeRect(x, plot.y - 4, width, plot.height + 8);
    }
    context.strokeStyle = "#fff";
    context.lineWidth = 2;
    if (!thin) context.strokeRect(x, y, width, height);
    context.restore();
  }

  frame(): void {
    const { context, ink, layout: { plot } } = this;
    context.strokeStyle = ink.line;
    context.lineWidth = 1;
    context.strokeRect(plot.x - 0.5, plot.y - 0.5, plot.width + 1, plot.height + 1);
  }
}
