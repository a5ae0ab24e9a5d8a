import assert from "node:assert/strict";
import { test } from "node:test";
import { mapOf } from "./document.test";
import { counterpart, headName, isSort, layerNames, sortMaps } from "./order";

const maps = [
  mapOf({ layer: 1, head: 0, stats: { entropy: 2, first: 0.1 } }),
  mapOf({ layer: 0, head: 1, stats: { entropy: 1, first: 0.9 } }),
  mapOf({ layer: 0, head: 0, stats: {} }),
  mapOf({ layer: 0, head: 2, stats: { entropy: 1, first: 0.5 } }),
];

test("heads are sorted, ties stay in order, the unknown comes last", () => {
  assert.deepEqual(sortMaps(maps, "layer"), [2, 1, 3, 0]);
  assert.deepEqual(sortMaps(maps, "entropy"), [1, 3, 0, 2]);
  assert.deepEqual(sortMaps(maps, "first"), [1, 3, 0, 2]);
  assert.deepEqual(sortMaps(maps, "distance"), [0, 1, 2, 3]);
});

test("only known orders are orders", () => {
  assert.ok(isSort("diagonality"));
  assert.ok(!isSort("toString"));
  assert.ok(!isSort(null));
});

test("layers are named by what tells them apart", () => {
  const named = (...names: string[]) => layerNames(names.map((name) => ({ name, model: "" })), "en");
  assert.deepEqual(named("encoder.layer.0.attention.self", "encoder.layer.11.attention.self"), ["0", "11"]);
  assert.deepEqual(named("encoder.0.self", "decoder.0.self", "decoder.0.cross"), ["encoder.0.self", "decoder.0.self", "decoder.0.cross"]);
  assert.deepEqual(named("attention"), ["attention"]);
  assert.deepEqual(named("", ""), ["0", "1"]);
  assert.deepEqual(named("h.0.attn", "h.1.attn", "h.0.attn #2", "h.1.attn #2"), ["0", "1", "0 #2", "1 #2"]);
  assert.deepEqual(named("attention", "attention #2"), ["attention", "attention #2"]);
});

test("layers of two models are told apart", () => {
  const layers = [{ name: "h.0", model: "A" }, { name: "h.1", model: "A" }, { name: "h.0", model: "B" }];
  assert.deepEqual(layerNames(layers, "en"), ["A 0", "A 1", "B h.0"]);
  assert.equal(headName(mapOf({ layer: 1, head: 3 }), ["A 0", "A 1"]), "A 1·3");
});

test("a layer that is no module is called what it is, in the reader's language", () => {
  const layers = [{ name: "sentence 1", model: "", label: { en: "sentence 1", zh: "第 1 句" } }];
  assert.deepEqual(layerNames(layers, "zh"), ["第 1 句"]);
});

test("the counterpart of a head is the same one of the next model", () => {
  const layers = ["A", "B", "B"].map((model, at) => ({ name: `h.${at}`, model }));
  const maps = [mapOf({ layer: 0, head: 0 }), mapOf({ layer: 0, head: 1 }), mapOf({ layer: 1, head: 1 }), mapOf({ layer: 2, head: 0 })];
  assert.equal(counterpart({ layers, maps }, 1), 2);
  assert.equal(counterpart({ layers, maps }, 2), 1);
  assert.equal(counterpart({ layers, maps }, 0), null);
  assert.equal(counterpart({ layers, maps }, 3), null);
  assert.equal(counterpart({ layers: layers.slice(0, 1), maps: maps.slice(0, 2) }, 0), null);
});
