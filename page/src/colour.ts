// Weights as colours: cividis for weights, blue to red through white for differences.
// Both can be told apart by the colour-blind, and cividis keeps its order in grey.
import { interpolateCividis, interpolateRdBu } from "d3-scale-chromatic";

export type Colouring = "linear" | "log";

/** How values become shares of a colour bar. */
export interface Scale {
  readonly kind: "weights" | "difference";
  readonly colouring: Colouring;
  /** The value at the bright end; a difference runs from -max to max. */
  readonly max: number;
}

/** A log scale spans four powers of ten below its largest value; what is smaller gets the darkest colour. */
const SPAN = 1e-4;

const TABLE = 256;

/** 256 colours as r, g, b bytes. */
function table(colour: (share: number) => string): Uint8ClampedArray {
  const bytes = new Uint8ClampedArray(TABLE * 3);
  for (let at = 0; at < TABLE; at += 1) {
    const parts = (colour(at / (TABLE - 1)).match(/\d+/g) ?? []).map(Number);
    bytes.set(parts.slice(0, 3), at * 3);
  }
  return bytes;
}

let cividis: Uint8ClampedArray | null = null;
let redBlue: Uint8ClampedArray | null = null;

/** The colours of a scale. A positive difference is blue, a negative one red. */
export function coloursOf(kind: Scale["kind"]): Uint8ClampedArray {
  if (kind === "weights") return (cividis ??= table(interpolateCividis));
  return (redBlue ??= table(interpolateRdBu));
}

/** Where a value stands on the colour bar, from 0 to 1. */
export function share(scale: Scale, value: number): number {
  const { max } = scale;
  if (!(max > 0) || Number.isNaN(value)) return scale.kind === "difference" ? 0.5 : 0;
  const size = Math.min(1, Math.abs(value) / max);
  const length = scale.colouring === "log" ? Math.max(0, 1 - Math.log(Math.max(size, SPAN)) / Math.log(SPAN)) : size;
  return scale.kind === "difference" ? 0.5 + (Math.sign(value) * length) / 2 : value < 0 ? 0 : length;
}

/** The value at a share of the colour bar: the inverse of `share`. */
export function valueAt(scale: Scale, at: number): number {
  const signed = scale.kind === "difference" ? at * 2 - 1 : at;
  const length = Math.abs(signed);
  if (length === 0) return 0;
  const size = scale.colouring === "log" ? SPAN ** (1 - length) : length;
  return Math.sign(signed) * size * scale.max;
}

const STEPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** The next round number: a colour bar that ends on one does not flicker while the map moves. */
export function roundUp(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = STEPS.find((candidate) => candidate * power >= value * (1 - 1e-6)) ?? 10;
  return Number((step * power).toPrecision(3));
}

export type Rgb = readonly [number, number, number];

/** What is not a number is on no scale: a colour that neither has. */
export function brokenColour(kind: Scale["kind"]): Rgb {
  return kind === "weights" ? [213, 94, 0] : [0, 0, 0];
}

export function colourOf(scale: Scale, value: number): Rgb {
  if (Number.isNaN(value)) return brokenColour(scale.kind);
  const colours = coloursOf(scale.kind);
  const at = Math.round(share(scale, value) * (TABLE - 1)) * 3;
  return [colours[at]!, colours[at + 1]!, colours[at + 2]!];
}

export function css([red, green, blue]: Rgb): string {
  return `rgb(${red}, ${green}, ${blue})`;
}

/** Black or white, whichever is easier to read on a colour (relative luminance as WCAG counts it). */
export function inkOn([red, green, blue]: Rgb): "#000" | "#fff" {
  const linear = (byte: number) => (byte <= 10 ? byte / 3294.6 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
  const light = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return light > 0.179 ? "#000" : "#fff";
}

/** A weight in at most `digits` significant digits: 0.71, 0.0042, 3.1e-6. */
export function weightText(value: number, digits = 3): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4) return value.toExponential(Math.max(0, digits - 2)).replace("e-", "e−").replace(/^-/, "−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

/** A weight in a cell: as many decimals as its neighbours have, so that they stand below one another; `short`: .25. */
export function cellText(value: number, decimals: number, short = false): string {
  if (value === 0) return "0";
  const text = value.toFixed(decimals).replace(/^-(0\.?0*)$/, "$1").replace("-", "−");
  if (!short) return text;
  return text.startsWith("0") || text.startsWith("−0") ? text.replace("0", "") : value.toFixed(1).replace("-", "−");
}

/** A weight as a share of one hundred. */
export function percentText(value: number): string {
  const percent = value * 100;
  if (percent === 0) return "0 %";
  if (percent < 0.001) return "< 0.001 %";
  if (percent < 0.1) return `${Number(percent.toPrecision(2))} %`;
  return `${percent < 9.95 ? percent.toFixed(1) : Math.round(percent)} %`;
}
