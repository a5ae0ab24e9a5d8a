import assert from "node:assert/strict";
import { test } from "node:test";
import type { Backdrop } from "../document";
import { fitted, patchAt, patchesOf } from "./patches";
import { OVERLAY_TEXTS } from "./texts";

const backdrop: Backdrop = { kind: "image", image: "", width: 6, height: 4, rows: 2, cols: 3, offset: 1 };

test("the patches are the keys from the offset on", () => {
  const found = patchesOf(backdrop, Float32Array.of(0.25, 0, 0, 0.125, 0.5, 0, 0.125))!;
  assert.deepEqual([...found.weights], [0, 0, 0.125, 0.5, 0, 0.125]);
  assert.equal(found.at, 3);
  assert.equal(found.most, 0.5);
  assert.equal(found.outside, 0.25);
});

test("weights that do not cover the picture are not shown", () => {
  assert.equal(patchesOf(backdrop, new Float32Array(6)), null);
  assert.equal(patchesOf({ ...backdrop, rows: 0 }, new Float32Array(9)), null);
});

test("a picture keeps its shape", () => {
  assert.deepEqual(fitted(28, 28, 600, 300), [300, 300]);
  assert.deepEqual(fitted(100, 10, 600, 300), [600, 60]);
});

test("every place has its patch, and what is outside none", () => {
  assert.equal(patchAt(backdrop, 300, 200, 0, 0), 0);
  assert.equal(patchAt(backdrop, 300, 200, 299.9, 199.9), 5);
  assert.equal(patchAt(backdrop, 300, 200, 100, 100), 4);
  assert.equal(patchAt(backdrop, 300, 200, 300, 100), null);
});

test("every sentence is there in both languages, with the same gaps", () => {
  const gaps = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort();
  for (const [key, { en, zh }] of Object.entries(OVERLAY_TEXTS)) {
    assert.deepEqual(gaps(en), gaps(zh), key);
    assert.match(zh, /[\u4e00-\u9fff]/, key);
  }
});
