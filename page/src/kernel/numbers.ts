// Numbers as a reader wants them.

/** At most `digits` significant digits, with a real minus. */
export function plain(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "–";
  const rounded = Number(value.toPrecision(digits));
  const size = Math.abs(rounded);
  const text = size !== 0 && (size < 1e-4 || size >= 1e6) ? rounded.toExponential() : String(rounded);
  return text.replace("e-", "e−").replace("e+", "e").replace(/^-/, "−");
}

/** As many digits behind the point as `step` has, so that numbers in motion keep their length. */
export function stepped(value: number, step: number): string {
  const digits = Math.max(0, -Math.floor(Math.log10(Math.abs(step) || 1)));
  if (digits > 6 || Math.abs(value) >= 1e7) return plain(value, 5);
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace(/^-/, "−");
}
