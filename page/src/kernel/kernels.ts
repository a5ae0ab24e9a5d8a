// Kernel regression is attention: the weights of a query are softmax(log K((x - x_i) / width)).
// The mirror of regard.weights and regard.attend for one feature, in float64; golden.json holds the two together.

/** How much a point counts at a distance of u widths, as a logarithm; -Infinity: not at all. */
export interface Kernel {
  readonly name: string;
  readonly score: (u: number) => number;
  /** K(u) itself, where it is never too small for a float64 but exactly 0: quicker than the logarithm. */
  readonly direct?: (u: number) => number;
  /** Points further than this many widths are not seen. */
  readonly edge: number;
}

const ROOT_3 = Math.sqrt(3);
const ROOT_5 = Math.sqrt(5);

/** Zero outside one width; `k` is K(u) of |u| inside. */
function compact(name: string, k: (a: number) => number): Kernel {
  const direct = (u: number) => (Math.abs(u) < 1 ? k(Math.abs(u)) : 0);
  return { name, edge: 1, direct, score: (u) => Math.log(direct(u)) };
}

const LAPLACIAN: Kernel = { name: "laplacian", edge: Infinity, score: (u) => -Math.abs(u) };

const TABLE: readonly Kernel[] = [
  { name: "gaussian", edge: Infinity, score: (u) => -0.5 * u * u },
  LAPLACIAN,
  { name: "cauchy", edge: Infinity, direct: (u) => 1 / (1 + u * u), score: (u) => -Math.log1p(u * u) },
  {
    name: "matern32",
    edge: Infinity,
    score: (u) => Math.log1p(ROOT_3 * Math.abs(u)) - ROOT_3 * Math.abs(u),
  },
  {
    name: "matern52",
    edge: Infinity,
    score: (u) => Math.log1p(ROOT_5 * Math.abs(u) + (5 / 3) * u * u) - ROOT_5 * Math.abs(u),
  },
  {
    name: "boxcar",
    edge: 1,
    direct: (u) => (Math.abs(u) <= 1 ? 1 : 0),
    score: (u) => (Math.abs(u) <= 1 ? 0 : -Infinity),
  },
  compact("triangular", (a) => 1 - a),
  compact("epanechnikov", (a) => 1 - a * a),
  compact("biweight", (a) => (1 - a * a) * (1 - a * a)),
  compact("triweight", (a) => (1 - a * a) * (1 - a * a) * (1 - a * a)),
  compact("tricube", (a) => {
    const b = 1 - a * a * a;
    return b * b * b;
  }),
  compact("cosine", (a) => Math.cos((Math.PI / 2) * a)),
];

export const KERNELS: ReadonlyMap<string, Kernel> = new Map([
  ...TABLE.map((kernel) => [kernel.name, kernel] as const),
  ["laplace", LAPLACIAN], // as regard.NadarayaWatson names it
]);

/** The names to choose from, each once. */
export const NAMES: readonly string[] = TABLE.map((kernel) => kernel.name);

/** The data, sorted by x. */
export interface Data {
  readonly x: Float64Array;
  readonly y: Float64Array;
}

/** Sort by x, and leave out what is not a number. */
export function sorted(x: ArrayLike<number>, y: ArrayLike<number>): Data {
  const count = Math.min(x.length, y.length);
  const order = Array.from({ length: count }, (_, i) => i)
    .filter((i) => Number.isFinite(x[i]!) && Number.isFinite(y[i]!))
    .sort((a, b) => x[a]! - x[b]!);
  return { x: Float64Array.from(order, (i) => x[i]!), y: Float64Array.from(order, (i) => y[i]!) };
}

