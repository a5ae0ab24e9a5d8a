// The page's heading, notes, and the buttons above a map.
import { html, nothing, type TemplateResult } from "lit";
import { guard } from "lit/directives/guard.js";
import type { ViewState } from "./address";
import type { Language, Note } from "./document";
import { say } from "./texts";

export function heading(language: Language, title: string, speak: (language: Language) => void, help: () => void): TemplateResult {
  const switched = (event: Event): void => speak((event.target as HTMLSelectElement).value as Language);
  return html`<header>
    <h1>${title}</h1>
    <div class="tools">
      <select aria-label=${say(language, "language")} name="language" @change=${switched}>
        <option value="en" ?selected=${language === "en"}>English</option>
        <option value="zh" ?selected=${language === "zh"}>中文</option>
      </select>
      <button type="button" class="help" @click=${help}>${say(language, "help")} <span aria-hidden="true">(?)</span></button>
    </div>
  </header>`;
}

export function notes(language: Language, all: readonly Note[]): TemplateResult | typeof nothing {
  if (all.length === 0) return nothing;
  return html`<ul class="notes" aria-label=${say(language, "notes")}>
    ${all.map((note) => html`<li>${note[language] || note.en}</li>`)}
  </ul>`;
}

/** A choice of a head among all. */
function choice(label: string, names: readonly string[], chosen: number, choose: (map: number) => void): TemplateResult {
  return html`<label>${label}
    <select @change=${(event: Event) => choose(Number((event.target as HTMLSelectElement).value))}>
      ${guard([names, chosen], () => names.map((name, at) => html`<option value=${at} ?selected=${at === chosen}>${name}</option>`))}
    </select>
  </label>`;
}

type Option<T> = readonly [value: T, name: string, hint?: string];

/** One of a few, as buttons that stay pressed. */
function either<T extends string>(title: string, options: readonly Option<T>[], now: T, choose: (value: T) => void): TemplateResult {
  return html`<div class="group" role="group" aria-label=${title}><span aria-hidden="true">${title}</span>
    <span class="both">${options.map(
      ([value, name, hint]) => html`<button type="button" data-value=${value} aria-pressed=${value === now} title=${hint ?? nothing}
        @click=${() => choose(value)}>${name}</button>`,
    )}</span>
  </div>`;
}

export interface Actions {
  select(map: number): void;
  compare(map: number): void;
  swap(): void;
  toggleCompare(): void;
  change(parts: Partial<ViewState>): void;
  /** As the keys do: "+", "-", "0". */
  zoom(key: string): void;
}

function comparison(language: Language, view: ViewState, names: readonly string[], actions: Actions): TemplateResult | typeof nothing {
  if (view.other === null) return nothing;
  const swap = say(language, "swap");
  return html`${choice(say(language, "compareA"), names, view.map, actions.select)}
    ${choice(say(language, "compareB"), names, view.other, actions.compare)}
    <button type="button" class="swap" @click=${actions.swap} aria-label=${swap} title=${swap}>⇄</button>`;
}

export function toolbar(language: Language, view: ViewState, names: readonly string[], actions: Actions): TemplateResult {
  const { reduce, colouring } = view;
  const [closer, farther] = [say(language, "zoomIn"), say(language, "zoomOut")];
  return html`<div class="bar">
    ${comparison(language, view, names, actions)}
    ${names.length > 1
      ? html`<button type="button" class="compare" aria-pressed=${view.other !== null} @click=${actions.toggleCompare}>
          ${say(language, view.other === null ? "compare" : "stopComparing")}</button>`
      : nothing}
    ${either(say(language, "pooling"), [
      ["mass", say(language, "pool_mass"), say(language, "poolHint_mass")],
      ["max", say(language, "pool_max"), say(language, "poolHint_max")],
    ], reduce, (value) => actions.change({ reduce: value }))}
    ${either(say(language, "colour"), [["linear", say(language, "colour_linear")], ["log", say(language, "colour_log")]],
      colouring, (value) => actions.change({ colouring: value }))}
    <span class="both">
      <button type="button" class="zoom-out" aria-label=${farther} title=${farther} @click=${() => actions.zoom("-")}>−</button>
      <button type="button" class="zoom-whole" ?disabled=${view.window === null} @click=${() => actions.zoom("0")}>${say(language, "whole")}</button>
      <button type="button" class="zoom-in" aria-label=${closer} title=${closer} @click=${() => actions.zoom("+")}>+</button>
    </span>
  </div>`;
}
