// A colour bar with numbers.
import { css, html, LitElement } from "lit";
import { customElement, property } from "lit/decorators.js";
import { colourOf, css as cssColour, share, valueAt, weightText, type Scale } from "./colour";
import { styled } from "./styled";
import { theme } from "./theme";

const STOPS = 24;

/** Values that are written below a bar: round ones, not too many. */
export function ticksOf(scale: Scale): number[] {
  const { kind, colouring, max } = scale;
  const difference = kind === "difference";
  // A side of a difference has half the bar: its values are further apart.
  const parts = colouring === "linear" ? [1, 0.5] : difference ? [1, 0.01] : [1, 0.1, 0.01, 0.001];
  const half = parts.map((part) => part * max);
  return [...(difference ? half.map((value) => -value) : []), 0, ...half.reverse()];
}

@customElement("regard-legend")
export class RegardLegend extends LitElement {
  static override styles = [
    theme,
    css`
      :host {
        display: grid;
        grid-template-columns: auto minmax(0, 1fr);
        gap: 0 10px;
        font-size: 12px;
      }
      .bar {
        height: 9px;
        border-radius: 3px;
        border: 1px solid var(--line);
      }
      .ticks {
        position: relative;
        height: 1.3em;
        color: var(--muted);
        font-variant-numeric: tabular-nums;
      }
      .ticks span {
        position: absolute;
        transform: translateX(-50%);
        white-space: nowrap;
      }
      .ticks span:first-child {
        transform: none;
      }
      .ticks span:last-child {
        transform: translateX(-100%);
      }
      .name {
        color: var(--muted);
        line-height: 11px;
      }
      .ticks {
        grid-column: 2;
      }
    `,
  ];

  @property({ attribute: false }) scale: Scale = { kind: "weights", colouring: "linear", max: 1 };
  @property() label = "";

  override render() {
    const colours = Array.from({ length: STOPS + 1 }, (_, at) => cssColour(colourOf(this.scale, valueAt(this.scale, at / STOPS))));
    const ticks = ticksOf(this.scale);
    const written = ticks.map((value) => ({ value, at: Math.min(1, share(this.scale, value)) * 100 }));
    return html`
      <div class="name">${this.label}</div>
      <div class="bar" ${styled({ background: `linear-gradient(to right, ${colours.join(", ")})` })}></div>
      <div class="ticks">
        ${written.map(({ value, at }) => html`<span ${styled({ left: `${at}%` })}>${weightText(value)}</span>`)}
      </div>
    `;
  }
}
