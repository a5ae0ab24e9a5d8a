// The order of heads, and their names.
import type { AttentionMap, Language, Layer, ViewDocument } from "./document";

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

/** A layer's name in parts: its model, what tells it from the model's other layers, and which call of it this is. */
export interface LayerName {
  readonly model: string;
  readonly own: string;
  readonly call: number;
}

/** Names without the dotted parts that all of a model's layers share: `encoder.layer.3.self` becomes `3`. */
export function layerParts(layers: readonly Layer[]): LayerName[] {
  // A layer that was called before is written `name #2`.
  const calls = layers.map(({ name }) => /^(.*) #(\d+)$/s.exec(name));
  const split = layers.map(({ name }, at) => (calls[at]?.[1] ?? name).split("."));
  return split.map((parts, at) => {
    const { model } = layers[at]!;
    const alike = split.filter((_, other) => layers[other]!.model === model);
    const call = Number(calls[at]?.[2] ?? 1);
    if (new Set(alike.map((other) => other.join("."))).size < 2) return { model, own: parts.join("."), call };
    const shortest = Math.min(...alike.map(({ length }) => length));
    let front = 0;
    while (front < shortest - 1 && alike.every((other) => other[front] === parts[front])) front += 1;
    let back = 0;
    while (back < shortest - 1 - front && alike.every((other) => other.at(-1 - back) === parts.at(-1 - back))) back += 1;
    return { model, own: parts.slice(front, parts.length - back).join("."), call };
  });
}

/** Names of layers in a few letters; in the reader's words where the document has some. */
export function layerNames(layers: readonly Layer[], language: Language): string[] {
  return layerParts(layers).map(({ model, own, call }, at) => {
    const name = layers[at]!.label?.[language] ?? (own || String(at));
    return `${model} ${name}${call > 1 ? ` #${call}` : ""}`.trim();
  });
}

/** A head in a few letters: layer, then number. */
export function headName(map: AttentionMap, names: readonly string[]): string {
  return `${names[map.layer] ?? map.layer}·${map.head}`;
}

/** The same head of the same layer in the next model, if there are several models and it has one. */
export function counterpart({ layers, maps }: Pick<ViewDocument, "layers" | "maps">, map: number): number | null {
  const models = [...new Set(layers.map(({ model }) => model))];
  const { layer, head } = maps[map]!;
  const model = layers[layer]?.model ?? "";
  const of = (name: string): number[] => layers.flatMap((other, at) => (other.model === name ? [at] : []));
  const next = models[(models.indexOf(model) + 1) % models.length];
  if (next === undefined || next === model) return null;
  const there = of(next)[of(model).indexOf(layer)];
  const found = maps.findIndex((other) => other.layer === there && other.head === head);
  return found < 0 ? null : found;
}
