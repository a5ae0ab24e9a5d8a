import assert from "node:assert/strict";
import { test } from "node:test";
import { BEGINNING, formatAddress, parseAddress, type ViewState } from "./address";
import { mapOf } from "./document.test";

const maps = [mapOf({ rows: 40, cols: 30 }), mapOf({ rows: 40, cols: 30, head: 1 })];

test("what is written is read back", () => {
  const state: ViewState = {
    map: 1, other: 0, window: { r0: 2.5, r1: 12.5, c0: 3, c1: 10.25 }, cursor: { row: 4, col: 5 }, pinned: { row: 39, col: 29 },
    colouring: "log", reduce: "max", sort: "entropy", language: "zh",
  };
  assert.deepEqual(parseAddress(`#${formatAddress(state)}`, maps), state);
  assert.equal(formatAddress(BEGINNING), "");
  assert.deepEqual(parseAddress("", maps), BEGINNING);
});

test("what cannot be read is left out", () => {
  const hostile = [
    "map=2", "map=-1", "map=1e3", "map=constructor", "with=9", "at=40,0", "at=1", "at=1,2,3", "at=NaN,NaN", "zoom=1,2,3",
    "zoom=5,1,0,9", "zoom=0,1e9,0,5", "zoom=Infinity,0,0,0", "pin=<script>,1", "sort=__proto__", "lang=de", "pool=sum", "colour=red",
    "%E0%A4%A", "&&==&", "map=%00",
  ];
  for (const fragment of hostile) assert.deepEqual(parseAddress(`#${fragment}`, maps), BEGINNING, fragment);
});

test("a part that reaches past the map is held inside it", () => {
  assert.deepEqual(parseAddress("zoom=30,70,0,10", maps).window, { r0: 0, r1: 40, c0: 0, c1: 10 });
  assert.equal(parseAddress("zoom=0,900,0,900", maps).window, null);
});

test("a document without maps begins at the beginning", () => {
  assert.deepEqual(parseAddress("map=0&pool=max", []), BEGINNING);
});
