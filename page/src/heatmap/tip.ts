// The numbers beside the cursor.
import { html, nothing, type TemplateResult } from "lit";
import type { Language } from "../document";
import { say } from "../texts";
import type { Cell, Window } from "../zoom";
import type { Box } from "./layout";
import { readingLines, type Known } from "./reading";

/** Between the cursor and its numbers, in pixels. */
const AWAY = 18;

/** Hidden from screen readers: the page says the same in a sentence. */
export function tipOf(language: Language, query: string, key: string, known: Known): TemplateResult {
  const { value, remark } = readingLines(language, known);
  return html`<div class="tip" aria-hidden="true">
    <dl>
      <dt>${say(language, "query")}</dt>
      <dd>${query}</dd>
      <dt>${say(language, "key")}</dt>
      <dd>${key}</dd>
      <dt>${say(language, known.difference ? "difference" : "weight")}</dt>
      <dd>${value}</dd>
    </dl>
    ${remark ? html`<p>${remark}</p>` : nothing}
  </div>`;
}

/** Right of the cursor and below, or where there is room. */
export function placeTip(tip: HTMLElement, stage: HTMLElement, plot: Box, { r0, r1, c0, c1 }: Window, { row, col }: Cell): void {
  const x = plot.x + ((col + 0.5 - c0) / (c1 - c0)) * plot.width;
  const y = plot.y + ((row + 0.5 - r0) / (r1 - r0)) * plot.height;
  const right = x + AWAY + tip.offsetWidth < stage.clientWidth;
  const below = y + AWAY + tip.offsetHeight < stage.clientHeight;
  tip.style.left = `${right ? x + AWAY : Math.max(2, x - AWAY - tip.offsetWidth)}px`;
  tip.style.top = `${below ? y + AWAY : Math.max(2, y - AWAY - tip.offsetHeight)}px`;
}
