import assert from "node:assert/strict";
import { test } from "node:test";
import { documentOf, mapOf } from "./document.test";
import { lineOf } from "./tile";
import { lookSentence, statLines, summary } from "./words";

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
  assert.deepEqual(statLines("en", { entropy: 1.234, first: NaN }), [{ name: "entropy", value: "1.23 nats" }]);
  assert.match(summary("en", document, map, "layer 0, head 0"), /^Heads: 1; layers: 1\. Shown is layer 0, head 0: 3 queries, 3 keys\. Self-attention/);
});
