// The two small pictures: the error against the bandwidth, and the weights as one row of attention.
import { coloursOf } from "../colour";
import type { ErrorCurve } from "./error";
import { chunked, type Ink } from "./plot";

/** The slider's thumb stops this far from the ends of its track; the curve stands on the same axis. */
export const THUMB = 9;

export function drawErrors(
  context: CanvasRenderingContext2D, wide: number, high: number,
  curve: ErrorCurve, low: number, top: number, width: number, ink: Ink, bestLabel: string,
): void {
  context.clearRect(0, 0, wide, high);
  const { widths, errors, best } = curve;
  if (errors.length < 2) return;
  const least = Math.min(...errors, best?.error ?? Infinity);
  const most = Math.max(...errors);
  const px = (at: number) => THUMB + ((wide - 2 * THUMB) * Math.log(at / low)) / Math.log(top / low);
  const py = (error: number) => high - 5 - ((high - 22) * (error - least)) / (most - least || 1);
  context.beginPath();
  errors.forEach((error, i) => context.lineTo(px(widths[i]!), py(error)));
  context.strokeStyle = ink.faint;
  context.lineWidth = 2;
  context.lineJoin = "round";
  context.stroke();
  // where the bandwidth stands
  context.beginPath();
  context.moveTo(px(width), 0);
  context.lineTo(px(width), high);
  context.strokeStyle = ink.query;
  context.lineWidth = 1.5;
  context.stroke();
  if (!best) return;
  const at = px(best.width);
  context.beginPath();
  context.arc(at, py(best.error), 4.5, 0, 2 * Math.PI);
  context.fillStyle = ink.curve;
  context.strokeStyle = ink.paper;
  context.lineWidth = 1.5;
  context.fill();
  context.stroke();
  context.font = ink.font;
  context.textBaseline = "bottom";
  context.textAlign = at > wide - 50 ? "right" : at < 50 ? "left" : "center";
  context.fillText(bestLabel, at, py(best.error) - 7);
}

/** One cell a point, or, where there are more points than dots, the largest weight of those that share one. */
export function drawRow(
  context: CanvasRenderingContext2D, wide: number, high: number, weights: Float64Array, dots: number,
): void {
  context.clearRect(0, 0, wide, high);
  const most = Math.max(...chunked(weights));
  if (!(most > 0)) return;
  const count = weights.length;
  const cells = Math.min(count, Math.max(1, Math.floor(dots)));
  const colours = coloursOf("weights");
  let i = 0;
  for (let cell = 0; cell < cells; cell += 1) {
    const until = Math.floor(((cell + 1) * count) / cells);
    let weight = 0;
    for (; i < until; i += 1) if (weights[i]! > weight) weight = weights[i]!;
    const at = Math.round((weight / most) * 255) * 3;
    context.fillStyle = `rgb(${colours[at]}, ${colours[at + 1]}, ${colours[at + 2]})`;
    const left = (cell * wide) / cells;
    context.fillRect(left, 0, wide / cells + (cells < dots ? 0 : 0.5), high);
  }
  if (wide / cells < 6) return;
  // a hair between cells that are wide enough
  for (let cell = 1; cell < cells; cell += 1) context.clearRect(Math.round((cell * wide) / cells) - 0.5, 0, 1, high);
}
