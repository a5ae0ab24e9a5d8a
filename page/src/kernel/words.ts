// What the view says in words.
import { type Attention, type Data, largest, sharers } from "./kernels";
import { plain, stepped } from "./numbers";
import type { Teller } from "./texts";

/** How finely x and y are written. */
export interface Steps {
  readonly x: number;
  readonly y: number;
}

/** What the query gets, from whom, and among how many it is shared. */
export function summary(t: Teller, data: Data, found: Attention, query: number, steps: Steps): string {
  if (data.x.length === 0) return t("empty");
  const first = largest(found.weights, 1)[0] ?? 0;
  const said = {
    x: stepped(query, steps.x),
    prediction: stepped(found.prediction, steps.y),
    at: stepped(data.x[first]!, steps.x),
  };
  if (found.alone) return t("alone", said);
  const shared = sharers(found.weights);
  return t("summary", {
    ...said,
    count: data.x.length,
    weight: plain(found.weights[first]!),
    sharers: shared < 9.95 ? shared.toFixed(1) : Math.round(shared),
  });
}

/** One point. */
export function hint(t: Teller, data: Data, found: Attention, point: number | null, steps: Steps): string {
  if (point === null) return "";
  return t("hover", {
    x: stepped(data.x[point]!, steps.x),
    y: stepped(data.y[point]!, steps.y),
    weight: plain(found.weights[point]!),
  });
}
