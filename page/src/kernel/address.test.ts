import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress, writeAddress } from "./address";

test("what is written is read again", () => {
  const written = writeAddress("#other=1", 2.5, 0.125, "tricube", "zh", true);
  assert.deepEqual(readAddress(`#${written}`), { query: 2.5, width: 0.125, kernel: "tricube", language: "zh" });
  assert.match(written, /other=1/);
});

test("a language that nobody chose is not written", () => {
  assert.equal(readAddress(writeAddress("", -1e-9, 1, "gaussian", "zh", false)).language, null);
});

test("what cannot be read is left out", () => {
  const nothing = { query: null, width: null, kernel: null, language: null };
  for (const fragment of ["", "#", "#x=<b>&w=-1&kernel=evil&lang=xx", "#x=1e999&w=0", "#%E0%A4%A", "#x=Infinity&w=NaN"]) {
    assert.deepEqual(readAddress(fragment), nothing, fragment);
  }
});