/** The first place in `x` that is not below `value`. */
export function place(x: Float64Array, value: number): number {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The nearest point; of two as near, the one that comes first. */
export function nearest(x: Float64Array, query: number): number {
  const right = Math.min(Math.max(place(x, query), 1), x.length - 1);
  if (x.length < 2) return 0;
  return query - x[right - 1]! <= x[right]! - query ? right - 1 : right;
}

/** What one query makes of the data. */
export interface Attention {
  /** Of every point; -Infinity where the kernel does not reach. */
  readonly scores: Float64Array;
  readonly weights: Float64Array;
  readonly prediction: number;
  /** No point was in reach, so the nearest one stands in. */
  readonly alone: boolean;
}

/** The weights of one query: softmax of the scores, in the stable form. */
export function attention(data: Data, query: number, width: number, kernel: Kernel): Attention {
  const { x, y } = data;
  const scores = new Float64Array(x.length);
  let top = -Infinity;
  for (let i = 0; i < x.length; i += 1) {
    const score = kernel.score((query - x[i]!) / width);
    scores[i] = score;
    if (score > top) top = score;
  }
  const weights = new Float64Array(x.length);
  if (x.length === 0) return { scores, weights, prediction: NaN, alone: false };
  if (top === -Infinity) {
    const i = nearest(x, query);
    weights[i] = 1;
    return { scores, weights, prediction: y[i]!, alone: true };
  }
  let total = 0;
  for (let i = 0; i < x.length; i += 1) {
    const weight = Math.exp(scores[i]! - top);
    weights[i] = weight;
    total += weight;
  }
  let prediction = 0;
  for (let i = 0; i < x.length; i += 1) {
    weights[i]! /= total;
    prediction += weights[i]! * y[i]!;
  }
  return { scores, weights, prediction, alone: false };
}

// exp(-REACH^2 / 2) is below the last bit of a float64 beside 1
const REACH = 8.6;

/** The prediction alone, with as little work as the kernel allows; `leftOut`: a point that does not count. */
export function predict(data: Data, query: number, width: number, kernel: Kernel, leftOut = -1): number {
  const { x, y } = data;
  const n = x.length;
  if (n === 0 || (n === 1 && leftOut === 0)) return NaN;
  const close = nearestBut(x, query, leftOut);
  let from = 0;
  let to = n;
  const gap = Math.abs(query - x[close]!) / width;
  if (kernel.edge < Infinity) {
    from = place(x, query - kernel.edge * width);
    to = place(x, nextAbove(query + kernel.edge * width));
  } else if (kernel.name === "gaussian") {
    // a point at u counts exp(-(u^2 - gap^2) / 2) as much as the nearest one
    const reach = Math.sqrt(REACH * REACH + gap * gap) * width;
    from = place(x, query - reach);
    to = place(x, nextAbove(query + reach));
  }
  const top = kernel.score(gap);
  if (top === -Infinity) return y[close]!;
  let total = 0;
  let sum = 0;
  const { direct } = kernel;
  if (direct) {
    for (let i = from; i < to; i += 1) {
      if (i === leftOut) continue;
      const weight = direct((query - x[i]!) / width);
      total += weight;
      sum += weight * y[i]!;
    }
    return total > 0 ? sum / total : y[close]!;
  }
  for (let i = from; i < to; i += 1) {
    if (i === leftOut) continue;
    const weight = Math.exp(kernel.score((query - x[i]!) / width) - top);
    total += weight;
    sum += weight * y[i]!;
  }
  return total > 0 ? sum / total : y[close]!;
}

function nextAbove(value: number): number {
  return value + Math.abs(value) * 2e-16 + 5e-324;
}

function nearestBut(x: Float64Array, query: number, leftOut: number): number {
  if (leftOut < 0) return nearest(x, query);
  if (leftOut === 0) return 1;
  if (leftOut === x.length - 1) return leftOut - 1;
  return query - x[leftOut - 1]! <= x[leftOut + 1]! - query ? leftOut - 1 : leftOut + 1;
}

/** The mean squared error of points predicted from all the others; every `every`-th is asked. */
export function leaveOneOut(data: Data, width: number, kernel: Kernel, every = 1): number {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < data.x.length; i += every) {
    const error = data.y[i]! - predict(data, data.x[i]!, width, kernel, i);
    sum += error * error;
    count += 1;
  }
  return sum / count;
}

/** exp of the entropy: how many points share the weight, as it were. */
export function sharers(weights: Float64Array): number {
  let entropy = 0;
  for (const weight of weights) if (weight > 0) entropy -= weight * Math.log(weight);
  return Math.exp(entropy);
}

/** The places of the largest weights, largest first. */
export function largest(weights: Float64Array, count: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < weights.length; i += 1) {
    const weight = weights[i]!;
    if (weight <= 0) continue;
    if (found.length === count && weight <= weights[found[count - 1]!]!) continue;
    let at = found.length;
    while (at > 0 && weights[found[at - 1]!]! < weight) at -= 1;
    found.splice(at, 0, i);
    if (found.length > count) found.pop();
  }
  return found;
}
