// What the kernel view shows, in the fragment of the page's address. What cannot be read is left out.
import type { Language } from "../document";
import { NAMES } from "./kernels";

export interface KernelState {
  readonly query: number | null;
  readonly width: number | null;
  readonly kernel: string | null;
  readonly language: Language | null;
}

function number(text: string | null): number | null {
  if (text === null || !/^-?\d{1,15}(\.\d{1,15})?(e-?\d{1,3})?$/.test(text)) return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

export function readAddress(fragment: string): KernelState {
  const pairs = new URLSearchParams(fragment.replace(/^#/, ""));
  const width = number(pairs.get("w"));
  const kernel = pairs.get("kernel");
  const language = pairs.get("lang");
  return {
    query: number(pairs.get("x")),
    width: width !== null && width > 0 ? width : null,
    kernel: kernel !== null && NAMES.includes(kernel) ? kernel : null,
    language: language === "en" || language === "zh" ? language : null,
  };
}

/** The fragment with this view in it; a language only where the reader chose one. */
export function writeAddress(
  fragment: string, query: number, width: number, kernel: string, language: Language, chosen: boolean,
): string {
  const pairs = new URLSearchParams(fragment.replace(/^#/, ""));
  if (chosen) pairs.set("lang", language);
  pairs.set("x", String(Number(query.toPrecision(6))));
  pairs.set("w", String(Number(width.toPrecision(6))));
  pairs.set("kernel", kernel);
  return pairs.toString();
}
