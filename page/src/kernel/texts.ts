// The sentences of the kernel view, in English and Chinese. {name} is filled in; what is filled in is text, never HTML.
import type { Language } from "../document";

export const KERNEL_TEXTS = {
  title: { en: "Kernel regression is attention", zh: "核回归就是注意力" },
  figure: {
    en: "The data, the curve, and what each point weighs at the query",
    zh: "数据、回归曲线，以及每个点在查询处的权重",
  },
  query: { en: "Query x", zh: "查询 x" },
  moveHint: { en: "Drag the query, or use the arrow keys", zh: "拖动查询，或用方向键移动" },
  kernel: { en: "Kernel", zh: "核函数" },
  kernel_gaussian: { en: "Gaussian", zh: "高斯核" },
  kernel_laplacian: { en: "Laplacian", zh: "拉普拉斯核" },
  kernel_cauchy: { en: "Cauchy", zh: "柯西核" },
  kernel_matern32: { en: "Matérn 3/2", zh: "Matérn 3/2 核" },
  kernel_matern52: { en: "Matérn 5/2", zh: "Matérn 5/2 核" },
  kernel_boxcar: { en: "Boxcar", zh: "矩形核" },
  kernel_triangular: { en: "Triangular", zh: "三角核" },
  kernel_epanechnikov: { en: "Epanechnikov", zh: "Epanechnikov 核" },
  kernel_biweight: { en: "Biweight", zh: "双权核" },
  kernel_triweight: { en: "Triweight", zh: "三权核" },
  kernel_tricube: { en: "Tricube", zh: "三次立方核" },
  kernel_cosine: { en: "Cosine", zh: "余弦核" },
  width: { en: "Bandwidth w", zh: "带宽 w" },
  temperature: { en: "temperature T", zh: "温度 T" },
  widthIs: { en: "bandwidth {width}", zh: "带宽 {width}" },
  widthAndTemperature: {
    en: "bandwidth {width}, temperature {temperature}",
    zh: "带宽 {width}，温度 {temperature}",
  },
  cold: { en: "cold: the nearest point", zh: "低温：只看最近的点" },
  hot: { en: "hot: the plain mean", zh: "高温：所有点的平均" },
  narrow: { en: "narrow: the nearest point", zh: "窄：只看最近的点" },
  wide: { en: "wide: the plain mean", zh: "宽：所有点的平均" },
  best: { en: "best", zh: "最佳" },
  toBest: { en: "Set the best: {width}", zh: "设为最佳：{width}" },
  errorCurve: {
    en: "Error of each point predicted from the others, against the bandwidth",
    zh: "用其余各点预测每个点的误差，随带宽的变化",
  },
  errorTitle: {
    en: "Error of each point predicted from the others",
    zh: "用其余各点预测每个点的误差（留一法）",
  },
  errorSample: { en: "{asked} of {all} points asked", zh: "取 {all} 个点中的 {asked} 个" },
  softmaxTitle: { en: "The same thing as attention", zh: "同一件事，写成注意力" },
  asTemperature_gaussian: {
    en: "The slider is also the temperature of the softmax: T = w² = {temperature}. Cold, all weight goes to the nearest point; hot, to all points alike.",
    zh: "这个滑块同时也是 softmax 的温度：T = w² = {temperature}。温度低，权重全给最近的点；温度高，所有点权重相同。",
  },
  asTemperature_laplacian: {
    en: "The slider is also the temperature of the softmax: T = w = {temperature}. Cold, all weight goes to the nearest point; hot, to all points alike.",
    zh: "这个滑块同时也是 softmax 的温度：T = w = {temperature}。温度低，权重全给最近的点；温度高，所有点权重相同。",
  },
  notTemperature: {
    en: "With this kernel w scales the distances before the logarithm, so it is not exactly a temperature; with the Gaussian (T = w²) and the Laplacian (T = w) it is.",
    zh: "对这个核函数，w 在取对数之前缩放距离，因此不恰好是温度；对高斯核（T = w²）和拉普拉斯核（T = w）才是。",
  },
  edge: {
    en: "Beyond one bandwidth the score is −∞, so the weight is exactly 0.",
    zh: "超出一个带宽，得分为 −∞，权重恰好为 0。",
  },
  rowTitle: {
    en: "One row of attention: the weights of the {count} points, in order of x",
    zh: "注意力的一行：{count} 个点的权重，按 x 排列",
  },
  rowLabel: { en: "The weights of all points as a row of colours", zh: "所有点的权重，用一行颜色表示" },
  tableTitle: { en: "The largest weights, term by term", zh: "最大的权重，逐项列出" },
  point: { en: "point", zh: "点" },
  value: { en: "value", zh: "值" },
  score: { en: "score", zh: "得分" },
  scaled: { en: "scaled", zh: "缩放后" },
  distance: { en: "distance", zh: "距离" },
  weight: { en: "weight", zh: "权重" },
  product: { en: "product", zh: "乘积" },
  others: { en: "the others: {count}", zh: "其余 {count} 个" },
  sum: { en: "sum", zh: "总和" },
  summary: {
    en: "At x = {x} the prediction is {prediction}. The largest weight, {weight}, is on the point at {at}; the weight is spread over about {sharers} of {count} points.",
    zh: "在 x = {x} 处，预测值为 {prediction}。最大的权重 {weight} 在 {at} 处的点上；权重大约分布在 {count} 个点中的 {sharers} 个上。",
  },
  alone: {
    en: "At x = {x} no point is within one bandwidth: the nearest, at {at}, stands in, and the prediction is {prediction}.",
    zh: "在 x = {x} 处，一个带宽之内没有点：由最近的、位于 {at} 的点代替，预测值为 {prediction}。",
  },
  hover: { en: "x {x}   y {y}   weight {weight}", zh: "x {x}   y {y}   权重 {weight}" },
  empty: { en: "There are no points to show.", zh: "没有可显示的点。" },
} as const satisfies Record<string, Record<Language, string>>;

export type KernelText = keyof typeof KERNEL_TEXTS;

/** A sentence, with its gaps filled. */
export type Teller = (key: KernelText, values?: Readonly<Record<string, string | number>>) => string;

export function teller(language: Language): Teller {
  return (key, values = {}) =>
    KERNEL_TEXTS[key][language].replace(/\{(\w+)\}/g, (gap, name: string) =>
      Object.hasOwn(values, name) ? String(values[name]) : gap,
    );
}
