import assert from "node:assert/strict";
import { test } from "node:test";
import { around, carry, cellAt, cellOf, cellStart, clamp, CLOSEST, labelStep, outward, pan, reveal, whole, zoomAt } from "./zoom";

const size = { rows: 300, cols: 120 };

test("zooming in keeps the cell under the cursor, wherever the cursor is", () => {
  for (const [x, y] of [[0.103, 0.898], [0.501, 0.503], [0.999, 0.001], [0, 0]] as const) {
    let window = whole(size);
    const cell = cellAt(window, size, x, y);
    for (let step = 0; step < 30; step += 1) {
      window = zoomAt(window, size, 1.3, x, y);
      assert.deepEqual(cellAt(window, size, x, y), cell);
    }
    assert.ok(window.r1 - window.r0 >= CLOSEST - 1e-9);
  }
});

test("zooming out ends at the whole map and goes no further", () => {
  let window = around({ row: 290, col: 3 }, size, 8);
  for (let step = 0; step < 40; step += 1) window = zoomAt(window, size, 1 / 1.5, 0.2, 0.7);
  assert.deepEqual(window, whole(size));
});

test("zooming out undoes zooming in where no edge is near", () => {
  const window = { r0: 100, r1: 140, c0: 40, c1: 60 };
  const back = zoomAt(zoomAt(window, size, 1.7, 0.3, 0.6), size, 1 / 1.7, 0.3, 0.6);
  for (const key of ["r0", "r1", "c0", "c1"] as const) assert.ok(Math.abs(back[key] - window[key]) < 1e-9);
});

test("panning stops at the edges and keeps the size", () => {
  const window = { r0: 10, r1: 30, c0: 10, c1: 20 };
  assert.deepEqual(pan(window, size, -50, 5), { r0: 0, r1: 20, c0: 15, c1: 25 });
  assert.deepEqual(pan(window, size, 1000, 1000), { r0: 280, r1: 300, c0: 110, c1: 120 });
});

test("a window outside the map, upside down or too small is put right", () => {
  assert.deepEqual(clamp({ r0: -5, r1: 900, c0: -5, c1: 900 }, size), whole(size));
  assert.deepEqual(clamp({ r0: 10, r1: 10, c0: 5, c1: 4 }, size), { r0: 8.5, r1: 11.5, c0: 3, c1: 6 });
  assert.deepEqual(clamp({ r0: 0, r1: 9, c0: 0, c1: 9 }, { rows: 1, cols: 2 }), { r0: 0, r1: 1, c0: 0, c1: 2 });
});

test("a cell is revealed with the least movement", () => {
  const window = { r0: 10, r1: 30, c0: 10, c1: 20 };
  assert.equal(reveal(window, size, { row: 12, col: 12 }), window);
  assert.deepEqual(reveal(window, size, { row: 30, col: 9 }), { r0: 11, r1: 31, c0: 9, c1: 19 });
});

test("nothing lies outside the plot", () => {
  assert.equal(cellAt(whole(size), size, 1, 0.5), null);
  assert.equal(cellAt(whole(size), size, -0.01, 0.5), null);
  assert.equal(cellAt(whole(size), size, NaN, 0.5), null);
});

test("cells begin where the rule of the tiles says", () => {
  for (const [places, cells] of [[10, 3], [512, 64], [7, 7], [1000, 256], [3, 1]] as const) {
    for (let cell = 0; cell < cells; cell += 1) {
      const start = cellStart(cell, places, cells);
      assert.equal(cellOf(start, places, cells), cell);
      if (start > 0) assert.equal(cellOf(start - 1, places, cells), cell - 1);
    }
  }
});

test("a window grows outward to whole places", () => {
  assert.deepEqual(outward({ r0: 1.5, r1: 3.2, c0: 0, c1: 119.5 }, size), { r0: 1, r1: 4, c0: 0, c1: 120 });
});

test("labels are thinned to round steps", () => {
  assert.equal(labelStep(20, 14), 1);
  assert.equal(labelStep(7, 14), 2);
  assert.equal(labelStep(1, 14), 20);
  assert.equal(labelStep(0.001, 14), 20000);
});

test("a window is carried to a map of another size as the same share", () => {
  const window = { r0: 30, r1: 60, c0: 12, c1: 24 };
  assert.deepEqual(carry(window, size, { rows: 30, cols: 60 }), { r0: 3, r1: 6, c0: 6, c1: 12 });
  assert.equal(carry(window, size, { ...size }), window);
});
