import { css } from "lit";

export const style = css`
  :host {
    --query: #b93c0a;
    display: block;
    padding: 12px 16px;
    max-width: 1360px;
    margin: 0 auto;
    container-type: inline-size;
  }
  @media (prefers-color-scheme: dark) {
    :host {
      --query: #ff9a5c;
    }
  }
  header {
    display: flex;
    flex-wrap: wrap;
    gap: 6px 16px;
    align-items: baseline;
    margin-bottom: 10px;
  }
  h1 {
    font-size: 19px;
    flex: 1 1 auto;
    overflow-wrap: anywhere;
  }
  .notes {
    list-style: none;
    margin: 0 0 10px;
    padding: 6px 12px;
    border-radius: 8px;
    background: var(--warn-ground);
    color: var(--warn);
  }
  .board {
    display: grid;
    gap: 18px;
    grid-template-columns: minmax(0, 1fr);
  }
  @container (min-width: 880px) {
    .board {
      grid-template-columns: minmax(0, 1.65fr) minmax(340px, 1fr);
      grid-template-rows: auto 1fr;
    }
    .softmax {
      grid-column: 2;
      grid-row: 1 / 3;
    }
  }
  .plot {
    position: relative;
    height: 460px;
    border: 1px solid var(--line);
    border-radius: 10px;
    background: var(--panel);
    box-shadow: var(--shadow);
    cursor: ew-resize;
    touch-action: pan-y;
  }
  canvas {
    display: block;
    width: 100%;
    height: 100%;
  }
  .hint {
    position: absolute;
    right: 14px;
    top: 8px;
    color: var(--muted);
    font-size: 13px;
    pointer-events: none;
    background: var(--panel);
    padding: 0 6px;
    border-radius: 4px;
  }
  .controls,
  .softmax {
    border: 1px solid var(--line);
    border-radius: 10px;
    background: var(--panel);
    padding: 14px 16px;
    min-width: 0;
    box-shadow: var(--shadow);
  }
  .head {
    display: flex;
    flex-wrap: wrap;
    gap: 8px 22px;
    align-items: center;
  }
  .caption button {
    color: var(--ink);
    margin-left: 10px;
  }
  label {
    font-weight: 600;
  }
  output {
    font-variant-numeric: tabular-nums;
    font-weight: 600;
    color: var(--query);
    display: inline-block;
    min-width: 3.2em;
  }
  .slide {
    margin-top: 10px;
  }
  .caption {
    color: var(--muted);
    font-size: 13px;
    display: flex;
    justify-content: space-between;
    align-items: center;
    gap: 12px;
  }
  .errors {
    height: 76px;
  }
  input[type="range"] {
    width: 100%;
    margin: 0;
    padding: 0;
    height: 28px;
    accent-color: var(--query);
    cursor: pointer;
    display: block;
  }
  h2 {
    font-size: 16px;
    margin: 0 0 8px;
  }
  p {
    margin: 0 0 10px;
  }
  .head > span,
  .also {
    white-space: nowrap;
  }
  .also {
    margin-left: 14px;
  }
  math {
    font-size: 17px;
    margin: 0 0 8px;
    font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", math, serif;
  }
  mtd {
    padding: 5px 3px;
  }
  mtd:first-child {
    text-align: right;
  }
  mtd:last-child {
    text-align: left;
  }
  math .query {
    color: var(--query);
  }
  .row {
    height: 24px;
    border: 1px solid var(--line);
    border-radius: 3px;
    overflow: hidden;
    margin: 4px 0 12px;
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-variant-numeric: tabular-nums;
    font-size: 14px;
  }
  caption {
    text-align: left;
    color: var(--muted);
    font-size: 13px;
  }
  th,
  td {
    text-align: right;
    padding: 2px 0 2px 10px;
    font-weight: normal;
    white-space: nowrap;
  }
  thead th {
    color: var(--muted);
    font-size: 13px;
    border-bottom: 1px solid var(--line);
    vertical-align: bottom;
    line-height: 1.25;
  }
  th:first-child,
  td:first-child {
    text-align: left;
    padding-left: 0;
  }
  tfoot td,
  tfoot th {
    border-top: 1px solid var(--line);
    font-weight: 600;
  }
  .weight {
    font-weight: 600;
  }
  .result {
    color: var(--query);
  }
  @container (max-width: 480px) {
    th,
    td {
      padding-left: 6px;
    }
    table {
      font-size: 13px;
    }
    .also {
      margin-left: 8px;
    }
    .controls,
    .softmax {
      padding: 12px;
    }
  }
  .scroll {
    overflow-x: auto;
  }
  .line {
    margin: 14px 0 0;
    padding-top: 10px;
    border-top: 1px solid var(--line);
  }
`;
