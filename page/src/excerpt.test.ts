import assert from "node:assert/strict";
import { test } from "node:test";
import { excerpts, repeated, shading } from "./excerpt";
import { lineOf } from "./tile";

test("a short text is whole, a long one is cut around its largest weights", () => {
  assert.deepEqual(excerpts(20, [3], null), [{ from: 0, to: 20 }]);
  assert.deepEqual(excerpts(10000, [500, 505, 2], 9999), [{ from: 0, to: 11 }, { from: 492, to: 514 }, { from: 9991, to: 10000 }]);
  assert.deepEqual(excerpts(10000, [], null), []);
});

test("shades are shares of the largest weight", () => {
  const shade = shading(lineOf(Float32Array.from([0.2, 0.4, 0]), null, 1));
  assert.ok(Math.abs(shade(0) - 0.5) < 1e-6);
  assert.equal(shade(1), 1);
  assert.equal(shade(2), 0);
});

test("places beside a peak of a pooled line are not shaded", () => {
  const line = { values: Float32Array.from([0.5, 0]), known: null, places: 8, every: 1, peaks: [{ at: 2, weight: 0.5 }] };
  const shade = shading(line);
  assert.deepEqual([shade(1), shade(2), shade(3)], [0, 1, 0]);
});

test("tokens that are there more than once are known", () => {
  assert.deepEqual([...repeated(["the", "cat", "the", "mat", "cat", "the"])].sort(), ["cat", "the"]);
  assert.equal(repeated([]).size, 0);
});
