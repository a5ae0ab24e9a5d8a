// Cells as pixels: every device pixel is the colour of the cell below its centre, so that what is seen and what is
// pointed at agree to the pixel.
import { brokenColour, coloursOf, share, type Rgb, type Scale } from "../colour";
import { cellOf, type Window } from "../zoom";
import { edgesOf, type Tile } from "../tile";

/** A causal map leaves out what no query may look at; such cells stay empty, unlike weights of nothing. */
export type Empty = "none" | "causal";

/** The colour of every cell of a tile as one 32-bit number (alpha, blue, green, red); 0 is empty. */
export function tileColours(tile: Tile, scale: Scale, empty: Empty): Uint32Array {
  const colours = coloursOf(scale.kind);
  const pack = ([red, green, blue]: Rgb): number => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  const packed = new Uint32Array(256);
  for (let at = 0; at < 256; at += 1) packed[at] = pack([colours[at * 3]!, colours[at * 3 + 1]!, colours[at * 3 + 2]!]);
  const broken = pack(brokenColour(scale.kind));
  const out = new Uint32Array(tile.values.length);
  for (let at = 0; at < out.length; at += 1) {
    const value = tile.values[at]!;
    out[at] = Number.isNaN(value) ? broken : packed[Math.round(share(scale, value) * 255)]!;
  }
  if (empty === "causal") blank(tile, out);
  return out;
}

/** Empty the cells whose first key comes after their last query. */
function blank({ window, rows, cols }: Tile, out: Uint32Array): void {
  const down = edgesOf(window.r1 - window.r0, rows);
  const across = edgesOf(window.c1 - window.c0, cols);
  for (let row = 0; row < rows; row += 1) {
    const last = window.r0 + down[row + 1]! - 1;
    for (let col = 0; col < cols; col += 1) {
      if (window.c0 + across[col]! > last) out[row * cols + col] = 0;
    }
  }
}

/** For each pixel of a side, the cell of the tile below its centre; -1 where the tile does not reach. */
function pixelCells(pixels: number, from: number, to: number, start: number, end: number, cells: number): Int32Array {
  return Int32Array.from({ length: pixels }, (_, pixel) => {
    const place = Math.floor(from + ((pixel + 0.5) / pixels) * (to - from));
    return place < start || place >= end ? -1 : cellOf(place - start, end - start, cells);
  });
}

/** Lay a tile into a picture of `width` x `height` pixels that shows `window`. Where the tile does not reach nothing changes. */
export function layTile(into: Uint32Array, width: number, height: number, window: Window, tile: Tile, colours: Uint32Array): void {
  const { window: own } = tile;
  const across = pixelCells(width, window.c0, window.c1, own.c0, own.c1, tile.cols);
  const down = pixelCells(height, window.r0, window.r1, own.r0, own.r1, tile.rows);
  const covers = across.every((cell) => cell >= 0);
  for (let y = 0; y < height; y += 1) {
    const row = down[y]!;
    if (row < 0) continue;
    const to = y * width;
    // Most pixel rows repeat the one above.
    if (covers && y > 0 && down[y - 1] === row) {
      into.copyWithin(to, to - width, to);
      continue;
    }
    const from = row * tile.cols;
    for (let x = 0; x < width; x += 1) {
      const col = across[x]!;
      if (col >= 0) into[to + x] = colours[from + col]!;
    }
  }
}

/** A picture of a whole tile, one pixel a cell. */
export function tilePicture(tile: Tile, scale: Scale, empty: Empty): ImageData {
  const picture = new ImageData(tile.cols, tile.rows);
  new Uint32Array(picture.data.buffer).set(tileColours(tile, scale, empty));
  return picture;
}
