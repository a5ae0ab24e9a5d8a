import assert from "node:assert/strict";
import { test } from "node:test";
import { documentOf, mapOf } from "./document.test";
import { parseAnswer, snapped } from "./live";
import { Latest } from "./latest";
import { Embedded, Recent } from "./source";
import { crop, indexIn, isExact, largestPlaces, subtract, type Tile } from "./tile";

const near = (left: number, right: number, within = 1e-5): void =>
  assert.ok(Math.abs(left - right) <= within, `${left} is not ${right}`);

const ROWS = 12;
const COLS = 9;

/** Weights whose rows sum to one, and their exact, pooled and top forms. */
function example(shape: "cross" | "causal" = "cross", cols = COLS) {
  const weights = new Float32Array(ROWS * cols);
  for (let row = 0; row < ROWS; row += 1) {
    let sum = 0;
    for (let col = 0; col < cols; col += 1) {
      if (shape === "causal" && col > row) continue;
      const value = 1 + ((row * 7 + col * 13) % 11) ** 2;
      weights[row * cols + col] = value;
      sum += value;
    }
    for (let col = 0; col < cols; col += 1) weights[row * cols + col]! /= sum;
  }
  return weights;
}

function exactSource(weights: Float32Array): Embedded {
  const grid = { reduce: "exact", rows: ROWS, cols: COLS, type: "f4", at: 0, one: 1, every: 1 } as const;
  return new Embedded(documentOf({ maps: [mapOf({ rows: ROWS, cols: COLS, shape: "cross", grids: [grid] })] }), weights.buffer as ArrayBuffer);
}

/** The same weights as two grids of 4 x 3 and the `count` largest of every query (f4 throughout, so that sums can be checked). */
function pooledSource(weights: Float32Array, count: number, shape: "cross" | "causal" = "cross", cols = COLS): Embedded {
  const full = new Embedded(
    documentOf({ maps: [mapOf({ rows: ROWS, cols, grids: [{ reduce: "exact", rows: ROWS, cols, type: "f4", at: 0, one: 1, every: 1 }] })] }),
    weights.buffer as ArrayBuffer,
  );
  const bytes = new ArrayBuffer(4096);
  const whole = { r0: 0, r1: ROWS, c0: 0, c1: cols };
  const mass = full.tile(0, whole, 3, "mass");
  const max = full.tile(0, whole, 3, "max");
  new Float32Array(bytes, 0, 9).set(mass.values);
  new Float32Array(bytes, 64, 9).set(max.values);
  for (let row = 0; row < ROWS; row += 1) {
    const line = weights.subarray(row * cols, (row + 1) * cols);
    const places = [...line.keys()].sort((a, b) => line[b]! - line[a]!).slice(0, count);
    new Uint16Array(bytes, 1024, ROWS * count).set(places, row * count);
    new Float32Array(bytes, 2048, ROWS * count).set(places.map((at) => line[at]!), row * count);
  }
  const grid = { rows: 3, cols: 3, type: "f4", one: 0, every: 1 } as const;
  const map = mapOf({
    rows: ROWS, cols, shape,
    grids: [{ ...grid, reduce: "mass", at: 0 }, { ...grid, reduce: "max", at: 64 }],
    top: count ? { count, keys: { at: 1024, type: "u2" }, weights: { at: 2048, type: "f4" } } : null,
  });
  return new Embedded(documentOf({ maps: [map] }), bytes);
}

const whole = { r0: 0, r1: ROWS, c0: 0, c1: COLS };

test("an exact tile is the weights themselves", () => {
  const weights = example();
  const tile = exactSource(weights).tile(0, { r0: 2.4, r1: 5.5, c0: 1.9, c1: 4 }, 64, "mass");
  assert.deepEqual(tile.window, { r0: 2, r1: 6, c0: 1, c1: 4 });
  assert.ok(isExact(tile));
  assert.equal(tile.values[indexIn(tile, 3, 2)], weights[3 * COLS + 2]);
  assert.equal(indexIn(tile, 3, 4), -1);
});

