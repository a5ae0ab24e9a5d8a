// A tile: the weights of a rectangle of a map, in at most `cells` x `cells` cells.
import type { Reduce } from "./document";
import { cellOf, cellStart, whole, type Size, type Window } from "./zoom";

export interface Tile {
  /** The whole places it covers. */
  readonly window: Window;
  readonly rows: number;
  readonly cols: number;
  readonly values: Float32Array;
  /** 1 where a value is known, 0 where it is estimated from pooled numbers; null: all are known. */
  readonly known: Uint8Array | null;
  /** 1: every query was read; s: every s-th only. */
  readonly every: number;
  /** Its largest absolute value. */
  readonly largest: number;
}

export interface Line {
  /** One value for each cell of the run of places. */
  readonly values: Float32Array;
  readonly known: Uint8Array | null;
  /** How many places the run has: cells are pooled (largest weight) where they are fewer. */
  readonly places: number;
  readonly every: number;
  /** Its largest known weights, largest first. */
  readonly peaks: readonly Peak[];
}

export interface Peak {
  readonly at: number;
  readonly weight: number;
}

/** How many of a line's largest weights are listed. */
export const PEAKS = 10;

export function largestOf(values: Float32Array): number {
  let largest = 0;
  for (const value of values) {
    const size = Math.abs(value);
    if (size > largest) largest = size;
  }
  return largest;
}

/** Whether each cell of a tile is one query and one key, each read. */
export function isExact({ window, rows, cols, every }: Tile): boolean {
  return every === 1 && rows === window.r1 - window.r0 && cols === window.c1 - window.c0;
}

/** The cell of a tile that holds a place, as an index into its values; -1 outside. */
export function indexIn({ window, rows, cols }: Tile, row: number, col: number): number {
  const { r0, r1, c0, c1 } = window;
  if (!(row >= r0 && row < r1 && col >= c0 && col < c1)) return -1;
  return cellOf(row - r0, r1 - r0, rows) * cols + cellOf(col - c0, c1 - c0, cols);
}

/** A part of an exact tile; null where the tile is not exact or does not reach. */
export function crop(tile: Tile, window: Window): Tile | null {
  const { r0, r1, c0, c1 } = tile.window;
  if (!isExact(tile) || window.r0 < r0 || window.r1 > r1 || window.c0 < c0 || window.c1 > c1) return null;
  const rows = window.r1 - window.r0;
  const cols = window.c1 - window.c0;
  const values = new Float32Array(rows * cols);
  for (let row = 0; row < rows; row += 1) {
    const from = (window.r0 - r0 + row) * tile.cols + window.c0 - c0;
    values.set(tile.values.subarray(from, from + cols), row * cols);
  }
  return { ...tile, window, rows, cols, values, largest: largestOf(values) };
}

/** For each place of a run, the cell it falls in. */
export function cellsOf(places: number, cells: number): Int32Array {
  return Int32Array.from({ length: places }, (_, at) => cellOf(at, places, cells));
}

/** The places where cells begin, and the end: `cells + 1` numbers. */
export function edgesOf(places: number, cells: number): Int32Array {
  return Int32Array.from({ length: cells + 1 }, (_, cell) => cellStart(cell, places, cells));
}

/** How many cells, at most `cells`, `places` are pooled to so that each holds as many as the others: uneven ones make stripes. */
export function evenCells(places: number, cells: number): number {
  return Math.ceil(places / Math.ceil(places / cells));
}

/** Pool a rectangle of an exact map. mass: of the average query of a cell, how much goes to its keys; max: its largest weight. */
export function poolExact(values: Float32Array, width: number, window: Window, cells: number, reduce: Reduce): Tile {
  const height = window.r1 - window.r0;
  const across = window.c1 - window.c0;
  const rows = evenCells(height, cells);
  const cols = evenCells(across, cells);
  const out = new Float32Array(rows * cols);
  const rowCell = cellsOf(height, rows);
  const colCell = cellsOf(across, cols);
  for (let row = 0; row < height; row += 1) {
    const to = rowCell[row]! * cols;
    const from = (window.r0 + row) * width + window.c0;
    for (let col = 0; col < across; col += 1) {
      const value = values[from + col]!;
      const at = to + colCell[col]!;
      if (reduce === "mass") out[at]! += value;
      else if (value > out[at]!) out[at] = value;
    }
  }
  if (reduce === "mass" && rows < height) {
    const edges = edgesOf(height, rows);
    for (let row = 0; row < rows; row += 1) {
      const count = edges[row + 1]! - edges[row]!;
      for (let at = row * cols; at < (row + 1) * cols; at += 1) out[at]! /= count;
    }
  }
  return { window, rows, cols, values: out, known: null, every: 1, largest: largestOf(out) };
}

/** Pool a whole grid further. Exact weights and masses are added over keys and averaged over queries; largest weights stay the largest. */
export function poolGrid(values: Float32Array, { rows, cols }: Size, cells: number, reduce: Reduce): Tile {
  return poolExact(values, cols, whole({ rows, cols }), cells, reduce);
}

/** A minus B, of tiles of the same window and cells; null where they cannot be laid over each other. */
export function subtract(a: Tile, b: Tile): Tile | null {
  if (a.rows !== b.rows || a.cols !== b.cols) return null;
  const values = a.values.map((value, at) => value - b.values[at]!);
  const known = a.known || b.known ? values.map((_, at) => (a.known?.[at] ?? 1) & (b.known?.[at] ?? 1)) : null;
  const every = Math.max(a.every, b.every);
  return { ...a, values, known: known ? Uint8Array.from(known) : null, every, largest: largestOf(values) };
}

/** A line whose cells are its places. */
export function lineOf(values: Float32Array, known: Uint8Array | null, every: number): Line {
  const certain = known ? values.map((value, at) => (known[at] ? value : 0)) : values;
  const peaks = largestPlaces(certain, PEAKS).map((at) => ({ at, weight: values[at]! }));
  return { values, known, places: values.length, every, peaks };
}

/** The places of the `count` largest values, largest first. */
export function largestPlaces(values: ArrayLike<number>, count: number): number[] {
  const best: number[] = [];
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at]!;
    if (!(value > 0) || (best.length === count && !(value > values[best[count - 1]!]!))) continue;
    let place = best.length;
    while (place > 0 && values[best[place - 1]!]! < value) place -= 1;
    best.splice(place, 0, at);
    if (best.length > count) best.pop();
  }
  return best;
}
