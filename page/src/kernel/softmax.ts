// The formula with its numbers, and the largest weights term by term.
import { html, nothing, type TemplateResult } from "lit";
import { type Attention, type Data, type Kernel, largest } from "./kernels";
import { plain, stepped } from "./numbers";
import type { Teller } from "./texts";
import type { Steps } from "./words";

const SHOWN = 6; // rows of the table

const SHAPES: Readonly<Record<string, string>> = {
  cauchy: "1 / (1 + u²)",
  matern32: "(1 + √3 |u|) exp(−√3 |u|)",
  matern52: "(1 + √5 |u| + 5/3 u²) exp(−√5 |u|)",
  boxcar: "1",
  triangular: "1 − |u|",
  epanechnikov: "1 − u²",
  biweight: "(1 − u²)²",
  triweight: "(1 − u²)³",
  tricube: "(1 − |u|³)³",
  cosine: "cos(π u / 2)",
};

/** What the width is to the softmax, where it is a temperature. */
export function temperatureOf(kernel: Kernel, width: number): number | null {
  if (kernel.name === "gaussian") return width * width;
  return kernel.name === "laplacian" ? width : null;
}

/** The weights as a softmax: once in letters, once in numbers. */
export function formula(kernel: Kernel, query: string, width: number, value: string): TemplateResult {
  const t = temperatureOf(kernel, width);
  if (kernel.name === "gaussian") {
    return html`<math display="block"><mtable displaystyle="true">
      <mtr>
        <mtd><msub><mi>α</mi><mi>i</mi></msub></mtd><mtd><mo>=</mo></mtd>
        <mtd>
          <msub><mi>softmax</mi><mi>i</mi></msub>
          <mrow><mo>(</mo><mfrac>
            <mrow><mo>−</mo><mfrac><mn>1</mn><mn>2</mn></mfrac><msup><mrow><mo>(</mo><mi>x</mi><mo>−</mo><msub><mi>x</mi><mi>i</mi></msub><mo>)</mo></mrow><mn>2</mn></msup></mrow>
            <msup class="query"><mi>w</mi><mn>2</mn></msup>
          </mfrac><mo>)</mo></mrow>
        </mtd>
      </mtr>
      <mtr>
        <mtd></mtd><mtd><mo>=</mo></mtd>
        <mtd>
          <msub><mi>softmax</mi><mi>i</mi></msub>
          <mrow><mo>(</mo><mfrac>
            <mrow><mo>−</mo><mfrac><mn>1</mn><mn>2</mn></mfrac><msup><mrow><mo>(</mo><mn>${query}</mn><mo>−</mo><msub><mi>x</mi><mi>i</mi></msub><mo>)</mo></mrow><mn>2</mn></msup></mrow>
            <mn class="query">${plain(t!)}</mn>
          </mfrac><mo>)</mo></mrow>
        </mtd>
      </mtr>
      <mtr>
        <mtd><mrow><mi>f</mi><mo>(</mo><mi>x</mi><mo>)</mo></mrow></mtd><mtd><mo>=</mo></mtd>
        <mtd>
          <mrow><msub><mo>∑</mo><mi>i</mi></msub><msub><mi>α</mi><mi>i</mi></msub><msub><mi>y</mi><mi>i</mi></msub>
          <mo>=</mo><mn class="query">${value}</mn></mrow>
        </mtd>
      </mtr>
    </mtable></math>`;
  }
  if (kernel.name === "laplacian") {
    return html`<math display="block"><mtable displaystyle="true">
      <mtr>
        <mtd><msub><mi>α</mi><mi>i</mi></msub></mtd><mtd><mo>=</mo></mtd>
        <mtd>
          <msub><mi>softmax</mi><mi>i</mi></msub>
          <mrow><mo>(</mo><mfrac>
            <mrow><mo>−</mo><mo>|</mo><mi>x</mi><mo>−</mo><msub><mi>x</mi><mi>i</mi></msub><mo>|</mo></mrow>
            <mi class="query">w</mi>
          </mfrac><mo>)</mo></mrow>
        </mtd>
      </mtr>
      <mtr>
        <mtd></mtd><mtd><mo>=</mo></mtd>
        <mtd>
          <msub><mi>softmax</mi><mi>i</mi></msub>
          <mrow><mo>(</mo><mfrac>
            <mrow><mo>−</mo><mo>|</mo><mn>${query}</mn><mo>−</mo><msub><mi>x</mi><mi>i</mi></msub><mo>|</mo></mrow>
            <mn class="query">${plain(t!)}</mn>
          </mfrac><mo>)</mo></mrow>
        </mtd>
      </mtr>
      <mtr>
        <mtd><mrow><mi>f</mi><mo>(</mo><mi>x</mi><mo>)</mo></mrow></mtd><mtd><mo>=</mo></mtd>
        <mtd>
          <mrow><msub><mo>∑</mo><mi>i</mi></msub><msub><mi>α</mi><mi>i</mi></msub><msub><mi>y</mi><mi>i</mi></msub>
          <mo>=</mo><mn class="query">${value}</mn></mrow>
        </mtd>
      </mtr>
    </mtable></math>`;
  }
  return html`<math display="block"><mtable displaystyle="true">
    <mtr>
      <mtd><msub><mi>α</mi><mi>i</mi></msub></mtd><mtd><mo>=</mo></mtd>
      <mtd>
        <msub><mi>softmax</mi><mi>i</mi></msub>
        <mrow><mo>(</mo><mi>log</mi><mi>K</mi><mo>(</mo><mfrac>
          <mrow><mi>x</mi><mo>−</mo><msub><mi>x</mi><mi>i</mi></msub></mrow><mi class="query">w</mi>
        </mfrac><mo>)</mo><mo>)</mo></mrow>
      </mtd>
    </mtr>
    <mtr>
      <mtd></mtd><mtd><mo>=</mo></mtd>
      <mtd>
        <msub><mi>softmax</mi><mi>i</mi></msub>
        <mrow><mo>(</mo><mi>log</mi><mi>K</mi><mo>(</mo><mfrac>
          <mrow><mn>${query}</mn><mo>−</mo><msub><mi>x</mi><mi>i</mi></msub></mrow><mn class="query">${plain(width)}</mn>
        </mfrac><mo>)</mo><mo>)</mo></mrow>
      </mtd>
    </mtr>
    <mtr>
      <mtd><mrow><mi>K</mi><mo>(</mo><mi>u</mi><mo>)</mo></mrow></mtd><mtd><mo>=</mo></mtd>
      <mtd><mtext>${SHAPES[kernel.name] ?? ""}</mtext></mtd>
    </mtr>
    <mtr>
      <mtd><mrow><mi>f</mi><mo>(</mo><mi>x</mi><mo>)</mo></mrow></mtd><mtd><mo>=</mo></mtd>
      <mtd>
        <mrow><msub><mo>∑</mo><mi>i</mi></msub><msub><mi>α</mi><mi>i</mi></msub><msub><mi>y</mi><mi>i</mi></msub>
        <mo>=</mo><mn class="query">${value}</mn></mrow>
      </mtd>
    </mtr>
  </mtable></math>`;
}

