// The picture: points as heavy as their weights, the curve, the query, and the weights below on the same axis.
import { coloursOf } from "../colour";
import { cursor, hover } from "./cursor";
import { type Frame, LEFT, RIGHT, STRIP, TOP } from "./frame";
import type { Attention, Data, Kernel } from "./kernels";

/** What the style sheet says, for the canvas. */
export interface Ink {
  readonly text: string;
  readonly faint: string;
  readonly grid: string;
  readonly paper: string;
  readonly curve: string;
  readonly query: string;
  readonly font: string;
}

export interface Scene {
  readonly data: Data;
  readonly kernel: Kernel;
  readonly width: number;
  readonly query: number;
  readonly attention: Attention;
  readonly curve: { readonly x: Float64Array; readonly y: Float64Array };
  readonly hovered: number | null;
  readonly focused: boolean;
  readonly labels: { readonly weight: string; readonly hover: string };
}

const LIGHT = 0.004; // of the largest weight: below it a point is a hollow dot
const BUCKETS = 32; // colours of points

/** The radius of a point, its area growing with its weight. */
function radius(share: number, count: number): number {
  const small = count > 600 ? 1.5 : 2.6;
  const most = count > 600 ? 4 : count > 150 ? 6.5 : 9.5;
  return small + (most - small) * Math.sqrt(Math.max(0, share));
}

export function draw(context: CanvasRenderingContext2D, frame: Frame, scene: Scene, ink: Ink): void {
  context.clearRect(0, 0, frame.width, frame.height);
  context.font = ink.font;
  axes(context, frame, scene, ink);
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, frame.width - LEFT - RIGHT, frame.plotBottom);
  context.clip();
  reach(context, frame, scene, ink);
  points(context, frame, scene, ink);
  line(context, frame, scene, ink);
  context.restore();
  stems(context, frame, scene, ink);
  cursor(context, frame, scene, ink);
  if (scene.hovered !== null) hover(context, frame, scene, ink);
}

function axes(context: CanvasRenderingContext2D, frame: Frame, scene: Scene, ink: Ink): void {
  const { x, y } = frame;
  context.strokeStyle = ink.grid;
  context.lineWidth = 1;
  context.fillStyle = ink.faint;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const rows = y.ticks(6);
  const rowText = y.tickFormat(6);
  context.beginPath();
  for (const tick of rows) {
    const at = Math.round(y(tick)) + 0.5;
    context.moveTo(LEFT, at);
    context.lineTo(frame.width - RIGHT, at);
    context.fillText(rowText(tick), LEFT - 8, at);
  }
  const columns = x.ticks(Math.max(3, Math.min(10, Math.floor(frame.width / 80))));
  const columnText = x.tickFormat(columns.length);
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of columns) {
    const at = Math.round(x(tick)) + 0.5;
    context.moveTo(at, frame.stripBottom);
    context.lineTo(at, frame.stripBottom + 5);
    context.fillText(columnText(tick), at, frame.stripBottom + 8);
  }
  context.stroke();
  context.strokeStyle = ink.faint;
  context.beginPath();
  context.moveTo(LEFT, frame.stripBottom + 0.5);
  context.lineTo(frame.width - RIGHT, frame.stripBottom + 0.5);
  context.stroke();
  context.textAlign = "left";
  context.textBaseline = "top";
  context.fillText(scene.labels.weight, LEFT + 4, frame.stripTop - 12);
}

/** The kernel itself, around the query: how far it reaches and how it falls. */
function reach(context: CanvasRenderingContext2D, frame: Frame, scene: Scene, ink: Ink): void {
  const { x, plotBottom } = frame;
  const high = (plotBottom - TOP) * 0.3;
  const [from, to] = x.range() as [number, number];
  context.beginPath();
  context.moveTo(from, plotBottom);
  for (let px = from; px <= to; px += 1) {
    const k = Math.exp(scene.kernel.score((x.invert(px) - scene.query) / scene.width));
    context.lineTo(px, plotBottom - high * k);
  }
  context.lineTo(to, plotBottom);
  context.closePath();
  context.globalAlpha = 0.13;
  context.fillStyle = ink.query;
  context.fill();
  context.globalAlpha = 0.55;
  context.strokeStyle = ink.query;
  context.lineWidth = 1;
  context.stroke();
  context.globalAlpha = 1;
}

