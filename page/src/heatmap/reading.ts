// What is known about one weight, in words.
import { percentText, weightText } from "../colour";
import type { Language } from "../document";
import type { Reading } from "../source";
import { say } from "../texts";

export interface Known {
  readonly difference: boolean;
  readonly read: Reading | null;
  readonly weight: number | null;
  /** The value of the cell in the picture. */
  readonly cell: number | null;
}

export interface ReadingLines {
  readonly value: string;
  readonly remark: string;
}

export function readingLines(language: Language, { difference, read, weight, cell }: Known): ReadingLines {
  if (weight !== null) {
    const percent = difference || weight < 1e-3 ? "" : ` (${percentText(weight)})`;
    return { value: `${weightText(weight, 5)}${percent}`, remark: "" };
  }
  if (!read) return { value: say(language, "reading"), remark: "" };
  const estimate = cell === null ? "?" : `≈ ${weightText(cell)}`;
  if (!read.pooled || difference) return { value: estimate, remark: say(language, "pooledDifference") };
  const { mass, max, below } = read.pooled;
  const around = { mass: percentText(mass), max: max === null ? "?" : weightText(max) };
  const value = below === null ? estimate : say(language, "below", { least: weightText(below) });
  return { value, remark: say(language, "pooledReading", around) };
}
