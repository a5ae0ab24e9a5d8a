// The part of a query's weights that lies on the picture, and where its cells stand.
import type { Backdrop } from "../document";

export interface Patches {
  readonly rows: number;
  readonly cols: number;
  /** Row by row. */
  readonly weights: Float32Array;
  readonly most: number;
  /** The place of the largest. */
  readonly at: number;
  /** What the query spends on keys that are no patches. */
  readonly outside: number;
}

/** The weights of a query on the patches; null where they do not fit the picture. */
export function patchesOf(backdrop: Backdrop, weights: Float32Array): Patches | null {
  const { rows, cols, offset } = backdrop;
  const count = rows * cols;
  if (!(count > 0) || offset < 0 || offset + count > weights.length) return null;
  const inside = weights.subarray(offset, offset + count);
  let at = 0;
  let sum = 0;
  let all = 0;
  for (let i = 0; i < count; i += 1) {
    sum += inside[i]!;
    if (inside[i]! > inside[at]!) at = i;
  }
  for (const weight of weights) all += weight;
  return { rows, cols, weights: inside, most: inside[at]!, at, outside: Math.max(0, all - sum) };
}

/** A picture as large as fits, no part of it lost. */
export function fitted(width: number, height: number, wide: number, high: number): [number, number] {
  const scale = Math.min(wide / width, high / height);
  return [width * scale, height * scale];
}

/** The patch under a place; null outside. */
export function patchAt(
  patches: { readonly rows: number; readonly cols: number }, wide: number, high: number, px: number, py: number,
): number | null {
  if (px < 0 || py < 0 || px >= wide || py >= high) return null;
  return Math.floor((py / high) * patches.rows) * patches.cols + Math.floor((px / wide) * patches.cols);
}