function line(context: CanvasRenderingContext2D, frame: Frame, scene: Scene, ink: Ink): void {
  const { curve } = scene;
  context.beginPath();
  for (let i = 0; i < curve.x.length; i += 1) context.lineTo(frame.x(curve.x[i]!), frame.y(curve.y[i]!));
  context.lineJoin = "round";
  context.strokeStyle = ink.paper;
  context.lineWidth = 5.5;
  context.globalAlpha = 0.85;
  context.stroke();
  context.globalAlpha = 1;
  context.strokeStyle = ink.curve;
  context.lineWidth = 2.5;
  context.stroke();
}

/** The points in groups of one colour, the light ones first, so that the heavy ones lie on top. */
function points(context: CanvasRenderingContext2D, frame: Frame, scene: Scene, ink: Ink): void {
  const { data, attention } = scene;
  const { weights } = attention;
  const most = Math.max(...chunked(weights));
  const groups: number[][] = Array.from({ length: BUCKETS + 1 }, () => []);
  for (let i = 0; i < weights.length; i += 1) {
    const share = most > 0 ? weights[i]! / most : 0;
    groups[share < LIGHT ? 0 : 1 + Math.min(BUCKETS - 1, Math.floor(share * BUCKETS))]!.push(i);
  }
  const colours = coloursOf("weights");
  groups.forEach((group, bucket) => {
    if (group.length === 0) return;
    context.beginPath();
    for (const i of group) {
      const r = radius(bucket === 0 ? 0 : weights[i]! / most, data.x.length);
      const px = frame.x(data.x[i]!);
      const py = frame.y(data.y[i]!);
      context.moveTo(px + r, py);
      context.arc(px, py, r, 0, 2 * Math.PI);
    }
    if (bucket === 0) {
      context.strokeStyle = ink.faint;
      context.globalAlpha = 0.75;
      context.lineWidth = 1;
      context.stroke();
      context.globalAlpha = 1;
      return;
    }
    const at = Math.round(((bucket - 0.5) / BUCKETS) * 255) * 3;
    context.fillStyle = `rgb(${colours[at]}, ${colours[at + 1]}, ${colours[at + 2]})`;
    context.fill();
    context.strokeStyle = ink.text;
    context.lineWidth = data.x.length > 600 ? 0.4 : 0.9;
    context.stroke();
  });
}

/** Math.max with millions of arguments overflows the stack; with one a block it does not. */
export function chunked(values: Float64Array): number[] {
  const most: number[] = [0];
  for (let at = 0; at < values.length; at += 4096) most.push(Math.max(...values.subarray(at, at + 4096)));
  return most;
}

function stems(context: CanvasRenderingContext2D, frame: Frame, scene: Scene, ink: Ink): void {
  const { data, attention } = scene;
  const { weights } = attention;
  const most = Math.max(...chunked(weights));
  if (!(most > 0)) return;
  const high = STRIP - 16;
  const colours = coloursOf("weights");
  const thick = data.x.length > 600 ? 1 : data.x.length > 120 ? 2 : 4;
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, frame.width - LEFT - RIGHT, frame.height);
  context.clip();
  for (let i = 0; i < weights.length; i += 1) {
    const share = weights[i]! / most;
    if (share < LIGHT / 4) continue;
    const at = Math.round(share * 255) * 3;
    const px = frame.x(data.x[i]!);
    context.fillStyle = `rgb(${colours[at]}, ${colours[at + 1]}, ${colours[at + 2]})`;
    context.fillRect(px - thick / 2, frame.stripBottom - share * high, thick, share * high);
    // the bright end of the scale needs an edge on white paper, the dark end one on black
    if (thick >= 4) {
      context.strokeStyle = ink.faint;
      context.lineWidth = 0.75;
      context.strokeRect(px - thick / 2, frame.stripBottom - share * high, thick, share * high);
    }
  }
  context.restore();
  context.fillStyle = ink.faint;
  context.textAlign = "right";
  context.textBaseline = "middle";
  const top = Math.round(frame.stripBottom - high) + 0.5;
  context.fillText(short(most), LEFT - 8, top);
  context.fillText("0", LEFT - 8, frame.stripBottom);
  context.strokeStyle = ink.grid;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(LEFT, top);
  context.lineTo(frame.width - RIGHT, top);
  context.stroke();
}

function short(weight: number): string {
  return weight >= 0.995 ? "1" : weight >= 0.001 ? String(Number(weight.toPrecision(2))) : weight.toExponential(0);
}
