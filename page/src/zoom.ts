// The part of a map that is in sight, in places (queries down, keys across), and how it moves.
// Fractions are allowed: a window may begin in the middle of a cell.

export interface Window {
  readonly r0: number;
  readonly r1: number;
  readonly c0: number;
  readonly c1: number;
}

export interface Size {
  readonly rows: number;
  readonly cols: number;
}

/** A place in a map: query and key. */
export interface Cell {
  readonly row: number;
  readonly col: number;
}

/** The fewest places a window may show in one direction: closer than this there is nothing new to see. */
export const CLOSEST = 3;

export function whole({ rows, cols }: Size): Window {
  return { r0: 0, r1: rows, c0: 0, c1: cols };
}

export function isWhole(window: Window, { rows, cols }: Size): boolean {
  return window.r0 <= 0 && window.c0 <= 0 && window.r1 >= rows && window.c1 >= cols;
}

/** Fit a stretch into [0, size]: first its length, then its place. */
function fit(low: number, high: number, size: number): [number, number] {
  const length = Math.min(size, Math.max(Math.min(CLOSEST, size), high - low));
  const start = Math.min(Math.max(0, (low + high - length) / 2), size - length);
  return [start, start + length];
}

export function clamp(window: Window, size: Size): Window {
  const [r0, r1] = fit(window.r0, window.r1, size.rows);
  const [c0, c1] = fit(window.c0, window.c1, size.cols);
  return { r0, r1, c0, c1 };
}

/** One direction of a zoom: the length shrinks by `factor`, the place at share `at` of the way stays where it is. */
function zoomLine(low: number, high: number, size: number, factor: number, at: number): [number, number] {
  const length = Math.min(size, Math.max(Math.min(CLOSEST, size), (high - low) / factor));
  const start = low + at * (high - low - length);
  const held = Math.min(Math.max(0, start), size - length);
  return [held, held + length];
}

/** Zoom by `factor` (above 1: closer), keeping what lies at (x, y), shares of the way across and down, in its place. */
export function zoomAt(window: Window, size: Size, factor: number, x: number, y: number): Window {
  const [r0, r1] = zoomLine(window.r0, window.r1, size.rows, factor, y);
  const [c0, c1] = zoomLine(window.c0, window.c1, size.cols, factor, x);
  return { r0, r1, c0, c1 };
}

/** Move by a number of places. */
export function pan(window: Window, size: Size, rows: number, cols: number): Window {
  const { r0, r1, c0, c1 } = window;
  return clamp({ r0: r0 + rows, r1: r1 + rows, c0: c0 + cols, c1: c1 + cols }, size);
}

/** The cell at (x, y), shares of the way across and down; null outside. */
export function cellAt(window: Window, size: Size, x: number, y: number): Cell | null {
  if (!(x >= 0 && x < 1 && y >= 0 && y < 1)) return null;
  const row = Math.min(size.rows - 1, Math.floor(window.r0 + y * (window.r1 - window.r0)));
  const col = Math.min(size.cols - 1, Math.floor(window.c0 + x * (window.c1 - window.c0)));
  return { row, col };
}

/** Move as little as needed to bring a cell into sight. */
export function reveal(window: Window, size: Size, { row, col }: Cell): Window {
  const down = row < window.r0 ? row - window.r0 : Math.max(0, row + 1 - window.r1);
  const across = col < window.c0 ? col - window.c0 : Math.max(0, col + 1 - window.c1);
  return down === 0 && across === 0 ? window : pan(window, size, down, across);
}

/** Show a cell in the middle of about `span` places each way. */
export function around({ row, col }: Cell, size: Size, span: number): Window {
  const half = span / 2;
  return clamp({ r0: row + 0.5 - half, r1: row + 0.5 + half, c0: col + 0.5 - half, c1: col + 0.5 + half }, size);
}

/** The same part of a map of another size, so that a comparison of unlike maps moves together. */
export function carry(window: Window, from: Size, to: Size): Window {
  if (from.rows === to.rows && from.cols === to.cols) return window;
  const down = to.rows / from.rows;
  const across = to.cols / from.cols;
  return clamp({ r0: window.r0 * down, r1: window.r1 * down, c0: window.c0 * across, c1: window.c1 * across }, to);
}

/** Whole places that cover a window. */
export function outward(window: Window, { rows, cols }: Size): Window {
  return {
    r0: Math.max(0, Math.floor(window.r0)),
    r1: Math.min(rows, Math.ceil(window.r1)),
    c0: Math.max(0, Math.floor(window.c0)),
    c1: Math.min(cols, Math.ceil(window.c1)),
  };
}

/** Which of `cells` cells holds place `at` of a run of `size` places. The same rule pools the tiles. */
export function cellOf(at: number, size: number, cells: number): number {
  return Math.floor((at * cells) / size);
}

/** The first place of cell `cell`: the least `at` for which `cellOf` gives it. */
export function cellStart(cell: number, size: number, cells: number): number {
  return Math.ceil((cell * size) / cells);
}

/** Every how many places a label fits, from 1, 2, 5, 10, 20, 50 ...: `room` pixels are wanted for each. */
export function labelStep(pixelsPerPlace: number, room: number): number {
  const least = room / pixelsPerPlace;
  if (least <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  for (const step of [1, 2, 5, 10]) if (step * power >= least) return Math.max(1, Math.round(step * power));
  return power * 10;
}
