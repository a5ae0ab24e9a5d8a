import assert from "node:assert/strict";
import { test } from "node:test";
import { whole } from "../zoom";
import { pressed } from "./keys";

const size = { rows: 20, cols: 10 };
const one = { rows: 1, cols: 1 };
const key = (name: string, more: { shiftKey?: boolean; ctrlKey?: boolean } = {}) => ({ key: name, shiftKey: false, ctrlKey: false, ...more });
const at = (row: number, col: number) => ({ window: whole(size), cursor: { row, col } });

test("arrows walk the cells and stop at the edges", () => {
  assert.deepEqual(pressed(key("ArrowRight"), at(3, 4), size, one)!.cursor, { row: 3, col: 5 });
  assert.deepEqual(pressed(key("ArrowLeft"), at(3, 0), size, one)!.cursor, { row: 3, col: 0 });
  assert.deepEqual(pressed(key("ArrowDown", { shiftKey: true }), at(3, 4), size, one)!.cursor, { row: 13, col: 4 });
  assert.deepEqual(pressed(key("ArrowUp"), at(9, 4), size, { rows: 4, cols: 4 })!.cursor, { row: 5, col: 4 });
  assert.deepEqual(pressed(key("End", { ctrlKey: true }), at(3, 4), size, one)!.cursor, { row: 19, col: 9 });
});

test("the first arrow shows the cursor in the middle", () => {
  assert.deepEqual(pressed(key("ArrowUp"), { window: whole(size), cursor: null }, size, one)!.cursor, { row: 10, col: 5 });
});

test("the window follows the cursor", () => {
  const window = { r0: 0, r1: 5, c0: 0, c1: 5 };
  const after = pressed(key("ArrowDown"), { window, cursor: { row: 4, col: 2 } }, size, one)!;
  assert.deepEqual(after, { cursor: { row: 5, col: 2 }, window: { r0: 1, r1: 6, c0: 0, c1: 5 } });
});

test("zooming by key keeps the cursor in sight; 0 shows all", () => {
  let standing = at(17, 2) as { window: ReturnType<typeof whole>; cursor: { row: number; col: number } | null };
  for (let times = 0; times < 6; times += 1) standing = pressed(key("+"), standing, size, one)!;
  const { window } = standing;
  assert.ok(window.r0 <= 17 && window.r1 >= 18 && window.c0 <= 2 && window.c1 >= 3);
  assert.ok(window.r1 - window.r0 < 5);
  assert.deepEqual(pressed(key("0"), standing, size, one)!.window, whole(size));
});

test("other keys mean nothing to a map", () => {
  assert.equal(pressed(key("q"), at(0, 0), size, one), null);
});
