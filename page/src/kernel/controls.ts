// The title above, and the controls below the picture.
import { html, nothing, type TemplateResult } from "lit";
import type { Language, ViewDocument } from "../document";
import { say } from "../texts";
import type { ErrorCurve } from "./error";
import { NAMES } from "./kernels";
import { plain } from "./numbers";
import { type KernelText, teller } from "./texts";

export const STEPS = 600; // of the slider

const valueOf = (event: Event): string => (event.target as HTMLInputElement | HTMLSelectElement).value;

export function header(language: Language, shown: ViewDocument, choose: (language: Language) => void): TemplateResult {
  const { title, notes } = shown;
  return html`<header>
      <h1>${title || teller(language)("title")}</h1>
      <select name="language" aria-label=${say(language, "language")} @change=${(event: Event) => choose(valueOf(event) as Language)}>
        <option value="en" ?selected=${language === "en"}>English</option>
        <option value="zh" ?selected=${language === "zh"}>中文</option>
      </select>
    </header>
    ${notes.length === 0 ? nothing : html`<ul class="notes" aria-label=${say(language, "notes")}>
      ${notes.map((note) => html`<li>${note[language] || note.en}</li>`)}
    </ul>`}`;
}

export interface Settings {
  readonly kernel: string;
  readonly width: number;
  /** What the width is to the softmax; null: no temperature. */
  readonly temperature: number | null;
  /** Where the slider stands, from 0 to 1. */
  readonly share: number;
  readonly errors: ErrorCurve | null;
  readonly points: number;
}

export interface Answers {
  readonly kernel: (name: string) => void;
  readonly width: (width: number) => void;
  readonly share: (share: number) => void;
}

/** The kernel, and the bandwidth below the error it makes: slider and curve stand on one axis. */
export function controls(language: Language, settings: Settings, answer: Answers): TemplateResult {
  const t = teller(language);
  const { kernel, temperature, errors, points } = settings;
  const width = plain(settings.width);
  const spoken =
    temperature === null ? t("widthIs", { width }) : t("widthAndTemperature", { width, temperature: plain(temperature) });
  const best = errors?.best ?? null;
  const asked = errors && errors.asked < points ? t("errorSample", { asked: errors.asked, all: points }) : nothing;
  return html`<div class="controls">
    <div class="head">
      <span>
        <label for="kernel">${t("kernel")}</label>
        <select id="kernel" .value=${kernel} @change=${(event: Event) => answer.kernel(valueOf(event))}>
          ${NAMES.map((name) => html`<option value=${name} ?selected=${name === kernel}>${t(`kernel_${name}` as KernelText)}</option>`)}
        </select>
      </span>
      <span>
        <label for="width">${t("width")}</label> = <output for="width">${width}</output>
        ${temperature === null
          ? nothing
          : html`<span class="also">${t("temperature")} = <output for="width">${plain(temperature)}</output></span>`}
      </span>
    </div>
    <div class="slide">
      <div class="caption">
        <span>${t("errorTitle")}</span>
        <span>
          ${asked}
          ${best === null
            ? nothing
            : html`<button type="button" class="best" @click=${() => answer.width(best.width)}>${t("toBest", { width: plain(best.width) })}</button>`}
        </span>
      </div>
      <div class="errors"><canvas role="img" aria-label=${t("errorCurve")}></canvas></div>
      <input
        id="width" type="range" min="0" max=${STEPS} step="1" .value=${String(Math.round(settings.share * STEPS))}
        aria-valuetext=${spoken} @input=${(event: Event) => answer.share(Number(valueOf(event)) / STEPS)}
      />
      <div class="caption">
        <span>${t(temperature === null ? "narrow" : "cold")}</span><span>${t(temperature === null ? "wide" : "hot")}</span>
      </div>
    </div>
  </div>`;
}
