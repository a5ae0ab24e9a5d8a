import assert from "node:assert/strict";
import { test } from "node:test";
import { NAMES } from "./kernels";
import { KERNEL_TEXTS, teller } from "./texts";

const gaps = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort();

test("every sentence is there in both languages, with the same gaps", () => {
  for (const [key, { en, zh }] of Object.entries(KERNEL_TEXTS)) {
    assert.deepEqual(gaps(en), gaps(zh), key);
    assert.match(zh, /[\u4e00-\u9fff]/, key);
    assert.doesNotMatch(en, /[\u4e00-\u9fff]/, key);
  }
});

test("every kernel has a name", () => {
  for (const name of NAMES) assert.ok(Object.hasOwn(KERNEL_TEXTS, `kernel_${name}`), name);
});

test("gaps are filled once, with text as it is", () => {
  assert.equal(teller("en")("widthIs", { width: "{width}$&" }), "bandwidth {width}$&");
});
