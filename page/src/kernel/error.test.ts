import assert from "node:assert/strict";
import { test } from "node:test";
import { type ErrorCurve, ErrorSearch, least, widthsBetween } from "./error";
import { KERNELS, leaveOneOut, sorted } from "./kernels";

test("widths are even on a logarithmic axis, and reach both ends", () => {
  const widths = widthsBetween(0.1, 10, 5);
  [0.1, 0.1 * 10 ** 0.5, 1, 10 ** 0.5, 10].forEach((width, i) => assert.ok(Math.abs(widths[i]! - width) < 1e-12));
});

test("the least is found between the widths that were tried", () => {
  const at = (width: number): number => (Math.log(width) - 0.123) ** 2 + 1;
  const widths = widthsBetween(0.1, 10, 9);
  const found = least(widths, [...widths].map(at), at);
  assert.ok(Math.abs(Math.log(found.width) - 0.123) < 2e-3);
});

test("the least may be at an end", () => {
  const widths = widthsBetween(1, 100, 9);
  const found = least(widths, [...widths], (width) => width);
  assert.equal(found.width, 1);
});

test("a search tells each error, then the best width", async () => {
  const x = Array.from({ length: 40 }, (_, i) => i / 8);
  const data = sorted(x, x.map((at, i) => Math.sin(2 * at) + (i % 2 ? 0.2 : -0.2)));
  const kernel = KERNELS.get("gaussian")!;
  const curve = await new Promise<ErrorCurve>((done) => {
    new ErrorSearch((now) => now.best && done(now)).start(data, kernel, 0.02, 10);
  });
  assert.equal(curve.errors.length, curve.widths.length);
  curve.widths.forEach((width, i) => assert.equal(curve.errors[i], leaveOneOut(data, width, kernel)));
  assert.ok(curve.best!.error <= Math.min(...curve.errors));
});
