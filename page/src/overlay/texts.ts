// The sentences of the overlay, in English and Chinese. {name} is filled in; what is filled in is text, never HTML.
import type { Language } from "../document";

export const OVERLAY_TEXTS = {
  image: {
    en: "The picture, and over it where the query looks. Arrow keys walk the patches.",
    zh: "图像，以及查询在其上的注意力。方向键移动图块。",
  },
  spectrogram: {
    en: "The spectrogram, and over it where the query listens. Arrow keys walk the frames.",
    zh: "声谱图，以及查询在其上的注意力。方向键移动帧。",
  },
  opacity: { en: "Opacity of the weights", zh: "权重的不透明度" },
  weight: { en: "weight", zh: "权重" },
  patch: {
    en: "Patch in row {row}, column {col}: weight {weight}.",
    zh: "第 {row} 行第 {col} 列的图块：权重 {weight}。",
  },
  frame: { en: "Frame {col}: weight {weight}.", zh: "第 {col} 帧：权重 {weight}。" },
  most_image: {
    en: "The largest weight, {weight}, is on the patch in row {row}, column {col}.",
    zh: "最大的权重 {weight} 在第 {row} 行第 {col} 列的图块上。",
  },
  most_spectrogram: {
    en: "The largest weight, {weight}, is on frame {col}.",
    zh: "最大的权重 {weight} 在第 {col} 帧上。",
  },
  outside: {
    en: "{share} of the weight is on keys that are not in the picture.",
    zh: "有 {share} 的权重落在图像之外的键上。",
  },
  none: { en: "Choose a query to see where it looks.", zh: "选择一个查询，看它关注哪里。" },
} as const satisfies Record<string, Record<Language, string>>;

export type OverlayText = keyof typeof OVERLAY_TEXTS;

/** A sentence, with its gaps filled. */
export function tell(
  language: Language, key: OverlayText, values: Readonly<Record<string, string | number>> = {},
): string {
  return OVERLAY_TEXTS[key][language].replace(/\{(\w+)\}/g, (gap, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : gap,
  );
}
