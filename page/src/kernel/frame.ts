// Where things stand on the canvas: one axis of x for the points and for their weights below.
import { scaleLinear, type ScaleLinear } from "d3-scale";
import type { Data } from "./kernels";

export const LEFT = 58;
export const RIGHT = 14;
export const TOP = 12;
export const STRIP = 74;
const BETWEEN = 16;
const BOTTOM = 38;
const FINGER = 14; // pixels

/** Where things stand: the axes of one size of canvas. */
export class Frame {
  readonly x: ScaleLinear<number, number>;
  readonly y: ScaleLinear<number, number>;
  readonly plotBottom: number;
  readonly stripTop: number;
  readonly stripBottom: number;

  constructor(readonly width: number, readonly height: number, domain: Domain) {
    this.stripBottom = height - BOTTOM;
    this.stripTop = this.stripBottom - STRIP;
    this.plotBottom = this.stripTop - BETWEEN;
    this.x = scaleLinear(domain.x, [LEFT, width - RIGHT]);
    this.y = scaleLinear(domain.y, [this.plotBottom, TOP]);
  }

  /** Whether a place on the canvas belongs to the axes. */
  holds(px: number, py: number): boolean {
    return px >= LEFT && px <= this.width - RIGHT && py >= TOP && py <= this.stripBottom;
  }
}

export interface Domain {
  readonly x: [number, number];
  readonly y: [number, number];
}

/** The data with room around them: the query may leave them a little. */
export function domainOf(data: Data, from: number, to: number): Domain {
  const { x, y } = data;
  const low = Math.min(from, x[0] ?? from);
  const high = Math.max(to, x[x.length - 1] ?? to);
  const room = (high - low || 1) * 0.06;
  let bottom = Infinity;
  let top = -Infinity;
  for (const value of y) {
    if (value < bottom) bottom = value;
    if (value > top) top = value;
  }
  if (!(top >= bottom)) [bottom, top] = [0, 1];
  const above = (top - bottom || 1) * 0.08;
  return { x: [low - room, high + room], y: [bottom - above, top + above] };
}

/** The point under the pointer: the nearest within a finger's width, else none. */
export function pointAt(frame: Frame, data: Data, px: number, py: number): number | null {
  let found: number | null = null;
  let least = FINGER * FINGER;
  for (let i = 0; i < data.x.length; i += 1) {
    const dx = frame.x(data.x[i]!) - px;
    if (dx > FINGER) break;
    if (dx < -FINGER) continue;
    const dy = frame.y(data.y[i]!) - py;
    const gap = dx * dx + dy * dy;
    if (gap < least) {
      least = gap;
      found = i;
    }
  }
  return found;
}
