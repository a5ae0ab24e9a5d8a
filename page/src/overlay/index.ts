// A picture or a spectrogram, and over it where one query looks.
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { percentText, roundUp, type Scale, weightText } from "../colour";
import type { Backdrop, Language } from "../document";
import "../legend";
import { theme } from "../theme";
import { BARS, paint } from "./paint";
import { fitted, patchAt, type Patches, patchesOf } from "./patches";
import { tell } from "./texts";

const HIGH = 460; // most pixels of height

@customElement("regard-overlay")
export class RegardOverlay extends LitElement {
  static override styles = [
    theme,
    css`
      :host {
        display: block;
      }
      .picture {
        position: relative;
        width: fit-content;
        max-width: 100%;
        margin: 0 auto;
        touch-action: none;
        cursor: crosshair;
      }
      canvas {
        display: block;
        border-radius: 4px;
      }
      .controls {
        display: flex;
        flex-wrap: wrap;
        gap: 6px 20px;
        align-items: end;
        margin-top: 10px;
      }
      label {
        display: block;
        font-size: 12px;
        color: var(--muted);
      }
      input {
        padding: 0;
        width: 160px;
        accent-color: var(--accent);
      }
      regard-legend {
        flex: 1 1 160px;
        max-width: 280px;
      }
      p {
        margin: 8px 0 0;
        min-height: 1.45em;
      }
    `,
  ];

  @property({ attribute: false }) backdrop: Backdrop | null = null;
  /** One query's weights on all keys; null: no query is chosen. */
  @property({ attribute: false }) weights: Float32Array | null = null;
  @property({ attribute: false }) language: Language = "en";
  /** Of the weights over the picture, from 0 to 1. */
  @property({ attribute: false }) opacity = 0.75;
  /** The patch that is pointed at. */
  @state() private cursor: number | null = null;
  @state() private picture: HTMLImageElement | null = null;

  private patches: Patches | null = null;
  private scale: Scale = { kind: "weights", colouring: "linear", max: 1 };
  private drawn = 0;
  private readonly resized = new ResizeObserver(() => this.redraw());
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");

  override connectedCallback(): void {
    super.connectedCallback();
    this.resized.observe(this);
    this.dark.addEventListener("change", this.redraw);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resized.disconnect();
    this.dark.removeEventListener("change", this.redraw);
    cancelAnimationFrame(this.drawn);
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("backdrop")) {
      this.picture = null;
      this.cursor = null;
      if (this.backdrop) void this.load(this.backdrop);
    }
    if (changed.has("backdrop") || changed.has("weights")) {
      this.patches = this.backdrop && this.weights ? patchesOf(this.backdrop, this.weights) : null;
      this.scale = { kind: "weights", colouring: "linear", max: roundUp(this.patches?.most ?? 1) };
    }
  }

  private async load(backdrop: Backdrop): Promise<void> {
    if (!backdrop.image.startsWith("data:image/")) return; // the page fetches nothing
    const image = new Image();
    image.src = backdrop.image;
    try {
      await image.decode();
    } catch {
      return; // the weights are shown without it
    }
    if (this.backdrop === backdrop) this.picture = image;
  }

  protected override updated(): void {
    this.redraw();
  }

  private readonly redraw = (): void => {
    cancelAnimationFrame(this.drawn);
    this.drawn = requestAnimationFrame(() => this.paint());
  };

  private get top(): number {
    return this.backdrop?.kind === "spectrogram" ? BARS : 0;
  }

  private paint(): void {
    const canvas = this.renderRoot.querySelector("canvas");
    const context = canvas?.getContext("2d");
    const { backdrop } = this;
    if (!canvas || !context || !backdrop || this.clientWidth === 0) return;
    const most = this.clientWidth;
    // a spectrogram is drawn as wide as there is room for: its two axes have no common measure
    const [w, h] =
      backdrop.kind === "spectrogram" ? [most, Math.min(260, Math.max(120, most / 3))]
      : fitted(backdrop.width, backdrop.height, most, HIGH);
    const [wide, high] = [Math.round(w), Math.round(h)];
    const dots = devicePixelRatio || 1;
    canvas.width = Math.round(wide * dots);
    canvas.height = Math.round((high + this.top) * dots);
    canvas.style.width = `${wide}px`;
    canvas.style.height = `${high + this.top}px`;
    context.setTransform(dots, 0, 0, dots, 0, 0);
    const is = getComputedStyle(this);
    const colour = (name: string) => is.getPropertyValue(name).trim();
    paint(context, wide, high, this.top, {
      picture: this.picture, patches: this.patches, scale: this.scale, opacity: this.opacity, cursor: this.cursor,
      ink: { text: colour("--ink"), muted: colour("--muted"), panel: colour("--panel"), font: `12px ${is.fontFamily}` },
    });
    this.dataset["ready"] = "true";
  }

  private onPointer(event: PointerEvent): void {
    const { patches } = this;
    const place = (event.currentTarget as HTMLElement).getBoundingClientRect();
    if (!patches) return;
    const py = event.clientY - place.top - this.top;
    const px = event.clientX - place.left;
    this.cursor = patchAt(patches, place.width, place.height - this.top, px, Math.max(0, py));
  }

  private onKey(event: KeyboardEvent): void {
    const { patches } = this;
    if (!patches || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.cursor ?? patches.at;
    const [row, col] = [Math.floor(at / patches.cols), at % patches.cols];
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [row, col - 1], ArrowRight: [row, col + 1], ArrowUp: [row - 1, col], ArrowDown: [row + 1, col],
      Home: [row, 0], End: [row, patches.cols - 1],
    };
    const move = moves[event.key];
    if (event.key === "Escape") this.cursor = null;
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    const held = (value: number, count: number) => Math.min(Math.max(value, 0), count - 1);
    this.cursor = held(move[0], patches.rows) * patches.cols + held(move[1], patches.cols);
  }

  /** The line below the picture: the patch that is pointed at, or the heaviest one. */
  private said(): string {
    const { patches, backdrop, cursor, language } = this;
    if (!patches || !backdrop) return tell(language, "none");
    const about = (at: number) => ({
      row: Math.floor(at / patches.cols) + 1, col: (at % patches.cols) + 1, weight: weightText(patches.weights[at]!),
    });
    if (cursor !== null) return tell(language, backdrop.kind === "image" ? "patch" : "frame", about(cursor));
    const most = tell(language, `most_${backdrop.kind}`, about(patches.at));
    if (patches.outside < 0.0005) return most;
    return `${most} ${tell(language, "outside", { share: percentText(patches.outside) })}`;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { backdrop, language, patches } = this;
    if (!backdrop) return nothing;
    return html`
      <div
        class="picture" role="application" tabindex="0" aria-label=${tell(language, backdrop.kind)}
        aria-describedby="said" @pointermove=${this.onPointer} @pointerdown=${this.onPointer}
        @pointerleave=${() => (this.cursor = null)} @keydown=${this.onKey}
      ><canvas></canvas></div>
      <div class="controls">
        <div>
          <label for="opacity">${tell(language, "opacity")}</label>
          <input
            id="opacity" type="range" min="0" max="100" .value=${String(Math.round(this.opacity * 100))}
            @input=${(event: Event) => (this.opacity = Number((event.target as HTMLInputElement).value) / 100)}
          />
        </div>
        ${patches ? html`<regard-legend .scale=${this.scale} .label=${tell(language, "weight")}></regard-legend>` : nothing}
      </div>
      <p id="said" role="status" aria-live="polite">${this.said()}</p>
    `;
  }
}
