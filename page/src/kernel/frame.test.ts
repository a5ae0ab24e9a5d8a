import assert from "node:assert/strict";
import { test } from "node:test";
import { domainOf, Frame, pointAt } from "./frame";
import { sorted } from "./kernels";

const data = sorted([0, 1, 1, 4], [2, -2, 3, 0]);

test("the axes hold all data, with room around them", () => {
  const { x, y } = domainOf(data, 0.5, 6);
  assert.ok(x[0] < 0 && x[1] > 6);
  assert.ok(y[0] < -2 && y[1] > 3);
});

test("axes have a length even where the data have none", () => {
  for (const few of [sorted([], []), sorted([3], [5]), sorted([3, 3], [5, 5])]) {
    const { x, y } = domainOf(few, 3, 3);
    assert.ok(x[1] > x[0] && y[1] > y[0]);
  }
});

test("the point under the pointer is the nearest, within a finger's width", () => {
  const frame = new Frame(800, 460, domainOf(data, 0, 4));
  const at = (i: number): [number, number] => [frame.x(data.x[i]!), frame.y(data.y[i]!)];
  for (const i of [0, 1, 2, 3]) {
    const [px, py] = at(i);
    assert.equal(pointAt(frame, data, px + 5, py - 5), i);
  }
  const [px, py] = at(3);
  assert.equal(pointAt(frame, data, px - 40, py), null);
  assert.ok(frame.holds(px, py) && !frame.holds(3, py));
});