test("pooled rows of mass sum to one; max is the largest weight of the cell", () => {
  const weights = example();
  const source = exactSource(weights);
  const mass = source.tile(0, whole, 5, "mass");
  assert.deepEqual([mass.rows, mass.cols], [4, 5]);
  for (let row = 0; row < 4; row += 1) near(mass.values.subarray(row * 5, row * 5 + 5).reduce((a, b) => a + b), 1);
  assert.equal(source.tile(0, whole, 1, "max").values[0], Math.max(...weights));
});

test("pooled cells are put together without losing mass, whatever the tile", () => {
  const source = pooledSource(example(), 2);
  for (const cells of [2, 3, 5, 12]) {
    const tile = source.tile(0, whole, cells, "mass");
    for (let row = 0; row < tile.rows; row += 1) {
      const sum = tile.values.subarray(row * tile.cols, (row + 1) * tile.cols).reduce((a, b) => a + b);
      near(sum, 1, cells === 3 ? 1e-5 : 0.35);
    }
    near(tile.values.reduce((a, b) => a + b) / tile.rows, 1, 0.02);
  }
});

test("a tile of the grid's own cells is the grid", () => {
  const weights = example();
  const pooled = pooledSource(weights, 3).tile(0, whole, 3, "mass");
  const exact = exactSource(weights).tile(0, whole, 3, "mass");
  exact.values.forEach((value, at) => near(pooled.values[at]!, value));
  assert.ok(pooled.known!.every((known) => known === 1));
});

test("known weights stand exactly where they belong and the others are marked", () => {
  const weights = example();
  const tile = pooledSource(weights, 2).tile(0, whole, 64, "max");
  let known = 0;
  tile.known!.forEach((flag, at) => {
    if (!flag) return;
    known += 1;
    assert.equal(tile.values[at], weights[at]);
  });
  assert.equal(known, 2 * ROWS);
});

test("an estimate is not above the least known weight of its query", () => {
  // One query of a pooled cell looks at a single key, the others at all of them: the rest, spread evenly, is too much for some.
  const weights = example();
  weights.fill(1 / COLS, 0, 3 * COLS);
  weights.fill(0, 3 * COLS, 4 * COLS);
  weights[3 * COLS + 4] = 1;
  const tile = pooledSource(weights, 2).tile(0, whole, 64, "mass");
  for (let row = 0; row < ROWS; row += 1) {
    const known = [...tile.values.keys()].filter((at) => Math.floor(at / COLS) === row && tile.known![at]);
    const least = Math.min(...known.map((at) => tile.values[at]!));
    for (let at = row * COLS; at < (row + 1) * COLS; at += 1) if (!tile.known![at]) assert.ok(tile.values[at]! <= least);
  }
});

test("a reading is exact where the weight is known, and tells of the pooled cell where not", () => {
  const weights = example();
  const source = pooledSource(weights, 1);
  const line = weights.subarray(0, COLS);
  const best = line.indexOf(Math.max(...line));
  assert.equal(source.reading(0, 0, best).weight, line[best]);
  const other = source.reading(0, 0, (best + 1) % COLS);
  assert.equal(other.weight, null);
  assert.ok(other.pooled!.max! >= 0 && other.pooled!.mass > 0);
  for (let col = 0; col < COLS; col += 1) {
    const { weight, pooled } = source.reading(0, 0, col);
    if (weight === null) assert.ok(line[col]! <= pooled!.below! && pooled!.below! <= line[best]!);
  }
});

test("what a causal map forbids is known to be nothing", () => {
  const weights = example("causal", ROWS);
  const source = pooledSource(weights, 2, "causal", ROWS);
  assert.equal(source.reading(0, 3, 5).weight, 0);
  const tile = source.tile(0, { r0: 0, r1: ROWS, c0: 0, c1: ROWS }, 64, "mass");
  for (let row = 0; row < ROWS; row += 1) {
    for (let col = row + 1; col < ROWS; col += 1) {
      assert.equal(tile.values[indexIn(tile, row, col)], 0);
      assert.equal(tile.known![indexIn(tile, row, col)], 1);
    }
  }
});

