// The order of heads, and their names.
import type { AttentionMap, Layer } from "./document";

export const SORTS = ["layer", "entropy", "distance", "diagonality", "first"] as const;
export type Sort = (typeof SORTS)[number];

export function isSort(text: string | null): text is Sort {
  return (SORTS as readonly (string | null)[]).includes(text);
}

/** Entropy is sorted from the sharpest head on; the others from the largest on. What is not known comes last. */
export function sortMaps(maps: readonly AttentionMap[], sort: Sort): number[] {
  const places = maps.map((_, at) => at);
  if (sort === "layer") return places.sort((a, b) => maps[a]!.layer - maps[b]!.layer || maps[a]!.head - maps[b]!.head || a - b);
  const sign = sort === "entropy" ? 1 : -1;
  const value = (at: number): number => {
    const known = maps[at]!.stats[sort];
    return known === undefined || known === null || Number.isNaN(known) ? Infinity : sign * known;
  };
  return places.sort((a, b) => {
    const [left, right] = [value(a), value(b)];
    return left === right ? a - b : left < right ? -1 : 1;
  });
}

/** Names of layers without the dotted parts that all of a model's layers share: `encoder.layer.3.self` becomes `3`. */
export function layerNames(layers: readonly Layer[]): string[] {
  const split = layers.map(({ name }) => name.split("."));
  const names = split.map((parts, at) => {
    const alike = split.filter((_, other) => layers[other]!.model === layers[at]!.model);
    if (alike.length < 2) return parts.join(".");
    const shortest = Math.min(...alike.map(({ length }) => length));
    let front = 0;
    while (front < shortest - 1 && alike.every((other) => other[front] === parts[front])) front += 1;
    let back = 0;
    while (back < shortest - 1 - front && alike.every((other) => other.at(-1 - back) === parts.at(-1 - back))) back += 1;
    return parts.slice(front, parts.length - back).join(".");
  });
  return names.map((name, at) => {
    const { model } = layers[at]!;
    const own = name || String(at);
    return model ? `${model} ${own}` : own;
  });
}

/** A head in a few letters: layer, then number. */
export function headName(map: AttentionMap, names: readonly string[]): string {
  return `${names[map.layer] ?? map.layer}·${map.head}`;
}
