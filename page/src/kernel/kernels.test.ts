import assert from "node:assert/strict";
import { test } from "node:test";
import golden from "./golden.json";
import { attention, KERNELS, largest, leaveOneOut, NAMES, nearest, predict, sharers, sorted } from "./kernels";

const data = sorted(golden.x, golden.y);

/** Close to the last bits, and not by luck: both numbers have to be numbers. */
function close(found: number, wanted: number, what: string): void {
  assert.ok(Math.abs(found - wanted) <= 1e-9 * Math.max(1, Math.abs(wanted)), `${what}: ${found}, wanted ${wanted}`);
}

for (const golden_ of golden.cases) {
  const kernel = KERNELS.get(golden_.kernel)!;
  const name = `${golden_.kernel}, width ${golden_.width}`;

  test(`${name}: weights and predictions are those of regard`, () => {
    golden.queries.forEach((query, q) => {
      const found = attention(data, query, golden_.width, kernel);
      close(found.prediction, golden_.predictions[q]!, `prediction at ${query}`);
      close(predict(data, query, golden_.width, kernel), golden_.predictions[q]!, `predict at ${query}`);
      if (golden_.weights === undefined) return;
      const row = golden_.weights[q];
      assert.equal(found.alone, row === null);
      row?.forEach((weight, i) => close(found.weights[i]!, weight, `weight ${i} at ${query}`));
      close(found.weights.reduce((a, b) => a + b), 1, "the sum of the weights");
    });
  });

  if (golden_.leave_one_out !== undefined) {
    test(`${name}: the leave-one-out error is that of regard`, () => {
      close(leaveOneOut(data, golden_.width, kernel), golden_.leave_one_out!, "error");
    });
  }
}

test("every kernel is held to regard", () => {
  assert.deepEqual([...new Set(golden.cases.map((c) => c.kernel))].sort(), [...NAMES].sort());
});

test("a query far from all data gets its nearest neighbour, whatever the kernel", () => {
  for (const name of NAMES.filter((name) => !["cauchy", "matern32", "matern52", "laplacian"].includes(name))) {
    const found = attention(data, 1e6, 0.5, KERNELS.get(name)!);
    assert.equal(found.prediction, data.y[data.y.length - 1]);
    assert.equal(predict(data, 1e6, 0.5, KERNELS.get(name)!), data.y[data.y.length - 1]);
  }
});

test("of two points as near the first stands in", () => {
  const two = sorted([0, 1], [5, 7]);
  assert.equal(nearest(two.x, 0.5), 0);
  assert.equal(attention(two, 0.5, 0.1, KERNELS.get("boxcar")!).prediction, 5);
});

test("points are sorted, and what is not a number is left out", () => {
  const { x, y } = sorted([2, NaN, 0, 1], [20, 5, 0, Infinity]);
  assert.deepEqual([[...x], [...y]], [[0, 2], [0, 20]]);
});

test("no data, no prediction; one point, its value", () => {
  const gaussian = KERNELS.get("gaussian")!;
  assert.ok(Number.isNaN(attention(sorted([], []), 0, 1, gaussian).prediction));
  assert.equal(attention(sorted([3], [4]), 0, 1, gaussian).prediction, 4);
  assert.equal(predict(sorted([3], [4]), 0, 1, gaussian), 4);
});

test("the largest weights come first, and those of nothing do not come", () => {
  assert.deepEqual(largest(Float64Array.of(0.1, 0.5, 0, 0.4), 8), [1, 3, 0]);
  assert.deepEqual(largest(Float64Array.of(0.1, 0.5, 0, 0.4), 2), [1, 3]);
});

test("as many share as there are equal weights", () => {
  close(sharers(Float64Array.of(0.25, 0.25, 0, 0.25, 0.25)), 4, "sharers");
});
