import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenColour, cellText, colourOf, coloursOf, inkOn, percentText, roundUp, share, valueAt, weightText, type Scale } from "./colour";

const scales: Scale[] = [
  { kind: "weights", colouring: "linear", max: 0.4 },
  { kind: "weights", colouring: "log", max: 0.4 },
  { kind: "difference", colouring: "linear", max: 0.4 },
  { kind: "difference", colouring: "log", max: 0.4 },
];

test("the value at a share has that share", () => {
  for (const scale of scales) {
    for (const at of [0.1, 0.25, 0.6, 0.9, 1]) assert.ok(Math.abs(share(scale, valueAt(scale, at)) - at) < 1e-9);
  }
});

test("shares stay within the bar, whatever the value", () => {
  for (const scale of [...scales, { ...scales[0]!, max: 0 }]) {
    for (const value of [-Infinity, -1, 0, 1e-30, 1, Infinity, NaN]) {
      const at = share(scale, value);
      assert.ok(at >= 0 && at <= 1, `${JSON.stringify(scale)} ${value} ${at}`);
    }
  }
});

test("no difference is the middle", () => {
  assert.equal(share(scales[2]!, 0), 0.5);
  assert.equal(share(scales[3]!, 0), 0.5);
});

test("cividis grows lighter from end to end", () => {
  const colours = coloursOf("weights");
  const light = (at: number) => 0.2126 * colours[at * 3]! + 0.7152 * colours[at * 3 + 1]! + 0.0722 * colours[at * 3 + 2]!;
  for (let at = 8; at < 256; at += 8) assert.ok(light(at) > light(at - 8));
});

test("a bar ends on a round number not below the largest value", () => {
  assert.equal(roundUp(0.21), 0.25);
  assert.equal(roundUp(1), 1);
  assert.equal(roundUp(0.91), 1);
  assert.equal(roundUp(0), 1);
  for (const value of [0.0123, 0.99, 3e-7, 17]) assert.ok(roundUp(value) >= value);
});

test("text on a colour can be read", () => {
  const linear = (byte: number) => (byte / 255 <= 0.03928 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
  for (const kind of ["weights", "difference"] as const) {
    for (let at = 0; at <= 1; at += 0.01) {
      const rgb = colourOf({ kind, colouring: "linear", max: 1 }, kind === "difference" ? at * 2 - 1 : at);
      const light = 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
      const contrast = inkOn(rgb) === "#000" ? (light + 0.05) / 0.05 : 1.05 / (light + 0.05);
      assert.ok(contrast >= 4.5, `${kind} ${at} ${contrast}`);
    }
  }
});

test("weights are written short", () => {
  assert.equal(weightText(0.71234), "0.712");
  assert.equal(weightText(1), "1");
  assert.equal(weightText(0), "0");
  assert.equal(weightText(0.0000031), "3.1e−6");
  assert.equal(weightText(-0.25), "−0.25");
  assert.equal(percentText(0.7149), "71 %");
  assert.equal(percentText(0.0712), "7.1 %");
  assert.equal(percentText(0.06), "6.0 %");
  assert.equal(percentText(0.000223), "0.022 %");
  assert.equal(percentText(0.000000223), "< 0.001 %");
});

test("weights in cells have as many decimals as each other, and no powers of ten", () => {
  assert.deepEqual([0.784, 0.2, 0.009, 0.0003, 1].map((value) => cellText(value, 2)), ["0.78", "0.20", "0.01", "0.00", "1.00"]);
  assert.equal(cellText(0, 3), "0");
  assert.equal(cellText(-0.25, 3), "−0.250");
  assert.equal(cellText(-0.0001, 2), "0.00");
  assert.equal(cellText(NaN, 2), "NaN");
  assert.deepEqual([-0.25, 0.009, 1, -1, 0.999].map((value) => cellText(value, 2, true)), ["−.25", ".01", "1.0", "−1.0", "1.0"]);
});

test("what is not a number has a colour of its own", () => {
  for (const scale of scales) {
    const broken = colourOf(scale, NaN);
    assert.deepEqual(broken, brokenColour(scale.kind));
    for (let at = 0; at <= 1; at += 0.01) {
      const near = colourOf(scale, valueAt(scale, at)).reduce((sum, part, i) => sum + Math.abs(part - broken[i]!), 0);
      assert.ok(near > 60, `${scale.kind} ${at} ${near}`);
    }
  }
});
