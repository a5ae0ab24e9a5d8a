import { css } from "lit";

export const style = css`
  :host {
    display: grid;
    grid-template-rows: minmax(0, 1fr) auto;
    gap: 4px;
    min-width: 0;
    position: relative;
  }
  .stage {
    position: relative;
    min-height: 0;
    min-width: 0;
    border-radius: 6px;
    overflow: hidden;
    /* To place the numbers beside the cursor the rest of the page need not be laid out. */
    contain: layout paint;
  }
  .stage:focus-visible {
    outline-offset: -2px;
  }
  canvas {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
    touch-action: none;
    cursor: crosshair;
  }
  .tip {
    position: absolute;
    z-index: 2;
    max-width: min(20rem, 80%);
    pointer-events: none;
    background: var(--panel);
    border: 1px solid var(--line);
    box-shadow: var(--shadow);
    border-radius: 8px;
    padding: 6px 10px;
    font-size: 13px;
    overflow-wrap: anywhere;
  }
  .tip dl {
    display: grid;
    grid-template-columns: auto 1fr;
    gap: 1px 10px;
    margin: 0;
  }
  .tip dt {
    color: var(--muted);
  }
  .tip dd {
    margin: 0;
    font-weight: 600;
    white-space: pre-wrap;
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 3;
    overflow: hidden;
  }
  .tip p {
    margin: 2px 0 0;
    color: var(--muted);
  }
  regard-legend {
    width: min(400px, 100%);
    justify-self: center;
  }
  .failure {
    margin: 0;
    font-size: 13px;
    color: var(--warn);
  }
`;
