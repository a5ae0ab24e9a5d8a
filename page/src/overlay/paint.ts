// The picture with the weights over it. Cells large enough have their number written in.
import { colourOf, css, inkOn, type Scale, share, weightText } from "../colour";
import type { Patches } from "./patches";

const WRITTEN = { wide: 40, high: 20 }; // pixels of a cell that holds a number
const WORTH = 0.02; // of the scale: a smaller weight is not written, only said when pointed at
// of the opacity is left where there is no weight: the picture shows where the query does not look
const THIN = 0.4;
export const BARS = 56; // pixels for the weights of a spectrogram's frames, above it

export interface Painted {
  readonly picture: CanvasImageSource | null;
  readonly patches: Patches | null;
  readonly scale: Scale;
  readonly opacity: number;
  readonly cursor: number | null;
  readonly ink: { readonly text: string; readonly muted: string; readonly panel: string; readonly font: string };
}

/** Paint a picture of `wide` by `high` whose left upper corner is at 0, `top`. */
export function paint(
  context: CanvasRenderingContext2D, wide: number, high: number, top: number, painted: Painted,
): void {
  context.clearRect(0, 0, wide, top + high);
  const { picture, patches } = painted;
  if (picture) {
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, 0, top, wide, high);
  }
  if (!patches) return;
  cells(context, wide, high, top, patches, painted);
  if (top > 0) bars(context, wide, top, patches, painted);
  if (painted.cursor !== null) cursor(context, wide, high, top, patches, painted.cursor);
}

function cells(
  context: CanvasRenderingContext2D, wide: number, high: number, top: number, patches: Patches, painted: Painted,
): void {
  const { rows, cols, weights } = patches;
  const [w, h] = [wide / cols, high / rows];
  for (let i = 0; i < weights.length; i += 1) {
    const [row, col] = [Math.floor(i / cols), i % cols];
    // whole pixels, so that neighbours leave no seam
    const [left, right] = [Math.round(col * w), Math.round((col + 1) * w)];
    const [upper, lower] = [Math.round(row * h), Math.round((row + 1) * h)];
    context.globalAlpha = painted.opacity * (THIN + (1 - THIN) * share(painted.scale, weights[i]!));
    context.fillStyle = css(colourOf(painted.scale, weights[i]!));
    context.fillRect(left, top + upper, right - left, lower - upper);
  }
  context.globalAlpha = 1;
  if (w < WRITTEN.wide || h < WRITTEN.high || rows === 1) return;
  context.font = painted.ink.font;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 3;
  for (let i = 0; i < weights.length; i += 1) {
    if (share(painted.scale, weights[i]!) < WORTH) continue;
    const ink = inkOn(colourOf(painted.scale, weights[i]!));
    const [x, y] = [((i % cols) + 0.5) * w, top + (Math.floor(i / cols) + 0.5) * h];
    const text = weightText(weights[i]!, 2);
    context.strokeStyle = ink === "#000" ? "rgb(255 255 255 / 70%)" : "rgb(0 0 0 / 70%)";
    context.strokeText(text, x, y);
    context.fillStyle = ink;
    context.fillText(text, x, y);
  }
}

/** A spectrogram has one row of cells; above it the same weights stand as bars. */
function bars(context: CanvasRenderingContext2D, wide: number, top: number, patches: Patches, painted: Painted): void {
  const { weights, most } = patches;
  const w = wide / weights.length;
  context.fillStyle = painted.ink.text;
  context.beginPath();
  context.moveTo(0, top - 4);
  for (let i = 0; i < weights.length; i += 1) {
    const y = top - 4 - (most > 0 ? weights[i]! / most : 0) * (top - 12);
    context.lineTo(i * w, y);
    context.lineTo((i + 1) * w, y);
  }
  context.lineTo(wide, top - 4);
  context.closePath();
  context.globalAlpha = 0.75;
  context.fill();
  context.globalAlpha = 1;
}

function cursor(
  context: CanvasRenderingContext2D, wide: number, high: number, top: number, patches: Patches, at: number,
): void {
  const [w, h] = [wide / patches.cols, high / patches.rows];
  const left = (at % patches.cols) * w;
  const upper = top + Math.floor(at / patches.cols) * h;
  context.lineWidth = 3;
  context.strokeStyle = "#000";
  context.strokeRect(left + 0.5, upper + 0.5, w - 1, h - 1);
  context.lineWidth = 1.5;
  context.strokeStyle = "#fff";
  context.strokeRect(left + 0.5, upper + 0.5, w - 1, h - 1);
}
