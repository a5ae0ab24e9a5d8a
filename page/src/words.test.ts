import assert from "node:assert/strict";
import { test } from "node:test";
import { documentOf, mapOf } from "./document.test";
import { lineOf } from "./tile";
import { kindSentence, lookSentence, statLines, summary, tellingStats } from "./words";

const document = documentOf({ tokens: [["the", "cat", "."]], maps: [mapOf({ rows: 3, cols: 3, row_tokens: 0, col_tokens: 0 })] });
const map = document.maps[0]!;

test("a row is a sentence, in both languages", () => {
  const line = lineOf(Float32Array.from([0.7125, 0.002, 0.12]), null, 1);
  assert.equal(lookSentence("en", document, map, 1, line), "“cat” looks 71 % at “the”, 12 % at “.”.");
  assert.equal(lookSentence("zh", document, map, 1, line), "“cat” 有 71 % 看向 “the”，12 % 看向 “.”。");
});

test("a query that looks at nothing says so", () => {
  assert.equal(lookSentence("en", document, map, 0, lineOf(new Float32Array(3), null, 1)), "“the” looks at nothing.");
});

test("only known figures are told", () => {
  const stats = { entropy: 1.234, first: NaN };
  assert.deepEqual(statLines("en", { stats, grids: [] }), [{ name: "entropy", value: "1.23 nats" }]);
  const grid = { reduce: "mass", rows: 1, cols: 1, type: "u1", at: 0, one: 1, every: 3 } as const;
  assert.deepEqual(statLines("en", { stats, grids: [grid] }), [{ name: "entropy", value: "≈ 1.23 nats" }]);
  assert.match(summary("en", document, map, "layer 0, head 0"), /^Heads: 1; layers: 1\. Shown is layer 0, head 0: 3 queries, 3 keys\. Self-attention/);
});

test("the module is named in full where the title has a part of its name", () => {
  const named = (name: string, label: { en: string; zh: string } | null = null) =>
    kindSentence("en", documentOf({ layers: [{ name, model: "", label }] }), map);
  assert.equal(named("encoder.0.self"), "Self-attention: every token looks at every token. (encoder.0.self)");
  assert.equal(named("attention"), "Self-attention: every token looks at every token.");
  assert.equal(named("x.y", { en: "sentence 1", zh: "第 1 句" }), "Self-attention: every token looks at every token.");
});

test("of looks at a picture only the entropy means something", () => {
  const over = mapOf({ stats: { entropy: 1, distance: 9, first: 0.5 } });
  assert.deepEqual(tellingStats(documentOf({ backdrop: { kind: "image" } as never }), over), { entropy: 1 });
  assert.deepEqual(tellingStats(documentOf({}), over), over.stats);
});
