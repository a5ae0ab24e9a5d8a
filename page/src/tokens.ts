// <regard-tokens>: one token. Where it looks and who looks at it, as shaded text and as a list.
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { guard } from "lit/directives/guard.js";
import { percentText, weightText } from "./colour";
import { tokenAt, type AttentionMap, type Language, type ViewDocument } from "./document";
import { excerpts, repeated, shading } from "./excerpt";
import { Latest } from "./latest";
import type { Axis, Source } from "./source";
import { quoted, say } from "./texts";
import { styled } from "./styled";
import { theme } from "./theme";
import type { Line } from "./tile";
import type { Cell } from "./zoom";

/** Below this share of the largest weight a token is not shaded at all. */
const FAINT = 0.02;

@customElement("regard-tokens")
export class RegardTokens extends LitElement {
  static override styles = [
    theme,
    css`
      :host {
        display: flex;
        flex-direction: column;
        gap: 12px;
        min-height: 0;
      }
      h2 {
        font-size: 15px;
      }
      h3 {
        font-size: 14px;
        overflow-wrap: anywhere;
      }
      .pick {
        display: flex;
        flex-wrap: wrap;
        gap: 6px 12px;
        align-items: center;
      }
      .pick label {
        display: flex;
        font-size: 13px;
        gap: 6px;
        align-items: center;
        color: var(--muted);
      }
      .pick input {
        width: calc(var(--digits, 3) * 1ch + 3.4em);
        color: var(--ink);
      }
      .lines {
        display: grid;
        gap: 14px 24px;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr));
        align-items: start;
      }
      section {
        min-width: 0;
        display: flex;
        flex-direction: column;
        gap: 6px;
      }
      .text {
        max-height: 13em;
        overflow: auto;
        border-radius: 8px;
        background: var(--sunken);
        padding: 8px 10px;
        line-height: 1.75;
        overflow-wrap: anywhere;
      }
      .text span {
        border-radius: 3px;
        padding: 1px 2px;
        cursor: pointer;
        unicode-bidi: isolate;
        white-space: pre-wrap;
      }
      .text span:hover {
        box-shadow: 0 0 0 1px var(--muted);
      }
      .text .self {
        box-shadow: 0 0 0 2px var(--accent);
      }
      ol {
        list-style: none;
        margin: 0;
        padding: 0;
        display: grid;
        gap: 1px;
      }
      li button {
        display: grid;
        grid-template-columns: 4.2em minmax(0, 1fr) 28%;
        gap: 8px;
        align-items: center;
        width: 100%;
        text-align: left;
        border: 0;
        border-radius: 5px;
        background: none;
        padding: 2px 4px;
        min-height: 24px;
      }
      li button:hover {
        background: var(--sunken);
      }
      .number {
        text-align: right;
        font-variant-numeric: tabular-nums;
      }
      .word {
        unicode-bidi: isolate;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: pre;
      }
      .word small {
        color: var(--muted);
      }
      .track {
        height: 8px;
        border-radius: 4px;
        background: var(--sunken);
        overflow: hidden;
      }
      .fill {
        height: 100%;
        background: var(--bar);
      }
      p {
        margin: 0;
        font-size: 13px;
      }
    `,
  ];

  @property({ attribute: false }) document!: ViewDocument;
  @property({ attribute: false }) source!: Source;
  @property({ type: Number }) map = 0;
  @property({ attribute: false }) cell: Cell | null = null;
  @property({ type: Boolean }) pinned = false;
  @property() language: Language = "en";
  @state() private looks: Line | null = null;
  @state() private looked: Line | null = null;
  private readonly questions: Record<Axis, Latest> = { row: new Latest(), col: new Latest() };

  private get data(): AttentionMap {
    return this.document.maps[this.map]!;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get("cell") as Cell | null | undefined;
    const other = changed.has("map") || changed.has("source");
    if (other || (changed.has("cell") && before?.row !== this.cell?.row)) this.ask("row");
    if (other || (changed.has("cell") && before?.col !== this.cell?.col)) this.ask("col");
  }

