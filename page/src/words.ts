// Maps in words: what a screen reader hears, and anybody may read.
import { percentText, weightText } from "./colour";
import { tokenAt, type AttentionMap, type Language, type Stats, type ViewDocument } from "./document";
import { grouped, quoted, say } from "./texts";
import type { Line } from "./tile";

/** How many keys a sentence names, and from what share on. */
const NAMED = 3;
const LEAST = 0.01;

/** “cat” looks 71 % at “the”, 12 % at “.”. */
export function lookSentence(language: Language, document: ViewDocument, map: AttentionMap, row: number, line: Line): string {
  const query = quoted(tokenAt(document, map.row_tokens, row));
  const [first, ...rest] = line.peaks.slice(0, NAMED).filter(({ weight }, at) => at === 0 || weight >= LEAST);
  if (!first) return say(language, "looksNowhere", { query });
  const key = (at: number): string => quoted(tokenAt(document, map.col_tokens, at));
  return [
    say(language, "sentenceOne", { query, first: percentText(first.weight), key: key(first.at) }),
    ...rest.map(({ at, weight }) => say(language, "sentenceMore", { share: percentText(weight), key: key(at) })),
    say(language, "sentenceEnd"),
  ].join("");
}

/** The kind of attention, in a sentence. */
export function shapeSentence(language: Language, { shape, rows, cols }: AttentionMap): string {
  return say(language, `shape_${shape}`, { rows: grouped(rows, language), cols: grouped(cols, language) });
}

/** The same, and the full name of the module where the title has a part of it. */
export function kindSentence(language: Language, { layers }: ViewDocument, map: AttentionMap): string {
  const { name, label } = layers[map.layer] ?? { name: "" };
  return shapeSentence(language, map) + (!label && name.includes(".") ? ` (${name})` : "");
}

/** Patches of a picture are no sequence: how far a look goes, and from where, means nothing. */
export function tellingStats({ backdrop }: ViewDocument, { stats }: AttentionMap): Stats {
  return backdrop && stats.entropy !== undefined ? { entropy: stats.entropy } : stats;
}

/** The figures of a head that are known, each with its name. */
export function statLines(language: Language, { stats, grids }: Pick<AttentionMap, "stats" | "grids">): { name: string; value: string }[] {
  const lines: { name: string; value: string }[] = [];
  const { entropy, distance, diagonality, first } = stats;
  const known = (value: number | null | undefined): value is number => typeof value === "number" && Number.isFinite(value);
  if (known(entropy)) lines.push({ name: say(language, "stat_entropy"), value: say(language, "nats", { value: weightText(entropy) }) });
  if (known(distance)) lines.push({ name: say(language, "stat_distance"), value: say(language, "places", { value: weightText(distance) }) });
  if (known(diagonality)) lines.push({ name: say(language, "stat_diagonality"), value: percentText(diagonality) });
  if (known(first)) lines.push({ name: say(language, "stat_first"), value: percentText(first) });
  // Where queries were left out, of the figures too: the note says how many.
  const sampled = grids.some(({ every }) => every > 1);
  return sampled ? lines.map(({ name, value }) => ({ name, value: `≈ ${value}` })) : lines;
}

/** All that is shown, in a few sentences. */
export function summary(language: Language, document: ViewDocument, map: AttentionMap, head: string): string {
  const counts = { count: document.maps.length, layers: new Set(document.maps.map(({ layer }) => layer)).size };
  const sizes = { rows: grouped(map.rows, language), cols: grouped(map.cols, language) };
  const figures = statLines(language, map).map(({ name, value }) => `${name}: ${value}`);
  const comma = language === "zh" ? "，" : ", ";
  return [
    say(language, "summaryText", { ...counts, ...sizes, head }),
    shapeSentence(language, map),
    figures.length ? figures.join(comma) + say(language, "sentenceEnd") : "",
  ].join(" ").trim();
}
