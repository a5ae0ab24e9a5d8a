// Weights from the server that made the page: tiles are worked out there, for any number of tokens.
import type { Reduce, ViewDocument } from "./document";
import { Embedded, Recent, type Axis, type Reading, type Soon, type Source } from "./source";
import { crop, evenCells, isExact, largestOf, largestPlaces, lineOf, PEAKS, type Line, type Peak, type Tile } from "./tile";
import { cellStart, outward, type Size, type Window } from "./zoom";

const MAGIC = 0x31544752; // "RGT1"
const HEADER = 16;
/** The most the server gives of a side, and of a line. */
const TILE_CELLS = 512;
const LINE_CELLS = 16384;
const STEP = 64;
const KEPT = 48;
const EXACT = 4;

export interface Answer {
  readonly rows: number;
  readonly cols: number;
  readonly every: number;
  readonly values: Float32Array;
}

/** Read an answer of the server: a mark, rows, columns, every, then the values. */
export function parseAnswer(body: ArrayBuffer): Answer {
  const view = new DataView(body);
  if (body.byteLength < HEADER || view.getInt32(0, true) !== MAGIC) throw new Error("The answer is not a tile.");
  const [rows, cols, every] = [4, 8, 12].map((at) => view.getInt32(at, true)) as [number, number, number];
  if (rows < 1 || cols < 1 || body.byteLength !== HEADER + rows * cols * 4) throw new Error("The tile is torn.");
  return { rows, cols, every, values: new Float32Array(body, HEADER) };
}

/** A stretch a little larger than wanted, on a coarse raster: a small move then asks for the same tile again. */
function snap(low: number, high: number, size: number): [number, number] {
  const raster = 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, high - low))) - 2);
  return [Math.max(0, Math.floor(low / raster) * raster), Math.min(size, Math.ceil(high / raster) * raster)];
}

export function snapped(window: Window, size: Size): Window {
  const { r0, r1, c0, c1 } = outward(window, size);
  const [top, bottom] = snap(r0, r1, size.rows);
  const [left, right] = snap(c0, c1, size.cols);
  return { r0: top, r1: bottom, c0: left, c1: right };
}

export class Live implements Source {
  private readonly kept = new Recent<string, Promise<Answer>>(KEPT);
  private readonly exact = new Recent<number, Tile>(EXACT);
  private readonly embedded: Embedded;

  constructor(
    private readonly document: ViewDocument,
    bytes: ArrayBuffer,
    private readonly live: { readonly tile: string; readonly line: string },
  ) {
    this.embedded = new Embedded(document, bytes);
  }

  private get(path: string, query: Record<string, string | number>): Promise<Answer> {
    const pairs = Object.entries(query).map(([name, value]) => `${name}=${value}`);
    const address = `${path}?${pairs.join("&")}`;
    const kept = this.kept.get(address);
    if (kept) return kept;
    const answer = fetch(address, { credentials: "same-origin" }).then(async (response) => {
      if (!response.ok) throw new Error((await response.text()).trim() || String(response.status));
      return parseAnswer(await response.arrayBuffer());
    });
    // A failure is not kept: the next look asks again.
    answer.catch(() => this.kept.drop(address));
    return this.kept.set(address, answer);
  }

  preview(map: number, window: Window, cells: number, reduce: Reduce): Tile {
    return this.embedded.preview(map, window, cells, reduce);
  }

  thumbnail(map: number, cells: number, reduce: Reduce): Tile {
    return this.embedded.thumbnail(map, cells, reduce);
  }

  tile(map: number, window: Window, cells: number, reduce: Reduce): Soon<Tile> {
    const size = this.document.maps[map]!;
    const close = this.close(map, outward(window, size));
    if (close) return close;
    const places = snapped(window, size);
    const longest = Math.max(places.r1 - places.r0, places.c1 - places.c0);
    // In steps: a window a little smaller asks for the same tile.
    const most = Math.max(STEP, Math.floor(Math.min(TILE_CELLS, cells) / STEP) * STEP);
    return this.rectangle(map, places, evenCells(longest, most), reduce);
  }

  /** What the last exact tile of a map already tells. */
  private close(map: number, window: Window): Tile | null {
    const tile = this.exact.get(map);
    return tile ? crop(tile, window) : null;
  }

  private async rectangle(map: number, window: Window, cells: number, reduce: Reduce): Promise<Tile> {
    const { r0, r1, c0, c1 } = window;
    const answer = await this.get(this.live.tile, { map, r0, r1, c0, c1, cells, reduce });
    const tile = { window, known: null, largest: largestOf(answer.values), ...answer };
    if (isExact(tile) && tile.values.length > 1) this.exact.set(map, tile);
    return tile;
  }

  async line(map: number, axis: Axis, at: number): Promise<Line> {
    const { rows, cols } = this.document.maps[map]!;
    const places = axis === "row" ? cols : rows;
    const { values, every } = await this.get(this.live.line, { map, axis, at, cells: Math.min(places, LINE_CELLS) });
    if (values.length === places) return lineOf(values, null, every);
    const cells = largestPlaces(values, PEAKS);
    const peaks = await Promise.all(cells.map((cell) => this.peak(map, axis, at, cell, values.length, places)));
    return { values, known: null, places, every, peaks: peaks.sort((a, b) => b.weight - a.weight) };
  }

  /** The place of the largest weight of a cell of a pooled line. */
  private async peak(map: number, axis: Axis, at: number, cell: number, cells: number, places: number): Promise<Peak> {
    const from = cellStart(cell, places, cells);
    const to = cellStart(cell + 1, places, cells);
    const window = axis === "row" ? { r0: at, r1: at + 1, c0: from, c1: to } : { r0: from, r1: to, c0: at, c1: at + 1 };
    const { values } = await this.rectangle(map, window, TILE_CELLS, "max");
    const best = largestPlaces(values, 1)[0] ?? 0;
    return { at: from + best, weight: values[best]! };
  }

  reading(map: number, row: number, col: number): Soon<Reading> {
    const window = { r0: row, r1: row + 1, c0: col, c1: col + 1 };
    const close = this.close(map, window);
    const read = ({ values }: Tile): Reading => ({ weight: values[0]!, pooled: null });
    return close ? read(close) : this.rectangle(map, window, 1, "max").then(read);
  }
}

/** The source a document asks for. */
export function sourceOf(document: ViewDocument, bytes: ArrayBuffer): Source {
  return document.live ? new Live(document, bytes, document.live) : new Embedded(document, bytes);
}
