import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { check, DocumentError, gridValues, inflate, numbers, parseHeader, tokenAt, topWeights, type AttentionMap, type ViewDocument } from "./document";

/** A map with everything set but what is asked for. */
export function mapOf(parts: Partial<AttentionMap>): AttentionMap {
  return {
    layer: 0, head: 0, rows: 2, cols: 2, row_tokens: null, col_tokens: null, shape: "self",
    stats: {}, grids: [], top: null, entropy: null, received: null, ...parts,
  };
}

export function documentOf(parts: Partial<ViewDocument>): ViewDocument {
  return { ...parseHeader('{"format": "regard.view/1"}'), ...parts };
}

test("half floats are read as they are", () => {
  const bits = [0x0000, 0x3c00, 0x3555, 0x0001, 0x03ff, 0x0400, 0x7bff, 0xc000, 0x7c00];
  const wanted = [0, 1, 0.333251953125, 2 ** -24, 1023 * 2 ** -24, 2 ** -14, 65504, -2, Infinity];
  const bytes = Uint16Array.from(bits).buffer as ArrayBuffer;
  assert.deepEqual([...numbers(bytes, { at: 0, type: "f2", count: bits.length })], wanted);
});

test("bytes are shares of the grid's largest value", () => {
  const bytes = Uint8Array.from([0, 0, 0, 0, 0, 51, 255, 0]).buffer as ArrayBuffer;
  const grid = { reduce: "mass", rows: 1, cols: 3, type: "u1", at: 4, one: 0.5, every: 1 } as const;
  assert.deepEqual([...gridValues(bytes, grid)].map((value) => Number(value.toFixed(6))), [0, 0.1, 0.5]);
});

test("full floats and places are read at their offset", () => {
  const bytes = new ArrayBuffer(24);
  new Float32Array(bytes, 4, 2).set([0.25, 0.75]);
  new Uint16Array(bytes, 12, 4).set([7, 8, 9, 1]);
  new Uint16Array(bytes, 20, 2).set([0x3c00, 0x3800]);
  assert.deepEqual([...numbers(bytes, { at: 4, type: "f4", count: 2 })], [0.25, 0.75]);
  const top = topWeights(bytes, mapOf({ top: { count: 1, keys: { at: 12, type: "u2" }, weights: { at: 20, type: "f2" } } }));
  assert.deepEqual([...top!.keys], [7, 8]);
  assert.deepEqual([...top!.weights], [1, 0.5]);
  assert.equal(topWeights(bytes, mapOf({})), null);
});

test("a block is unpacked", async () => {
  const bytes = await inflate(`\n${deflateSync(Buffer.from([1, 2, 3])).toString("base64")}\n`);
  assert.deepEqual([...new Uint8Array(bytes)], [1, 2, 3]);
  assert.equal((await inflate("")).byteLength, 0);
  await assert.rejects(inflate(Buffer.from([1, 2, 3]).toString("base64")));
});

test("a header of another format is refused, and says so", () => {
  assert.throws(() => parseHeader('{"format": "regard.view/2"}'), /regard\.view\/2; wanted regard\.view\/1/);
  assert.throws(() => parseHeader("{"), DocumentError);
  assert.throws(() => parseHeader("null"), DocumentError);
  assert.deepEqual(parseHeader('{"format": "regard.view/1", "title": "<b>"}').title, "<b>");
});

test("a torn block is refused", () => {
  const grid = { reduce: "exact", rows: 2, cols: 2, type: "f4", at: 0, one: 1, every: 1 } as const;
  const document = documentOf({ maps: [mapOf({ grids: [grid] })] });
  check(document, new ArrayBuffer(16));
  assert.throws(() => check(document, new ArrayBuffer(15)), /0 to 16, but there are 15 bytes/);
  const moved = documentOf({ maps: [mapOf({ grids: [{ ...grid, at: -4 }] })] });
  assert.throws(() => check(moved, new ArrayBuffer(64)), DocumentError);
});

test("places without tokens are counted", () => {
  const document = documentOf({ tokens: [["the", "cat"]] });
  assert.equal(tokenAt(document, 0, 1), "cat");
  assert.equal(tokenAt(document, 0, 2), "2");
  assert.equal(tokenAt(document, null, 1), "1");
});
