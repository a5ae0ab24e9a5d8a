// A map of which the page holds only pooled grids, and the largest weights of every query.
// Tiles are put together from both: known weights stand where they belong, what is left of a pooled cell's mass is spread
// evenly over its other keys and marked as estimated.
import { gridValues, topWeights, type AttentionMap, type Grid, type Reduce, type TopWeights } from "./document";
import { cellsOf, edgesOf, evenCells, largestOf, lineOf, type Line, type Tile } from "./tile";
import { cellOf, type Window } from "./zoom";

export class PooledMap {
  readonly every: number;
  readonly top: TopWeights | null;
  private readonly rows: number;
  private readonly cols: number;
  /** What a pooled cell holds beyond the known weights, a key: over all its keys, and over those that are not known. */
  private readonly spread: Float32Array;
  private readonly density: Float32Array;
  private readonly largest: Float32Array | null;
  /** Between two neighbouring values of the grid of largest weights. */
  private readonly rounding: number;
  private readonly rowCell: Int32Array;
  private readonly down: Int32Array;
  private readonly across: Int32Array;
  private readonly colCell: Int32Array;
  private readonly mass: Float32Array;

  constructor(bytes: ArrayBuffer, private readonly map: AttentionMap) {
    const find = (reduce: Reduce): Grid | undefined => map.grids.find((grid) => grid.reduce === reduce);
    const mass = find("mass") ?? find("max");
    const largest = find("max");
    this.rows = mass?.rows ?? 1;
    this.cols = mass?.cols ?? 1;
    this.every = mass?.every ?? 1;
    this.top = topWeights(bytes, map);
    this.mass = mass ? gridValues(bytes, mass) : new Float32Array(1);
    const alike = largest && largest.rows === this.rows && largest.cols === this.cols;
    this.largest = alike ? gridValues(bytes, largest) : null;
    this.rounding = largest?.type === "u1" ? largest.one / 255 : 0;
    this.down = edgesOf(map.rows, this.rows);
    this.across = edgesOf(map.cols, this.cols);
    this.rowCell = cellsOf(map.rows, this.rows);
    this.colCell = cellsOf(map.cols, this.cols);
    this.spread = new Float32Array(this.mass.length);
    this.density = new Float32Array(this.mass.length);
    this.splitRest(mass?.type === "u1" ? mass.one / 255 : 0);
  }

  /** Take the known weights out of the pooled cells. A rest below the grids' own rounding is none. */
  private splitRest(rounding: number): void {
    const { rows, cols, map, top, down, across } = this;
    const known = new Float32Array(rows * cols);
    const count = new Float32Array(rows * cols);
    if (top) {
      for (let at = 0; at < map.rows * top.count; at += 1) {
        const cell = this.rowCell[Math.floor(at / top.count)]! * cols + this.colCell[Math.min(top.keys[at]!, map.cols - 1)]!;
        known[cell]! += top.weights[at]!;
        count[cell]! += 1;
      }
    }
    this.mass.forEach((mass, cell) => {
      const row = Math.floor(cell / cols);
      const col = cell % cols;
      const queries = Math.max(1, down[row + 1]! - down[row]!);
      const keys = across[col + 1]! - across[col]!;
      const rest = mass - known[cell]! / queries;
      if (!(rest > (top ? rounding / 2 : 0) && keys > 0)) return;
      const unknown = keys - count[cell]! / queries;
      this.spread[cell] = rest / keys;
      this.density[cell] = unknown > 0 ? rest / unknown : 0;
    });
  }

  /** The known weight of a query and a key, or null. What a causal map forbids is known to be 0. */
  weight(row: number, col: number): number | null {
    if (this.map.shape === "causal" && this.map.rows === this.map.cols && col > row) return 0;
    const { top } = this;
    if (!top) return null;
    for (let at = row * top.count; at < (row + 1) * top.count; at += 1) {
      if (top.keys[at] === col) return top.weights[at]!;
    }
    return top.count >= this.map.cols ? 0 : null;
  }

  /** The pooled cell that holds a place: how much it holds, its largest weight, and what an unknown weight there is at most. */
  cell(row: number, col: number): { mass: number; max: number | null; below: number | null } {
    const at = this.rowCell[row]! * this.cols + this.colCell[col]!;
    const max = this.largest?.[at] ?? null;
    const bounds = [this.top?.weights[(row + 1) * this.top.count - 1], max === null ? undefined : max + this.rounding / 2];
    const known = bounds.filter((bound) => bound !== undefined);
    return { mass: this.mass[at]!, max, below: known.length ? Math.min(...known) : null };
  }

