// Every sentence the page says, in English and Chinese. {name} is filled in; what is filled in is text, never HTML.
import type { Language } from "./document";

export const TEXTS = {
  heads: { en: "Heads", zh: "注意力头" },
  headsHint: {
    en: "Each small picture of a head has its own colour scale.",
    zh: "每幅小图各用自己的色阶。",
  },
  sortBy: { en: "Sort by", zh: "排序" },
  sort_layer: { en: "layer", zh: "层" },
  sort_given: { en: "as given", zh: "原有顺序" },
  sort_entropy: { en: "lowest entropy", zh: "熵最低（最集中）" },
  sort_distance: { en: "farthest look", zh: "看得最远" },
  sort_diagonality: { en: "most diagonal", zh: "最接近对角" },
  sort_first: { en: "most on first token", zh: "首词元所得最多" },
  stat_entropy: { en: "entropy", zh: "熵" },
  stat_distance: { en: "distance", zh: "距离" },
  stat_diagonality: { en: "on the diagonal", zh: "对角线上" },
  stat_first: { en: "on the first token", zh: "在首词元上" },
  nats: { en: "{value} nats", zh: "{value} 奈特" },
  places: { en: "{value} tokens", zh: "{value} 个词元" },
  layerTitle: { en: "layer {layer}", zh: "层 {layer}" },
  callTitle: { en: "call {call}", zh: "第 {call} 次调用" },
  headTitle: { en: "head {head}", zh: "头 {head}" },
  map: { en: "Attention map", zh: "注意力图" },
  mapLabel: {
    en: "Attention map, {head}: {rows} queries by {cols} keys. Arrow keys walk the cells, question mark for help.",
    zh: "注意力图，{head}：{rows} 个查询，{cols} 个键。方向键移动单元格，问号键查看帮助。",
  },
  differenceLabel: {
    en: "Difference, {a} minus {b}. Arrow keys walk the cells.",
    zh: "差值：{a} 减 {b}。方向键移动单元格。",
  },
  queries: { en: "queries", zh: "查询" },
  keys: { en: "keys", zh: "键" },
  query: { en: "Query", zh: "查询" },
  key: { en: "Key", zh: "键" },
  weight: { en: "Weight", zh: "权重" },
  difference: { en: "Difference", zh: "差值" },
  shape_self: {
    en: "Self-attention: every token looks at every token.",
    zh: "自注意力：每个词元看向所有词元。",
  },
  shape_causal: {
    en: "Causal self-attention: a token looks at itself and earlier ones.",
    zh: "因果自注意力：词元只看向自己和更早的词元。",
  },
  shape_cross: {
    en: "Cross-attention: {rows} queries (down) look at {cols} keys (across).",
    zh: "交叉注意力：{rows} 个查询（纵向）看向 {cols} 个键（横向）。",
  },
  pooling: { en: "Pooling", zh: "合并" },
  pool_mass: { en: "mass", zh: "总量" },
  pool_max: { en: "largest", zh: "最大值" },
  poolHint_mass: {
    en: "Mass: of the average query of a cell, how much goes to its keys.",
    zh: "总量：单元格中平均每个查询有多少注意力落在这些键上。",
  },
  poolHint_max: { en: "Largest: the largest single weight in a cell.", zh: "最大值：单元格中最大的单个权重。" },
  colour: { en: "Colour", zh: "颜色" },
  colour_linear: { en: "linear", zh: "线性" },
  colour_log: { en: "log", zh: "对数" },
  compare: { en: "Compare", zh: "比较" },
  stopComparing: { en: "Stop comparing", zh: "结束比较" },
  compareA: { en: "A", zh: "A" },
  compareB: { en: "B", zh: "B" },
  noDifference: {
    en: "A is {a}, B is {b}: maps of different sizes have no difference.",
    zh: "A 为 {a}，B 为 {b}：大小不同的图没有差值。",
  },
  swap: { en: "Swap A and B", zh: "交换 A 与 B" },
  whole: { en: "Whole map", zh: "整图" },
  zoomIn: { en: "Zoom in", zh: "放大" },
  zoomOut: { en: "Zoom out", zh: "缩小" },
  help: { en: "Help", zh: "帮助" },
  close: { en: "Close", zh: "关闭" },
  language: { en: "Language", zh: "语言" },
  notes: { en: "Notes", zh: "说明" },
  legendWeights: { en: "weight", zh: "权重" },
  legendMass: { en: "mass of a cell", zh: "单元格总量" },
  legendMax: { en: "largest weight of a cell", zh: "单元格最大权重" },
  legendDifference: { en: "A − B", zh: "A − B" },
  entropyStrip: { en: "entropy", zh: "熵" },
  receivedStrip: { en: "received", zh: "获得" },
  pooledReading: {
    en: "Pooled: its cell holds {mass} of its queries’ attention, its largest weight is {max}.",
    zh: "已合并：所在单元格占其查询注意力的 {mass}，最大权重为 {max}。",
  },
  pooledDifference: { en: "Pooled: not known for this one cell.", zh: "已合并：无法得知这一格的数值。" },
  below: { en: "at most {least}", zh: "不超过 {least}" },
  reading: { en: "asking …", zh: "查询中……" },
  unreachable: {
    en: "The server that made this page does not answer ({why}). What the page itself holds is shown.",
    zh: "生成此页面的服务器没有响应（{why}）。现显示页面自带的数据。",
  },
  sampled: {
    en: "For this picture one of {every} queries was read: closer in, all of them are.",
    zh: "此图每 {every} 个查询取一个；放大后将读取全部。",
  },
  sampledPage: { en: "This page was made from one of {every} queries.", zh: "此页面由每 {every} 个查询中的一个生成。" },
  estimated: {
    en: "Pooled data: the largest weights of every query are exact; what is left of a cell is shared out evenly (≈).",
    zh: "数据已合并：每个查询的最大权重是精确的，单元格余下部分平均分摊（≈）。",
  },
  token: { en: "Token", zh: "词元" },
  pickHint: {
    en: "Point at the map, or pick a token in the text. Enter or a click pins it.",
    zh: "指向图中某处，或在文本中选词元。按回车或单击可固定。",
  },
  queryNumber: { en: "Query", zh: "查询" },
  keyNumber: { en: "Key", zh: "键" },
  looksAt: { en: "Where {token} looks", zh: "{token} 看向哪里" },
  lookedAt: { en: "Who looks at {token}", zh: "谁看向 {token}" },
  nothing: { en: "No weight at all.", zh: "没有任何权重。" },
  unknownLine: {
    en: "This page holds pooled numbers: of each query only the {count} largest weights are exact.",
    zh: "此页面只含合并数据：每个查询只有最大的 {count} 个权重是精确的。",
  },
  sampledLine: { en: "So long that only one of {every} queries was read.", zh: "序列太长，每 {every} 个查询只读取了一个。" },
  pinned: { en: "pinned", zh: "已固定" },
  sentenceOne: { en: "{query} looks {first} at {key}", zh: "{query} 有 {first} 看向 {key}" },
  sentenceMore: { en: ", {share} at {key}", zh: "，{share} 看向 {key}" },
  sentenceEnd: { en: ".", zh: "。" },
  here: { en: "Here: {weight}.", zh: "此处：{weight}。" },
  hereUnknown: { en: "Here: pooled.", zh: "此处：已合并。" },
  hereDifference: { en: "A − B here: {weight}.", zh: "此处 A − B：{weight}。" },
  looksNowhere: { en: "{query} looks at nothing.", zh: "{query} 什么也不看。" },
  summaryText: {
    en: "Heads: {count}; layers: {layers}. Shown is {head}: {rows} queries, {cols} keys.",
    zh: "注意力头：{count}；层：{layers}。当前为 {head}：{rows} 个查询，{cols} 个键。",
  },
  noCanvas: {
    en: "This browser cannot draw; the numbers follow as text.",
    zh: "此浏览器无法绘图；以下以文字给出数值。",
  },
  noInflate: {
    en: "This browser cannot unpack the page’s numbers (DecompressionStream is missing: any browser since 2023 has it). What the header says follows as text.",
    zh: "此浏览器无法解压页面数据（缺少 DecompressionStream，2023 年以来的浏览器均支持）。以下为文字信息。",
  },
  broken: { en: "This page cannot be shown: {why}", zh: "无法显示此页面：{why}" },
  helpTitle: { en: "Keys and mouse", zh: "按键与鼠标" },
  help_arrows: { en: "walk the cells (Shift: ten at a time)", zh: "移动单元格（Shift：每次十格）" },
  help_zoom: { en: "zoom in, zoom out, whole map", zh: "放大、缩小、整图" },
  help_enter: { en: "pin the row and column, or let go", zh: "固定或取消固定行与列" },
  help_heads: { en: "previous, next head", zh: "上一个、下一个注意力头" },
  help_pool: { en: "mass or largest in pooled cells", zh: "合并单元格：总量或最大值" },
  help_log: { en: "linear or log colours", zh: "线性或对数颜色" },
  help_compare: { en: "compare two heads; Shift and click on a head takes it as B", zh: "比较两个注意力头；Shift 加单击某头选为 B" },
  help_sort: { en: "next order of heads", zh: "切换排序" },
  help_help: { en: "this help", zh: "本帮助" },
  help_escape: { en: "leave: help, pin, comparison, zoom", zh: "依次退出：帮助、固定、比较、缩放" },
  help_ends: { en: "first, last key of the row", zh: "行首、行尾的键" },
  help_wheel: { en: "zoom where the pointer is (two fingers: pinch)", zh: "在指针处缩放（触屏：双指）" },
  help_drag: { en: "move the map", zh: "移动图" },
  help_double: { en: "zoom in closely", zh: "快速放大" },
  wheel: { en: "wheel", zh: "滚轮" },
  drag: { en: "drag", zh: "拖动" },
  doubleClick: { en: "double click", zh: "双击" },
  statsHint: {
    en: "Entropy is how widely a query looks: 0 nats at one key alone, the logarithm of their number at all keys alike. Distance is how many tokens away it looks, on average; on the diagonal is what stays within 2 % of its own place.",
    zh: "熵表示查询看得多分散：只看一个键为 0 奈特，平均看所有键为键数的对数。距离是平均隔多少个词元；对角线上指落在自身位置附近 2% 之内的部分。",
  },
  stripsHint: {
    en: "The bars beside a map: the entropy of each query, and the sum of the weights that each key receives.",
    zh: "图旁的条形：每个查询的熵，以及每个键获得的权重之和。",
  },
  notExplanation: {
    en: "A weight says where a head looks, not why the model answers as it does.",
    zh: "权重说明注意力头看向哪里，并不解释模型为何如此回答。",
  },
} as const satisfies Record<string, Record<Language, string>>;

export type TextKey = keyof typeof TEXTS;

/** A sentence, with its gaps filled. */
export function say(language: Language, key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  const template: string = TEXTS[key][language];
  return template.replace(/\{(\w+)\}/g, (gap, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : gap));
}

/** The language of a reader: what was chosen, what the document wants, what the browser speaks. */
export function languageOf(chosen: Language | null, wanted: Language | null, browser: readonly string[]): Language {
  if (chosen ?? wanted) return (chosen ?? wanted) as Language;
  for (const tag of browser) {
    if (/^zh\b/i.test(tag)) return "zh";
    if (/^en\b/i.test(tag)) return "en";
  }
  return "en";
}

/** A token in a sentence: quoted, so that spaces and full stops of its own are seen. */
export function quoted(token: string): string {
  // A token that turns the direction of writing turns its own only.
  const turns = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(token);
  return turns ? `“\u2068${token}\u2069”` : `“${token}”`;
}

/** Whole numbers in groups of three. */
export function grouped(value: number, language: Language): string {
  return value.toLocaleString(language === "zh" ? "zh-CN" : "en-GB");
}
