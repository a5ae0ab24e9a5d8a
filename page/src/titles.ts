// What each map is called, in full.
import type { Language, ViewDocument } from "./document";
import { layerParts } from "./order";
import { say } from "./texts";

/** Of every map: its model, layer and head, as far as there are several; in the document's own words where it has some. */
export function titlesOf(language: Language, { layers, maps, called }: ViewDocument): string[] {
  const parts = layerParts(layers);
  const counts = new Map<number, number>();
  for (const { layer } of maps) counts.set(layer, (counts.get(layer) ?? 0) + 1);
  return maps.map(({ layer, head }) => {
    const { model, own, call } = parts[layer] ?? { model: "", own: "", call: 1 };
    const name = layers[layer]?.label?.[language];
    const alone = counts.get(layer) === 1 && head === 0;
    const unnamed = !own && layers.length === 1;
    const title = [
      model,
      name ?? (unnamed ? "" : say(language, "layerTitle", { layer: own || layer })),
      call > 1 ? say(language, "callTitle", { call }) : "",
      alone ? "" : called ? `${called.head[language]} ${head}` : say(language, "headTitle", { head }),
    ].filter(Boolean).join(language === "zh" ? "，" : ", ");
    if (!title) return say(language, "map");
    // The name of a model stays as it is written.
    return model ? title : title.charAt(0).toUpperCase() + title.slice(1);
  });
}