  private ask(axis: Axis): void {
    const { cell, map, source } = this;
    const set = (line: Line | null): void => {
      if (axis === "row") this.looks = line;
      else this.looked = line;
    };
    if (!cell) {
      this.questions[axis].drop();
      set(null);
      return;
    }
    const at = axis === "row" ? cell.row : cell.col;
    this.questions[axis].ask(
      () => source.line(map, axis, at),
      (line) => {
        if (map === this.map && at === (axis === "row" ? this.cell?.row : this.cell?.col)) set(line);
      },
      // The map beside it says that the server does not answer.
      () => set(null),
    );
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has("looks") || changed.has("looked")) this.scrollTexts();
    this.style.setProperty("--digits", String(Math.max(3, String(Math.max(this.data.rows, this.data.cols)).length)));
    this.dataset["row"] = this.cell ? String(this.cell.row) : "";
    this.dataset["col"] = this.cell ? String(this.cell.col) : "";
    this.dataset["ready"] = String(this.cell === null || (this.looks !== null && this.looked !== null));
  }

  /** A long text shows its strongest token. */
  private scrollTexts(): void {
    for (const text of this.renderRoot.querySelectorAll<HTMLElement>(".text")) {
      const strongest = text.querySelector<HTMLElement>(".strongest");
      if (strongest) text.scrollTop = strongest.offsetTop - text.offsetTop - text.clientHeight / 2;
    }
  }

  private name(axis: Axis, place: number): string {
    return tokenAt(this.document, axis === "row" ? this.data.row_tokens : this.data.col_tokens, place);
  }

  private isRepeated(axis: Axis, place: number): boolean {
    const tokens = this.document.tokens[(axis === "row" ? this.data.row_tokens : this.data.col_tokens) ?? -1];
    return tokens !== undefined && repeated(tokens).has(this.name(axis, place));
  }

  /** Take a token: in attention of a text to itself it is query and key at once. */
  private pick(axis: Axis, place: number): void {
    const { cell, data } = this;
    const alike = data.shape !== "cross" && data.rows === data.cols;
    const row = axis === "row" || alike ? place : (cell?.row ?? 0);
    const col = axis === "col" || alike ? place : (cell?.col ?? 0);
    this.dispatchEvent(new CustomEvent("regard-pick", { detail: { cell: { row, col } }, bubbles: true, composed: true }));
  }

  private readonly typed = (axis: Axis, event: Event): void => {
    const value = (event.target as HTMLInputElement).valueAsNumber;
    const count = axis === "row" ? this.data.rows : this.data.cols;
    if (!Number.isInteger(value) || value < 0 || value >= count) return;
    const cell = { row: this.cell?.row ?? 0, col: this.cell?.col ?? 0, [axis]: value };
    this.dispatchEvent(new CustomEvent("regard-pick", { detail: { cell }, bubbles: true, composed: true }));
  };

  private renderText(line: Line, axis: Axis, self: number | null) {
    const shade = shading(line);
    const parts = excerpts(line.places, line.peaks.map(({ at }) => at), self);
    const token = (place: number) => {
      const depth = shade(place);
      const background = depth < FAINT ? "transparent" : `color-mix(in srgb, var(--mark) ${Math.round(depth * 100)}%, transparent)`;
      const kind = `${place === self ? "self " : ""}${place === line.peaks[0]?.at ? "strongest" : ""}`;
      return html`<span data-at=${place} class=${kind} ${styled({ background })}>${this.name(axis, place)}</span> `;
    };
    const clicked = (event: MouseEvent): void => {
      const at = (event.target as HTMLElement).dataset["at"];
      if (at !== undefined) this.pick(axis, Number(at));
    };
    const stretch = ({ from, to }: { from: number; to: number }) => Array.from({ length: to - from }, (_, at) => token(from + at));
    const gap = (at: number) => (line.places <= parts.reduce((sum, { from, to }) => sum + to - from, 0) || at < 0 ? nothing : "… ");
    return html`<div class="text" tabindex="0" role="group" aria-label=${say(this.language, "token")} @click=${clicked}>
      ${parts.map((part, at) => [gap(at), ...stretch(part)])}${gap(0)}
    </div>`;
  }

  /** Keys that are patches of a picture are seen in it; their places in a row say nothing. */
  private isPicture(axis: Axis): boolean {
    return axis === "col" && this.document.backdrop !== null;
  }

  private renderPeaks(line: Line, axis: Axis) {
    if (line.peaks.length === 0) return html`<p class="muted">${say(this.language, "nothing")}</p>`;
    return html`<ol>
      ${line.peaks.map(
        ({ at, weight }) => html`<li>
          <button type="button" data-at=${at} data-weight=${weight} title="${this.name(axis, at)} (${at}): ${weightText(weight, 5)}" @click=${() => this.pick(axis, at)}>
            <span class="number">${percentText(weight)}</span>
            <span class="word">${this.name(axis, at)}${this.isRepeated(axis, at) ? html` <small>${at}</small>` : nothing}</span>
            <span class="track"><span class="fill" ${styled({ display: "block", width: `${Math.min(100, (weight / line.peaks[0]!.weight) * 100)}%` })}></span></span>
          </button>
        </li>`,
      )}
    </ol>`;
  }

  private renderLine(kind: "looks" | "looked", line: Line | null, axis: Axis, token: string, self: number | null) {
    const title = say(this.language, kind === "looks" ? "looksAt" : "lookedAt", { token: quoted(token) });
    const partly = line?.known?.includes(0) ?? false;
    return html`<section class=${kind} aria-label=${title}>
      <h3>${title}</h3>
      ${line
        ? guard([line, axis, self, this.language, this.document], () => html`${this.isPicture(axis) ? nothing : this.renderText(line, axis, self)}${this.renderPeaks(line, axis)}`) : html`<p class="muted">${say(this.language, "reading")}</p>`}
      ${line && line.every > 1 ? html`<p class="muted">${say(this.language, "sampledLine", { every: line.every })}</p>` : nothing}
      ${partly ? html`<p class="muted">${say(this.language, "unknownLine", { count: this.data.top?.count ?? 0 })}</p>` : nothing}
    </section>`;
  }

  override render() {
    const { cell, data, language } = this;
    const alike = data.shape !== "cross";
    return html`
      <h2>${say(language, "token")}${this.pinned ? html` <span class="muted">(${say(language, "pinned")})</span>` : nothing}</h2>
      <div class="pick">
        <label>${say(language, "queryNumber")}
          <input type="number" name="row" min="0" max=${data.rows - 1} .value=${cell ? String(cell.row) : ""} @change=${(event: Event) => this.typed("row", event)} />
        </label>
        <label>${say(language, "keyNumber")}
          <input type="number" name="col" min="0" max=${data.cols - 1} .value=${cell ? String(cell.col) : ""} @change=${(event: Event) => this.typed("col", event)} />
        </label>
      </div>
      ${cell
        ? html`<div class="lines">${this.renderLine("looks", this.looks, "col", this.name("row", cell.row), alike ? cell.row : null)}
          ${this.renderLine("looked", this.looked, "row", this.name("col", cell.col), alike ? cell.col : null)}</div>`
        : html`<p class="muted">${say(language, "pickHint")}</p>`}
    `;
  }
}
