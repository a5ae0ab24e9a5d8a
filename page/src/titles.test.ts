import assert from "node:assert/strict";
import { test } from "node:test";
import { mapOf } from "./document.test";
import type { Layer, ViewDocument } from "./document";
import { titlesOf } from "./titles";

const view = (layers: Layer[], places: [layer: number, head: number][], called: ViewDocument["called"] = null): ViewDocument =>
  ({ layers, called, maps: places.map(([layer, head]) => mapOf({ layer, head })) }) as unknown as ViewDocument;

const layer = (name: string, model = "", label: Layer["label"] = null): Layer => ({ name, model, label });

test("a head is called by its layer and number", () => {
  const bert = view([layer("encoder.layer.0.self"), layer("encoder.layer.1.self")], [[0, 0], [0, 1], [1, 0], [1, 1]]);
  assert.deepEqual(titlesOf("en", bert), ["Layer 0, head 0", "Layer 0, head 1", "Layer 1, head 0", "Layer 1, head 1"]);
  assert.equal(titlesOf("zh", bert)[3], "层 1，头 1");
});

test("what there is one of is not counted", () => {
  assert.deepEqual(titlesOf("en", view([layer("")], [[0, 0]])), ["Attention map"]);
  assert.deepEqual(titlesOf("en", view([layer("attention")], [[0, 0]])), ["Layer attention"]);
  assert.deepEqual(titlesOf("en", view([layer("attention")], [[0, 5]])), ["Layer attention, head 5"]);
  assert.deepEqual(titlesOf("en", view([layer("")], [[0, 0], [0, 1]])), ["Head 0", "Head 1"]);
});

test("models and calls are named", () => {
  const models = view([layer("h.0", "before"), layer("h.0 #2", "before"), layer("h.0", "after")], [[0, 0], [0, 1], [1, 0], [1, 1], [2, 3]]);
  assert.deepEqual(titlesOf("en", models), [
    "before, layer h.0, head 0", "before, layer h.0, head 1", "before, layer h.0, call 2, head 0", "before, layer h.0, call 2, head 1",
    "after, layer h.0, head 3",
  ]);
});

test("what is no layer and no head is called what it is", () => {
  const called = { heads: { en: "Translations", zh: "译文" }, head: { en: "translation", zh: "译文" } };
  const found = view([layer("sentence 1", "", { en: "sentence 1", zh: "第 1 句" })], [[0, 1], [0, 2]], called);
  assert.deepEqual(titlesOf("en", found), ["Sentence 1, translation 1", "Sentence 1, translation 2"]);
  assert.deepEqual(titlesOf("zh", found), ["第 1 句，译文 1", "第 1 句，译文 2"]);
});
