// <regard-help>: the keys, in a dialog.
import { css, html, LitElement } from "lit";
import { customElement, property, query } from "lit/decorators.js";
import type { Language } from "./document";
import { say, type TextKey } from "./texts";
import { theme } from "./theme";

/** What is pressed, and what it does. Names of keys are the same in both languages; gestures have a text. */
const KEYS: readonly (readonly [keys: readonly string[] | TextKey, does: TextKey])[] = [
  [["←", "↑", "↓", "→"], "help_arrows"],
  [["Home", "End"], "help_ends"],
  [["+", "−", "0"], "help_zoom"],
  [["Enter"], "help_enter"],
  [["[", "]"], "help_heads"],
  [["m"], "help_pool"],
  [["l"], "help_log"],
  [["c"], "help_compare"],
  [["s"], "help_sort"],
  [["?"], "help_help"],
  [["Esc"], "help_escape"],
  ["wheel", "help_wheel"],
  ["drag", "help_drag"],
  ["doubleClick", "help_double"],
];

const REMARKS: readonly TextKey[] = ["poolHint_mass", "poolHint_max", "statsHint", "stripsHint", "estimated", "headsHint", "notExplanation"];

@customElement("regard-help")
export class RegardHelp extends LitElement {
  static override styles = [
    theme,
    css`
      dialog {
        max-width: min(34rem, 92vw);
        max-height: 86vh;
        overflow: auto;
        border: 1px solid var(--line);
        border-radius: 12px;
        background: var(--panel);
        color: var(--ink);
        box-shadow: var(--shadow);
        padding: 18px 22px;
      }
      dialog::backdrop {
        background: rgb(10 14 22 / 45%);
      }
      .top {
        display: flex;
        justify-content: space-between;
        align-items: center;
        gap: 12px;
        margin-bottom: 10px;
      }
      h2 {
        font-size: 17px;
      }
      dl {
        display: grid;
        grid-template-columns: auto 1fr;
        gap: 7px 16px;
        margin: 0;
      }
      dt {
        white-space: nowrap;
      }
      dd {
        margin: 0;
      }
      kbd {
        font: 12px var(--mono);
        background: var(--sunken);
        border: 1px solid var(--line);
        border-radius: 5px;
        padding: 1px 6px;
        margin-right: 3px;
      }
      p {
        margin: 10px 0 0;
        color: var(--muted);
      }
    `,
  ];

  @property() language: Language = "en";
  @query("dialog") private dialog!: HTMLDialogElement;

  get open(): boolean {
    return this.dialog?.open ?? false;
  }

  show(): void {
    if (!this.open) this.dialog.showModal();
  }

  override render() {
    const name = (keys: readonly string[] | TextKey) =>
      typeof keys === "string" ? say(this.language, keys) : keys.map((key) => html`<kbd>${key}</kbd>`);
    return html`<dialog aria-labelledby="help-title">
      <div class="top">
        <h2 id="help-title">${say(this.language, "helpTitle")}</h2>
        <button type="button" @click=${() => this.dialog.close()}>${say(this.language, "close")}</button>
      </div>
      <dl>
        ${KEYS.map(([keys, does]) => html`<dt>${name(keys)}</dt><dd>${say(this.language, does)}</dd>`)}
      </dl>
      ${REMARKS.map((remark) => html`<p>${say(this.language, remark)}</p>`)}
    </dialog>`;
  }
}
