// Where weights come from. A view asks for tiles, lines and single weights and does not care whether the page holds them.
import { gridValues, type AttentionMap, type Reduce, type ViewDocument } from "./document";
import { PooledMap } from "./pooled";
import { lineOf, poolExact, poolGrid, type Line, type Tile } from "./tile";
import { outward, whole, type Window } from "./zoom";

export type Axis = "row" | "col";
export type Soon<T> = T | Promise<T>;

/** One weight, as well as it is known. */
export interface Reading {
  /** The exact weight, or null where only pooled numbers are known. */
  readonly weight: number | null;
  /** The pooled cell around it, where there is one. */
  readonly pooled: { readonly mass: number; readonly max: number | null; readonly below: number | null } | null;
}

export interface Source {
  /** What can be shown of a tile at once. */
  preview(map: number, window: Window, cells: number, reduce: Reduce): Tile;
  /** A small picture of a whole map, at once. */
  thumbnail(map: number, cells: number, reduce: Reduce): Tile;
  tile(map: number, window: Window, cells: number, reduce: Reduce): Soon<Tile>;
  line(map: number, axis: Axis, at: number): Soon<Line>;
  reading(map: number, row: number, col: number): Soon<Reading>;
}

/** Keeps the `most` values last asked for. */
export class Recent<K, V> {
  private readonly values = new Map<K, V>();
  constructor(private readonly most: number) {}

  get(key: K): V | undefined {
    const value = this.values.get(key);
    if (value !== undefined) {
      this.values.delete(key);
      this.values.set(key, value);
    }
    return value;
  }

  set(key: K, value: V): V {
    this.values.delete(key);
    this.values.set(key, value);
    if (this.values.size > this.most) this.values.delete(this.values.keys().next().value as K);
    return value;
  }

  drop(key: K): void {
    this.values.delete(key);
  }
}

/** Exact maps of half floats are unpacked when looked at, and so many are kept. */
const UNPACKED = 16;

/** What the page itself holds. Answers at once. */
export class Embedded implements Source {
  private readonly exact = new Recent<number, Float32Array>(UNPACKED);
  private readonly pooled = new Recent<number, PooledMap>(UNPACKED);

  constructor(private readonly document: ViewDocument, private readonly bytes: ArrayBuffer) {}

  private map(index: number): AttentionMap {
    const map = this.document.maps[index];
    if (!map) throw new RangeError(`There are ${this.document.maps.length} maps; wanted number ${index}.`);
    return map;
  }

  private exactOf(index: number): Float32Array | null {
    const kept = this.exact.get(index);
    if (kept) return kept;
    const grid = this.map(index).grids.find(({ reduce }) => reduce === "exact");
    return grid ? this.exact.set(index, gridValues(this.bytes, grid)) : null;
  }

  private pooledOf(index: number): PooledMap {
    return this.pooled.get(index) ?? this.pooled.set(index, new PooledMap(this.bytes, this.map(index)));
  }

  preview(index: number, window: Window, cells: number, reduce: Reduce): Tile {
    return this.tile(index, window, cells, reduce);
  }

  thumbnail(index: number, cells: number, reduce: Reduce): Tile {
    const map = this.map(index);
    const grid = map.grids.find((candidate) => candidate.reduce === reduce) ?? map.grids[0];
    if (!grid) return this.tile(index, whole(map), cells, reduce);
    const small = poolGrid(gridValues(this.bytes, grid), grid, cells, reduce);
    return { ...small, window: whole(map), every: grid.every };
  }

  tile(index: number, window: Window, cells: number, reduce: Reduce): Tile {
    const map = this.map(index);
    const places = outward(window, map);
    const exact = this.exactOf(index);
    if (exact) return poolExact(exact, map.cols, places, cells, reduce);
    return this.pooledOf(index).tile(places, cells, reduce);
  }

  line(index: number, axis: Axis, at: number): Line {
    const { rows, cols } = this.map(index);
    const exact = this.exactOf(index);
    if (!exact) return this.pooledOf(index).line(axis, at);
    const values =
      axis === "row"
        ? exact.slice(at * cols, (at + 1) * cols)
        : Float32Array.from({ length: rows }, (_, row) => exact[row * cols + at]!);
    return lineOf(values, null, 1);
  }

  reading(index: number, row: number, col: number): Reading {
    const exact = this.exactOf(index);
    if (exact) return { weight: exact[row * this.map(index).cols + col]!, pooled: null };
    const pooled = this.pooledOf(index);
    return { weight: pooled.weight(row, col), pooled: pooled.cell(row, col) };
  }
}
