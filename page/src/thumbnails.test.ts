import assert from "node:assert/strict";
import { test } from "node:test";
import { fitPictures } from "./thumbnails";

const room = (width: number, height: number) => ({ width, height, extra: 0, smallest: 18, scrolling: 28 });

test("pictures are as large as all of them in sight allow", () => {
  const { size, across } = fitPictures(Array<number>(6).fill(12), room(330, 660));
  assert.equal(across, 6);
  assert.ok(6 * 2 * (size + 4) <= 660 && across * (size + 4) <= 334);
  assert.equal(fitPictures(Array<number>(12).fill(12), room(330, 660)).across, 12);
});

test("too many to be seen at once scroll, large enough to be seen", () => {
  const { size, across } = fitPictures(Array<number>(32).fill(32), room(300, 600));
  assert.ok(size >= 30);
  assert.ok(across * (size + 4) <= 304);
});

test("a single picture is not enormous", () => {
  assert.deepEqual(fitPictures([1], room(1000, 1000)), { size: 96, across: 1 });
});

test("columns hold the pictures they are made for, whatever the room", () => {
  for (const groups of [[4], [12, 12], [1000], [3, 1, 7]]) {
    for (const width of [60, 250, 900]) {
      for (const height of [10, 200, 2000]) {
        const { size, across } = fitPictures(groups, room(width, height));
        assert.ok(size > 0 && across >= 1 && across <= Math.max(...groups));
        assert.ok(across === 1 || across * (size + 4) <= width + 4, `${groups} ${width} ${height}`);
      }
    }
  }
});
