// Kernel regression as attention: a query to drag, and a bandwidth that is a temperature.
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { type Language, numbers, type ViewDocument } from "../document";
import { theme } from "../theme";
import { readAddress, writeAddress } from "./address";
import { inkOf, type Sized, sized } from "./canvas";
import { controls, header } from "./controls";
import { type ErrorCurve, ErrorSearch } from "./error";
import { type Domain, domainOf, Frame, pointAt } from "./frame";
import { type Attention, attention, type Data, type Kernel, KERNELS, predict, sorted } from "./kernels";
import { plain, stepped } from "./numbers";
import { draw } from "./plot";
import { drawErrors, drawRow } from "./small";
import { formula, temperatureOf, terms } from "./softmax";
import { style } from "./style";
import { type KernelText, teller } from "./texts";
import { hint, type Steps, summary } from "./words";

const SAID = 500; // ms of rest before the line is read out
const GAUSSIAN = KERNELS.get("gaussian")!;

interface Curve {
  readonly x: Float64Array;
  readonly y: Float64Array;
}

@customElement("regard-kernel")
export class RegardKernel extends LitElement {
  static override styles = [theme, style];

  @property({ attribute: false }) document: ViewDocument | null = null;
  @property({ attribute: false }) bytes: ArrayBuffer | null = null;
  @property({ attribute: false }) language: Language = "en";
  /** Where the curve is asked. */
  @property({ attribute: false }) query = 0;
  @property({ attribute: false }) width = 1;
  /** The kernel's name. */
  @property({ attribute: false }) kernel = "gaussian";
  @state() private said = "";
  @state() private hovered: number | null = null;
  @state() private focused = false;
  @state() private errors: ErrorCurve | null = null;

  private data: Data = sorted([], []);
  private domain: Domain = { x: [0, 1], y: [0, 1] };
  private low = 0.01;
  private high = 10;
  private found: Attention | null = null;
  private curve: Curve | null = null;
  private curveOf = "";
  private drawn = 0;
  private dragged = false;
  private chosen = false;
  private speaking: ReturnType<typeof setTimeout> | undefined;
  private addressing: ReturnType<typeof setTimeout> | undefined;
  private written = "";
  private readonly search = new ErrorSearch((errors) => {
    this.errors = { ...errors, errors: [...errors.errors] };
  });
  private readonly resized = new ResizeObserver(() => this.redraw());
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");

  override connectedCallback(): void {
    super.connectedCallback();
    this.dark.addEventListener("change", this.redraw);
    addEventListener("hashchange", this.arrived);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.dark.removeEventListener("change", this.redraw);
    removeEventListener("hashchange", this.arrived);
    this.search.stop();
    this.resized.disconnect();
    cancelAnimationFrame(this.drawn);
    clearTimeout(this.speaking);
    clearTimeout(this.addressing);
  }

  /** Where the query may go. */
  get range(): [number, number] {
    return this.domain.x;
  }

  /** What the query sees now. */
  get now(): Attention | null {
    return this.found;
  }

  private get rule(): Kernel {
    return KERNELS.get(this.kernel) ?? GAUSSIAN;
  }

  /** How finely x moves under the arrow keys; numbers are written as finely. */
  private get step(): number {
    return this.steps.x;
  }

  private get steps(): Steps {
    const { x, y } = this.domain;
    return { x: (x[1] - x[0]) / 200, y: (y[1] - y[0]) / 200 };
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if ((changed.has("document") || changed.has("bytes")) && this.document?.kernel && this.bytes) this.open();
    if (changed.has("kernel") || changed.has("document") || changed.has("bytes")) {
      this.errors = null;
      this.search.start(this.data, this.rule, this.low, this.high);
    }
    if (["document", "bytes", "query", "width", "kernel"].some((name) => changed.has(name))) {
      this.found = attention(this.data, this.query, this.width, this.rule);
      this.speakSoon();
      this.writeSoon();
    }
    if (changed.has("language")) {
      this.said = this.summary();
      document.documentElement.lang = this.language === "zh" ? "zh-CN" : "en";
    }
  }

