import assert from "node:assert/strict";
import { test } from "node:test";
import { SORTS } from "./order";
import { grouped, languageOf, quoted, say, TEXTS, type TextKey } from "./texts";

const gaps = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort();

test("every sentence is there in both languages, with the same gaps", () => {
  for (const [key, { en, zh }] of Object.entries(TEXTS)) {
    assert.ok(en.trim() && zh.trim(), key);
    assert.deepEqual(gaps(en), gaps(zh), key);
    if (!["compareA", "compareB", "legendDifference"].includes(key)) assert.match(zh, /[\u4e00-\u9fff，。]/, key);
    assert.doesNotMatch(en, /[\u4e00-\u9fff]/, key);
  }
});

test("every order of heads has a name", () => {
  for (const sort of SORTS) assert.ok(say("zh", `sort_${sort}` as TextKey));
});

test("gaps are filled with text as it is, once", () => {
  assert.equal(say("en", "looksAt", { token: "{token}<b>$&" }), "Where {token}<b>$& looks");
  assert.equal(say("en", "looksAt", { toString: "x" }), "Where {token} looks");
});

test("the reader's language: chosen, then wanted, then the browser's", () => {
  assert.equal(languageOf("zh", "en", ["en"]), "zh");
  assert.equal(languageOf(null, "en", ["zh-CN"]), "en");
  assert.equal(languageOf(null, null, ["de-DE", "zh-TW", "en"]), "zh");
  assert.equal(languageOf(null, null, ["de-DE"]), "en");
});

test("numbers are grouped", () => {
  assert.equal(grouped(100000, "en"), "100,000");
});

test("a token that turns the direction of writing turns its own only", () => {
  assert.equal(quoted("cat"), "“cat”");
  assert.equal(quoted("\u202etac"), "“\u2068\u202etac\u2069”");
});