  tile(window: Window, cells: number, reduce: Reduce): Tile {
    const height = window.r1 - window.r0;
    const across = window.c1 - window.c0;
    const rows = evenCells(height, cells);
    const cols = evenCells(across, cells);
    const downEdges = edgesOf(height, rows);
    const acrossEdges = edgesOf(across, cols);
    // A cell of the tile that is smaller than a cell of the grid holds no more than its share of it.
    const fine = height / rows < this.map.rows / this.rows || across / cols < this.map.cols / this.cols;
    const single = rows === height && cols === across;
    const values = new Float32Array(rows * cols);
    for (let row = 0; row < rows; row += 1) {
      const into = values.subarray(row * cols, (row + 1) * cols);
      const from = window.r0 + downEdges[row]!;
      const to = window.r0 + downEdges[row + 1]!;
      if (reduce === "mass") this.spreadMass(into, window.c0, acrossEdges, from, to, single ? this.density : this.spread);
      else this.spreadMax(into, window.c0, acrossEdges, from, to, fine);
    }
    const known = new Uint8Array(rows * cols);
    this.placeKnown(values, known, window, rows, cols, reduce);
    if (single) this.forbid(values, known, window);
    // Where a tile's cells are the grid's own, every cell is what the document says it is.
    if (!fine) known.fill(1);
    return { window, rows, cols, values, known, every: this.every, largest: largestOf(values) };
  }

  /** The unknown mass of queries [from, to) on each cell of keys: of the average query, as a running sum over keys. */
  private spreadMass(into: Float32Array, start: number, edges: Int32Array, from: number, to: number, rest: Float32Array): void {
    const density = this.averageRow(from, to, rest);
    let at = this.colCell[start]!;
    for (let col = 0; col < into.length; col += 1) {
      let place = start + edges[col]!;
      const end = start + edges[col + 1]!;
      while (place < end) {
        while (this.across[at + 1]! <= place) at += 1;
        const next = Math.min(end, this.across[at + 1]!);
        into[col]! += density[at]! * (next - place);
        place = next;
      }
    }
  }

  private averageRow(from: number, to: number, rest: Float32Array): Float32Array {
    const first = this.rowCell[from]!;
    const last = this.rowCell[to - 1]!;
    if (first === last) return rest.subarray(first * this.cols, (first + 1) * this.cols);
    const edges = this.down;
    const sum = new Float32Array(this.cols);
    for (let row = first; row <= last; row += 1) {
      const part = (Math.min(to, edges[row + 1]!) - Math.max(from, edges[row]!)) / (to - from);
      for (let col = 0; col < this.cols; col += 1) sum[col]! += part * rest[row * this.cols + col]!;
    }
    return sum;
  }

  private spreadMax(into: Float32Array, start: number, edges: Int32Array, from: number, to: number, fine: boolean): void {
    const values = fine || !this.largest ? this.density : this.largest;
    const lastRow = this.rowCell[to - 1]!;
    for (let col = 0; col < into.length; col += 1) {
      const lastCol = this.colCell[start + edges[col + 1]! - 1]!;
      for (let row = this.rowCell[from]!; row <= lastRow; row += 1) {
        for (let at = this.colCell[start + edges[col]!]!; at <= lastCol; at += 1) {
          into[col] = Math.max(into[col]!, values[row * this.cols + at]!);
        }
      }
    }
  }

  private placeKnown(values: Float32Array, known: Uint8Array, window: Window, rows: number, cols: number, reduce: Reduce): void {
    const { top } = this;
    if (!top) return;
    const height = window.r1 - window.r0;
    const across = window.c1 - window.c0;
    const single = rows === height && cols === across;
    const edges = edgesOf(height, rows);
    for (let row = window.r0; row < window.r1; row += 1) {
      const cell = cellOf(row - window.r0, height, rows);
      const queries = edges[cell + 1]! - edges[cell]!;
      // What is not among a query's largest weights is not above the least of them.
      const least = top.weights[(row + 1) * top.count - 1]!;
      for (let at = cell * cols; single && at < (cell + 1) * cols; at += 1) values[at] = Math.min(values[at]!, least);
      for (let at = row * top.count; at < (row + 1) * top.count; at += 1) {
        const col = top.keys[at]!;
        if (col < window.c0 || col >= window.c1) continue;
        const index = cell * cols + cellOf(col - window.c0, across, cols);
        const weight = top.weights[at]!;
        if (single) {
          values[index] = weight;
          known[index] = 1;
        } else if (reduce === "max") values[index] = Math.max(values[index]!, weight);
        else values[index]! += weight / queries;
      }
    }
  }

  private forbid(values: Float32Array, known: Uint8Array, { r0, r1, c0, c1 }: Window): void {
    if (this.map.shape !== "causal" || this.map.rows !== this.map.cols) return;
    for (let row = r0; row < r1; row += 1) {
      for (let col = Math.max(c0, row + 1); col < c1; col += 1) {
        const at = (row - r0) * (c1 - c0) + col - c0;
        values[at] = 0;
        known[at] = 1;
      }
    }
  }

  /** One query over all keys, or one key over all queries: every place, known or estimated. */
  line(axis: "row" | "col", at: number): Line {
    const { rows, cols } = this.map;
    const window = axis === "row" ? { r0: at, r1: at + 1, c0: 0, c1: cols } : { r0: 0, r1: rows, c0: at, c1: at + 1 };
    const { values, known, every } = this.tile(window, Math.max(rows, cols), "max");
    return lineOf(values, known, every);
  }
}