  private open(): void {
    const given = this.document!.kernel!;
    this.data = sorted(numbers(this.bytes!, given.x), numbers(this.bytes!, given.y));
    const { x } = this.data;
    this.domain = domainOf(this.data, given.from, given.to);
    const across = (x[x.length - 1] ?? 1) - (x[0] ?? 0) || 1;
    this.low = Math.min(across / Math.min(5000, Math.max(100, 4 * x.length)), given.width);
    this.high = Math.max(3 * across, given.width);
    this.width = given.width;
    this.kernel = KERNELS.get(given.kernel)?.name ?? "gaussian";
    this.query = given.from + (given.to - given.from) * 0.4;
    this.follow(location.hash);
  }

  private readonly arrived = (): void => {
    if (location.hash.replace(/^#/, "") !== this.written) this.follow(location.hash);
  };

  private follow(fragment: string): void {
    const state = readAddress(fragment);
    if (state.query !== null) this.moveTo(state.query);
    if (state.width !== null) this.width = Math.min(Math.max(state.width, this.low), this.high);
    if (state.kernel !== null) this.kernel = state.kernel;
    if (state.language !== null) this.language = state.language;
  }

  private writeSoon(): void {
    if (!this.hasUpdated) return; // an address is written when something was moved
    clearTimeout(this.addressing);
    this.addressing = setTimeout(() => {
      this.written = writeAddress(location.hash, this.query, this.width, this.kernel, this.language, this.chosen);
      try {
        history.replaceState(history.state, "", `#${this.written}`);
      } catch {
        // a notebook's frame has no address that may change
      }
    }, 250);
  }

  private speak(language: Language): void {
    this.chosen = true;
    this.language = language;
    this.writeSoon();
  }

  private moveTo(x: number): void {
    this.query = Math.min(Math.max(x, this.domain.x[0]), this.domain.x[1]);
  }

  /** The line for those who listen, once things rest. */
  private speakSoon(): void {
    clearTimeout(this.speaking);
    if (this.said === "") this.said = this.summary();
    else this.speaking = setTimeout(() => (this.said = this.summary()), SAID);
  }

  private summary(): string {
    const t = teller(this.language);
    return this.found ? summary(t, this.data, this.found, this.query, this.steps) : t("empty");
  }

  protected override firstUpdated(): void {
    for (const box of this.renderRoot.querySelectorAll(".plot, .errors, .row")) this.resized.observe(box);
  }

  protected override updated(): void {
    this.redraw();
  }

  private readonly redraw = (): void => {
    cancelAnimationFrame(this.drawn);
    this.drawn = requestAnimationFrame(() => this.paint());
  };

  private paint(): void {
    if (!this.found || this.data.x.length === 0) return;
    const t = teller(this.language);
    const ink = inkOf(this);
    const plot = this.canvas(".plot canvas");
    if (plot) {
      const frame = new Frame(plot.wide, plot.high, this.domain);
      const { hovered, data, found } = this;
      draw(plot.context, frame, {
        data, kernel: this.rule, width: this.width, query: this.query, attention: found, hovered,
        curve: this.curveOver(frame), focused: this.focused,
        labels: {
          weight: t("weight"),
          hover: hint(t, data, found, hovered, this.steps),
        },
      }, ink);
    }
    const errors = this.canvas(".errors canvas");
    if (errors && this.errors) {
      drawErrors(errors.context, errors.wide, errors.high, this.errors, this.low, this.high, this.width, ink, t("best"));
    }
    const row = this.canvas(".row canvas");
    if (row) drawRow(row.context, row.wide, row.high, this.found.weights, row.wide * devicePixelRatio);
    this.dataset["ready"] = "true";
  }

  /** The curve over the whole axis; worked out anew only when it changed. */
  private curveOver(frame: Frame): Curve {
    const [from, to] = frame.x.range() as [number, number];
    const name = `${this.kernel} ${this.width} ${from} ${to} ${this.domain.x.join()}`;
    if (this.curve && this.curveOf === name) return this.curve;
    const count = Math.max(2, Math.ceil((to - from) / 1.5));
    const x = Float64Array.from({ length: count }, (_, i) => frame.x.invert(from + ((to - from) * i) / (count - 1)));
    const y = x.map((at) => predict(this.data, at, this.width, this.rule));
    this.curve = { x, y };
    this.curveOf = name;
    return this.curve;
  }

  private canvas(selector: string): Sized | null {
    return sized(this.renderRoot.querySelector<HTMLCanvasElement>(selector));
  }

  private frameOf(box: HTMLElement): Frame {
    return new Frame(box.clientWidth, box.clientHeight, this.domain);
  }

  private onPointerDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    const box = event.currentTarget as HTMLElement;
    box.setPointerCapture(event.pointerId);
    this.dragged = true;
    this.onPointerMove(event);
  }

  private onPointerMove(event: PointerEvent): void {
    const box = event.currentTarget as HTMLElement;
    const place = box.getBoundingClientRect();
    const px = event.clientX - place.left - box.clientLeft;
    const py = event.clientY - place.top - box.clientTop;
    const frame = this.frameOf(box);
    if (this.dragged) {
      this.hovered = null;
      this.moveTo(frame.x.invert(px));
    } else {
      this.hovered = frame.holds(px, py) ? pointAt(frame, this.data, px, py) : null;
    }
  }

  private onPointerUp(): void {
    this.dragged = false;
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [from, to] = this.domain.x;
    const step = this.step * (event.shiftKey ? 10 : 1);
    const moves: Record<string, number> = {
      ArrowLeft: this.query - step, ArrowDown: this.query - step,
      ArrowRight: this.query + step, ArrowUp: this.query + step,
      PageDown: this.query - 10 * this.step, PageUp: this.query + 10 * this.step,
      Home: from, End: to,
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    this.moveTo(move);
  }

  protected override render(): TemplateResult {
    const t = teller(this.language);
    if (!this.found || this.data.x.length === 0) return html`<p>${t("empty")}</p>`;
    const x = stepped(this.query, this.step);
    return html`
      ${this.document ? header(this.language, this.document, (language) => this.speak(language)) : nothing}
      <main class="board">
        <div
          class="plot" role="slider" tabindex="0" aria-label=${`${t("query")}. ${t("figure")}`}
          aria-valuemin=${this.domain.x[0]} aria-valuemax=${this.domain.x[1]} aria-valuenow=${this.query}
          aria-valuetext=${`${x}: ${stepped(this.found.prediction, this.steps.y)}`}
          @pointerdown=${this.onPointerDown} @pointermove=${this.onPointerMove}
          @pointerup=${this.onPointerUp} @pointercancel=${this.onPointerUp}
          @pointerleave=${() => (this.hovered = null)}
          @focus=${() => (this.focused = true)} @blur=${() => (this.focused = false)} @keydown=${this.onKey}
        >
          <canvas></canvas>
          <span class="hint" aria-hidden="true">${t("moveHint")}</span>
        </div>
        ${controls(this.language, {
          kernel: this.kernel, width: this.width, temperature: temperatureOf(this.rule, this.width),
          share: Math.log(this.width / this.low) / Math.log(this.high / this.low), errors: this.errors, points: this.data.x.length,
        }, {
          kernel: (name) => (this.kernel = name),
          width: (width) => (this.width = width),
          share: (share) => (this.width = this.low * (this.high / this.low) ** share),
        })}
        ${this.softmax()}
      </main>
    `;
  }

  private softmax(): TemplateResult {
    const t = teller(this.language);
    const { rule } = this;
    const temperature = temperatureOf(rule, this.width);
    const said =
      temperature === null ? t("notTemperature")
      : t(`asTemperature_${rule.name}` as KernelText, { temperature: plain(temperature) });
    return html`<section class="softmax" aria-labelledby="softmax">
      <h2 id="softmax">${t("softmaxTitle")}</h2>
      <div class="scroll">${formula(rule, stepped(this.query, this.step), this.width, stepped(this.found!.prediction, this.steps.y))}</div>
      <p class="temperature">${said} ${rule.edge < Infinity ? t("edge") : nothing}</p>
      <div class="caption">${t("rowTitle", { count: this.data.x.length })}</div>
      <div class="row"><canvas role="img" aria-label=${t("rowLabel")}></canvas></div>
      ${terms(t, this.data, this.found!, rule, this.query, this.width, this.steps)}
      <p class="line" role="status" aria-live="polite">${this.said}</p>
    </section>`;
  }
}