test("a line lists its largest weights, known ones only", () => {
  const weights = example();
  const row = exactSource(weights).line(0, "row", 4);
  assert.equal(row.peaks[0]!.weight, Math.max(...weights.subarray(4 * COLS, 5 * COLS)));
  const col = exactSource(weights).line(0, "col", 2);
  assert.equal(col.values[7], weights[7 * COLS + 2]);
  const known = pooledSource(weights, 2).line(0, "row", 4);
  assert.equal(known.peaks.length, 2);
  assert.equal(known.peaks[0]!.weight, row.peaks[0]!.weight);
  assert.equal(known.values.length, COLS);
});

test("a difference is taken cell by cell", () => {
  const tile = exactSource(example()).tile(0, whole, 64, "mass");
  const none = subtract(tile, tile) as Tile;
  assert.equal(none.largest, 0);
  assert.equal(subtract(tile, { ...tile, rows: 1 }), null);
});

test("the largest places are found in order", () => {
  assert.deepEqual(largestPlaces([0.1, 0.5, 0, 0.5, 0.9], 3), [4, 1, 3]);
  assert.deepEqual(largestPlaces([0, 0], 3), []);
});

test("answers of a server are read, torn ones refused", () => {
  const body = new ArrayBuffer(16 + 8);
  new Int32Array(body, 0, 4).set([0x31544752, 1, 2, 3]);
  new Float32Array(body, 16).set([0.5, 0.25]);
  assert.deepEqual({ ...parseAnswer(body), values: [...parseAnswer(body).values] }, { rows: 1, cols: 2, every: 3, values: [0.5, 0.25] });
  assert.throws(() => parseAnswer(body.slice(0, 20)), /torn/);
  assert.throws(() => parseAnswer(new ArrayBuffer(40)), /not a tile/);
});

test("a live tile covers its window, and small moves ask for the same", () => {
  const size = { rows: 100000, cols: 100000 };
  const window = { r0: 1030.5, r1: 1290.5, c0: 5000, c1: 5260 };
  const around = snapped(window, size);
  assert.ok(around.r0 <= 1030 && around.r1 >= 1291 && around.c0 <= 5000 && around.c1 >= 5260);
  assert.deepEqual(snapped({ r0: 1034, r1: 1294, c0: 5003, c1: 5263 }, size), around);
});

test("the values last used are kept", () => {
  const recent = new Recent<string, number>(2);
  recent.set("a", 1);
  recent.set("b", 2);
  recent.get("a");
  recent.set("c", 3);
  assert.deepEqual([recent.get("a"), recent.get("b"), recent.get("c")], [1, undefined, 3]);
});

test("of the questions asked while one is answered only the last is put", async () => {
  const latest = new Latest();
  const put: number[] = [];
  const done: number[] = [];
  const unwanted = (error: unknown): never => assert.fail(String(error));
  for (const number of [1, 2, 3, 4]) {
    latest.ask(
      async () => {
        put.push(number);
        await null;
        return number;
      },
      (answer) => done.push(answer),
      unwanted,
    );
  }
  await new Promise((soon) => setTimeout(soon, 0));
  assert.deepEqual(put, [1, 4]);
  assert.deepEqual(done, [1, 4]);
  latest.ask(() => 5, (answer) => done.push(answer), unwanted);
  assert.equal(done.at(-1), 5);
});

test("a small picture of a pooled map has the mass of its grid", () => {
  const source = pooledSource(example(), 2);
  const small = source.thumbnail(0, 2, "mass");
  assert.deepEqual([small.rows, small.cols], [2, 2]);
  near(small.values[0]! + small.values[1]!, 1);
  assert.deepEqual(small.window, whole);
});

test("a part of an exact tile is exact; of a pooled one there is none", () => {
  const weights = example();
  const tile = exactSource(weights).tile(0, { r0: 2, r1: 8, c0: 1, c1: 7 }, 64, "mass");
  const part = crop(tile, { r0: 3, r1: 5, c0: 4, c1: 7 })!;
  assert.equal(part.values[indexIn(part, 4, 6)], weights[4 * COLS + 6]);
  assert.equal(part.largest, Math.max(...part.values));
  assert.equal(crop(tile, { r0: 3, r1: 9, c0: 4, c1: 7 }), null);
  assert.equal(crop(exactSource(weights).tile(0, whole, 3, "mass"), { r0: 0, r1: 2, c0: 0, c1: 2 }), null);
});
