// The leave-one-out error against the bandwidth, worked out a little at a time so that the page stays quick.
import { type Data, type Kernel, leaveOneOut } from "./kernels";

const WIDTHS = 49;
const ASKED = 400; // beyond so many points only some are asked; all of them answer
const SLICE = 6; // ms of work at a time
const REFINED = 12;

export interface ErrorCurve {
  readonly widths: Float64Array;
  /** As many as are known yet. */
  readonly errors: readonly number[];
  /** The width of the least error; null until all are known. */
  readonly best: { readonly width: number; readonly error: number } | null;
  readonly asked: number;
}

export function widthsBetween(low: number, high: number, count = WIDTHS): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => low * (high / low) ** (i / (count - 1)));
}

/** Works until told to stop, and says each time it is further. */
export class ErrorSearch {
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly tell: (curve: ErrorCurve) => void) {}

  start(data: Data, kernel: Kernel, low: number, high: number): void {
    this.stop();
    if (data.x.length < 3) return;
    const widths = widthsBetween(low, high);
    const every = Math.ceil(data.x.length / ASKED);
    const asked = Math.ceil(data.x.length / every);
    const errors: number[] = [];
    const at = (width: number) => leaveOneOut(data, width, kernel, every);
    const work = () => {
      const until = performance.now() + SLICE;
      while (errors.length < widths.length && performance.now() < until) errors.push(at(widths[errors.length]!));
      if (errors.length < widths.length) {
        this.tell({ widths, errors, best: null, asked });
        this.timer = setTimeout(work);
        return;
      }
      this.timer = null;
      this.tell({ widths, errors, best: least(widths, errors, at), asked });
    };
    this.timer = setTimeout(work);
  }

  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}

/** The least error of the grid, then closer by golden sections of the logarithm on both sides of it. */
export function least(
  widths: Float64Array, errors: readonly number[], at: (width: number) => number,
): { width: number; error: number } {
  let first = 0;
  errors.forEach((error, i) => {
    if (error < errors[first]!) first = i;
  });
  let low = Math.log(widths[Math.max(0, first - 1)]!);
  let high = Math.log(widths[Math.min(widths.length - 1, first + 1)]!);
  let best = { width: widths[first]!, error: errors[first]! };
  const golden = (Math.sqrt(5) - 1) / 2;
  const try_ = (logarithm: number) => {
    const width = Math.exp(logarithm);
    const error = at(width);
    if (error < best.error) best = { width, error };
    return { logarithm, error };
  };
  let left = try_(high - golden * (high - low));
  let right = try_(low + golden * (high - low));
  for (let i = 0; i < REFINED; i += 1) {
    if (left.error <= right.error) {
      high = right.logarithm;
      right = left;
      left = try_(high - golden * (high - low));
    } else {
      low = left.logarithm;
      left = right;
      right = try_(low + golden * (high - low));
    }
  }
  return best;
}