/** Score, weight and value of the points that weigh most; the others in one line; the sum is the prediction. */
export function terms(
  t: Teller, data: Data, found: Attention, kernel: Kernel, query: number, width: number,
  steps: Steps,
): TemplateResult {
  const { x, y } = data;
  const { weights, scores, prediction } = found;
  const temperature = temperatureOf(kernel, width);
  const top = largest(weights, SHOWN);
  const rest = x.length - top.length;
  const sum = (of: (i: number) => number) => top.reduce((total, i) => total + of(i), 0);
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${t("tableTitle")}><table>
    <caption>${t("tableTitle")}</caption>
    <thead><tr>
      <th scope="col">${t("point")}<br />x<sub>i</sub></th>
      <th scope="col">${temperature === null ? t("distance") : t("score")}<br />${temperature === null ? "u" : "s"}<sub>i</sub></th>
      <th scope="col">${temperature === null ? t("score") : t("scaled")}<br />${temperature === null ? "log K" : html`s<sub>i</sub> / T`}</th>
      <th scope="col">${t("weight")}<br />α<sub>i</sub></th>
      <th scope="col">${t("value")}<br />y<sub>i</sub></th>
      <th scope="col">${t("product")}<br />α<sub>i</sub> y<sub>i</sub></th>
    </tr></thead>
    <tbody>
      ${top.map((i) => html`<tr>
        <td>${stepped(x[i]!, steps.x)}</td>
        <td>${plain(temperature === null ? (query - x[i]!) / width : scores[i]! * temperature)}</td>
        <td>${plain(scores[i]!)}</td>
        <td class="weight">${plain(weights[i]!)}</td>
        <td>${stepped(y[i]!, steps.y)}</td>
        <td>${stepped(weights[i]! * y[i]!, steps.y / 10)}</td>
      </tr>`)}
      ${rest > 0 ? html`<tr>
        <td colspan="3">${t("others", { count: rest })}</td>
        <td class="weight">${plain(Math.max(0, 1 - sum((i) => weights[i]!)), 2)}</td>
        <td></td>
        <td>${stepped(prediction - sum((i) => weights[i]! * y[i]!), steps.y / 10)}</td>
      </tr>` : nothing}
    </tbody>
    <tfoot><tr>
      <th scope="row" colspan="3">${t("sum")}</th><td>1</td><td></td><td class="result">${stepped(prediction, steps.y)}</td>
    </tr></tfoot>
  </table></div>`;
}
