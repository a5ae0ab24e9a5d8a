// All small pictures on one canvas. A canvas for each is slow to scroll and to lay out when there are a thousand.
import { roundUp, type Colouring } from "./colour";
import type { Reduce, ViewDocument } from "./document";
import { leavesEmpty } from "./heatmap/draw";
import { tilePicture } from "./heatmap/paint";
import type { Source } from "./source";

/** Milliseconds of painting in one frame. */
const SLICE = 10;
/** Cells of a small picture, a side, at most. */
const CELLS = 64;
/** Browsers refuse canvases much higher than this. */
const HIGHEST = 16000;

/** Where the picture of a map stands in the list. */
export interface Place {
  readonly map: number;
  readonly x: number;
  readonly y: number;
}

export interface Pictures {
  readonly document: ViewDocument;
  readonly source: Source;
  readonly reduce: Reduce;
  readonly colouring: Colouring;
  readonly size: number;
  readonly places: readonly Place[];
  readonly width: number;
  readonly height: number;
}

export class Sheet {
  private frame = 0;
  private readonly small = document.createElement("canvas");

  constructor(private readonly canvas: HTMLCanvasElement, private readonly done: () => void) {}

  stop(): void {
    cancelAnimationFrame(this.frame);
  }

  /** Paint all, a few milliseconds a frame; `first` gives the height the list is scrolled to, so that what is seen comes first. */
  paint(pictures: Pictures, first: () => number): void {
    this.stop();
    const { canvas } = this;
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1, HIGHEST / Math.max(1, pictures.height));
    canvas.width = Math.max(1, Math.round(pictures.width * ratio));
    canvas.height = Math.max(1, Math.round(pictures.height * ratio));
    canvas.style.width = `${pictures.width}px`;
    canvas.style.height = `${pictures.height}px`;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.imageSmoothingEnabled = false;
    const waiting = [...pictures.places];
    const work = (): void => {
      const until = performance.now() + SLICE;
      const seen = waiting.findIndex(({ y }) => y + pictures.size >= first());
      let at = Math.max(0, seen);
      while (waiting.length > 0 && performance.now() < until) {
        if (at >= waiting.length) at = 0;
        this.one(context, pictures, waiting.splice(at, 1)[0]!);
      }
      if (waiting.length > 0) this.frame = requestAnimationFrame(work);
      else this.done();
    };
    // The first slice at once: a page of a few heads shows them with its first frame.
    work();
  }

  private one(context: CanvasRenderingContext2D, { document: view, source, reduce, colouring, size }: Pictures, place: Place): void {
    const map = view.maps[place.map];
    const small = this.small.getContext("2d", { willReadFrequently: true });
    if (!map || !small) return;
    const tile = source.thumbnail(place.map, Math.min(CELLS, size), reduce);
    const picture = tilePicture(tile, { kind: "weights", colouring, max: roundUp(tile.largest) }, leavesEmpty(map) ? "causal" : "none");
    this.small.width = tile.cols;
    this.small.height = tile.rows;
    small.putImageData(picture, 0, 0);
    context.clearRect(place.x, place.y, size, size);
    context.drawImage(this.small, place.x, place.y, size, size);
  }
}
