// Which tokens of a line are written as text: all of a short one; of a long one those around its largest weights.
import type { Line } from "./tile";
import { cellOf } from "./zoom";

/** A text of more tokens is shown in excerpts. */
export const MOST_TOKENS = 700;
const CONTEXT = 8;

/** A stretch of tokens. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export function excerpts(places: number, peaks: readonly number[], also: number | null): Stretch[] {
  if (places <= MOST_TOKENS) return [{ from: 0, to: places }];
  const centres = [...peaks, ...(also === null ? [] : [also])].sort((a, b) => a - b);
  const out: { from: number; to: number }[] = [];
  for (const centre of centres) {
    const from = Math.max(0, centre - CONTEXT);
    const to = Math.min(places, centre + CONTEXT + 1);
    const last = out.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else out.push({ from, to });
  }
  return out;
}

const known = new WeakMap<readonly string[], ReadonlySet<string>>();

/** The tokens that a list has more than once: of these a name alone does not say which. */
export function repeated(tokens: readonly string[]): ReadonlySet<string> {
  const before = known.get(tokens);
  if (before) return before;
  const seen = new Set<string>();
  const again = new Set(tokens.filter((token) => seen.size === seen.add(token).size));
  known.set(tokens, again);
  return again;
}

/** How strongly a token is shaded, from 0 to 1, the largest weight being 1. */
export function shading(line: Line): (place: number) => number {
  const largest = Math.max(line.peaks[0]?.weight ?? 0, 1e-12);
  const exact = new Map(line.peaks.map(({ at, weight }) => [at, weight]));
  return (place) => {
    const weight = exact.get(place) ?? line.values[cellOf(place, line.places, line.values.length)] ?? 0;
    // A pooled line gives a cell's largest weight: places beside a peak must not borrow it.
    const borrowed = line.values.length < line.places && !exact.has(place);
    return borrowed ? 0 : Math.min(1, Math.max(0, weight / largest));
  };
}
