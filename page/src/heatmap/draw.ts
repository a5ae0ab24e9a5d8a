// One frame of a map.
import type { Scale } from "../colour";
import type { AttentionMap } from "../document";
import { largestOf, type Tile } from "../tile";
import type { TextKey } from "../texts";
import type { Cell, Window } from "../zoom";
import { Axes, type Ink } from "./axes";
import type { Layout } from "./layout";
import { layTile, tileColours } from "./paint";

export interface Picture {
  readonly layout: Layout;
  readonly width: number;
  readonly height: number;
  readonly window: Window;
  /** From rough to fine: the later covers the earlier. */
  readonly tiles: readonly (Tile | null)[];
  readonly scale: Scale;
  readonly map: AttentionMap;
  readonly ink: Ink;
  readonly cursor: Cell | null;
  readonly pinned: Cell | null;
  readonly entropy: Float32Array | null;
  readonly received: Float32Array | null;
  readonly name: (axis: "row" | "col", place: number) => string;
  readonly say: (key: TextKey) => string;
}

/** Empty cells are those a causal map does not allow. */
export function leavesEmpty(map: AttentionMap): boolean {
  return map.shape === "causal" && map.rows === map.cols;
}

export function draw(canvas: HTMLCanvasElement, context: CanvasRenderingContext2D, picture: Picture): void {
  const ratio = Math.min(3, globalThis.devicePixelRatio || 1);
  const wide = Math.round(picture.width * ratio);
  const high = Math.round(picture.height * ratio);
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, wide, high);
  cells(context, picture, ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  around(context, picture);
}

interface Laid {
  readonly of: readonly unknown[];
  readonly image: ImageData;
}

/** The last picture of each canvas: while only the cursor moves, its cells are not laid again. */
const laid = new WeakMap<HTMLCanvasElement, Laid>();

function cells(context: CanvasRenderingContext2D, picture: Picture, ratio: number): void {
  const { layout: { plot }, window, scale, map } = picture;
  const width = Math.max(1, Math.round(plot.width * ratio));
  const height = Math.max(1, Math.round(plot.height * ratio));
  const { r0, r1, c0, c1 } = window;
  const of = [width, height, r0, r1, c0, c1, scale.kind, scale.colouring, scale.max, map, ...picture.tiles];
  const before = laid.get(context.canvas);
  const same = before && before.of.length === of.length && of.every((part, at) => part === before.of[at]);
  const image = same ? before.image : lay(context.createImageData(width, height), picture);
  if (!same) laid.set(context.canvas, { of, image });
  context.putImageData(image, Math.round(plot.x * ratio), Math.round(plot.y * ratio));
}

function lay(image: ImageData, { tiles, scale, map, window }: Picture): ImageData {
  const pixels = new Uint32Array(image.data.buffer);
  for (const tile of tiles) {
    if (!tile) continue;
    const colours = tileColours(tile, scale, leavesEmpty(map) ? "causal" : "none");
    layTile(pixels, image.width, image.height, window, tile, colours);
  }
  return image;
}

function around(context: CanvasRenderingContext2D, picture: Picture): void {
  const { layout, window, map, ink, cursor, pinned, name } = picture;
  const axes = new Axes(context, layout, window, ink);
  const fine = picture.tiles.at(-1);
  const isEmpty = ({ row, col }: Cell): boolean => leavesEmpty(map) && col > row;
  axes.frame();
  if (fine) axes.cells(fine, picture.scale, isEmpty);
  if (layout.entropy && picture.entropy) {
    axes.strip(layout.entropy, picture.entropy, map.rows, Math.max(Math.log(map.cols), largestOf(picture.entropy)), "rows", picture.say("entropyStrip"));
  }
  if (layout.received && picture.received) {
    axes.strip(layout.received, picture.received, map.cols, largestOf(picture.received), "cols", picture.say("receivedStrip"));
  }
  if (pinned) axes.cross(pinned, true);
  if (cursor) axes.cross(cursor, false);
  const marked = [pinned, cursor].filter((cell): cell is Cell => cell !== null);
  axes.corner(picture.say("queries"), picture.say("keys"));
  axes.rowLabels({ name: (row) => name("row", row), marked: marked.map(({ row }) => row) });
  axes.colLabels({ name: (col) => name("col", col), marked: marked.map(({ col }) => col) });
}
