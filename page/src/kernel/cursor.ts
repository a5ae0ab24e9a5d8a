// What lies over the picture: the query with its handle, and the point under the pointer.
import { type Frame, LEFT, RIGHT, TOP } from "./frame";
import type { Ink, Scene } from "./plot";

/** The query: a line from the curve down to the axis, with a handle, and the prediction at its side. */
export function cursor(context: CanvasRenderingContext2D, frame: Frame, scene: Scene, ink: Ink): void {
  const px = frame.x(scene.query);
  const py = Math.min(frame.plotBottom, Math.max(TOP, frame.y(scene.attention.prediction)));
  context.strokeStyle = ink.query;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(px, TOP);
  context.lineTo(px, frame.stripBottom);
  context.stroke();
  context.lineWidth = 1.25;
  context.setLineDash([4, 4]);
  context.beginPath();
  context.moveTo(LEFT, py);
  context.lineTo(px, py);
  context.stroke();
  context.setLineDash([]);
  // the prediction, a diamond on the curve
  context.beginPath();
  context.moveTo(px, py - 8);
  context.lineTo(px + 8, py);
  context.lineTo(px, py + 8);
  context.lineTo(px - 8, py);
  context.closePath();
  context.fillStyle = ink.query;
  context.strokeStyle = ink.paper;
  context.lineWidth = 2;
  context.fill();
  context.stroke();
  // the handle, on the axis
  const top = frame.stripBottom - 4;
  context.beginPath();
  context.moveTo(px, top);
  context.lineTo(px + 9, top + 10);
  context.lineTo(px + 9, top + 26);
  context.lineTo(px - 9, top + 26);
  context.lineTo(px - 9, top + 10);
  context.closePath();
  context.fill();
  context.stroke();
  if (scene.focused) {
    context.strokeStyle = ink.text;
    context.lineWidth = 2;
    context.stroke();
  }
  context.strokeStyle = ink.paper;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const dx of [-3, 0, 3]) {
    context.moveTo(px + dx, top + 13);
    context.lineTo(px + dx, top + 22);
  }
  context.stroke();
}

export function hover(context: CanvasRenderingContext2D, frame: Frame, scene: Scene, ink: Ink): void {
  const i = scene.hovered!;
  const px = frame.x(scene.data.x[i]!);
  const py = frame.y(scene.data.y[i]!);
  context.beginPath();
  context.arc(px, py, 12, 0, 2 * Math.PI);
  context.strokeStyle = ink.text;
  context.lineWidth = 1.5;
  context.stroke();
  const wide = context.measureText(scene.labels.hover).width + 16;
  const left = Math.min(Math.max(LEFT, px - wide / 2), frame.width - RIGHT - wide);
  const top = py - 44 > 0 ? py - 44 : py + 18;
  context.fillStyle = ink.paper;
  context.strokeStyle = ink.faint;
  context.lineWidth = 1;
  context.beginPath();
  context.roundRect(left, top, wide, 26, 5);
  context.fill();
  context.stroke();
  context.fillStyle = ink.text;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(scene.labels.hover, left + 8, top + 13.5);
}
