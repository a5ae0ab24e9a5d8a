import assert from "node:assert/strict";
import { test } from "node:test";
import { attention, KERNELS, sorted } from "./kernels";
import { plain, stepped } from "./numbers";
import { teller } from "./texts";
import { hint, summary } from "./words";

const data = sorted([0, 1, 2], [10, 20, 30]);
const steps = { x: 0.01, y: 0.1 };

test("the summary tells the prediction and who gives it", () => {
  const found = attention(data, 1, 0.5, KERNELS.get("boxcar")!);
  assert.equal(
    summary(teller("en"), data, found, 1, steps),
    "At x = 1.00 the prediction is 20.0. The largest weight, 1, is on the point at 1.00; the weight is spread over about 1.0 of 3 points.",
  );
  assert.match(summary(teller("zh"), data, found, 1, steps), /预测值为 20\.0/);
});

test("where nobody is in reach it says so", () => {
  const found = attention(data, 5, 0.5, KERNELS.get("boxcar")!);
  assert.match(summary(teller("en"), data, found, 5, steps), /no point is within one bandwidth: the nearest, at 2\.00/);
});

test("a point tells its weight", () => {
  const found = attention(data, 1, 10, KERNELS.get("boxcar")!);
  assert.equal(hint(teller("en"), data, found, 0, steps), "x 0.00   y 10.0   weight 0.333");
  assert.equal(hint(teller("en"), data, found, null, steps), "");
});

test("numbers are short, and have a real minus", () => {
  assert.deepEqual([0.000012345, -1.5, 0, 1234567, -Infinity, NaN].map((x) => plain(x)), ["1.23e−5", "−1.5", "0", "1.23e6", "−∞", "–"]);
  assert.deepEqual([stepped(-0.001, 0.01), stepped(-1.256, 0.02), stepped(3e-9, 1e-11), stepped(1e12, 1e9)], ["0.00", "−1.26", "3e−9", "1e12"]);
});
