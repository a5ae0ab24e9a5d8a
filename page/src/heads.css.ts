// How the list of heads looks.
import { css } from "lit";

export const style = css`
  :host {
    display: flex;
    flex-direction: column;
    gap: 8px;
    min-height: 0;
  }
  .top {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 10px;
    align-items: center;
    justify-content: space-between;
  }
  h2 {
    font-size: 15px;
  }
  label {
    display: flex;
    gap: 6px;
    align-items: center;
    color: var(--muted);
    min-width: 0;
    white-space: nowrap;
  }
  select {
    min-width: 0;
    color: var(--ink);
  }
  .list {
    position: relative;
    overflow: auto;
    min-height: 0;
    flex: 1 1 auto;
    display: grid;
    grid-template-columns: var(--columns, repeat(auto-fill, var(--thumb, 48px)));
    align-content: start;
    gap: 4px;
    padding: 6px;
    border-radius: 8px;
    background: var(--sunken);
    contain: content;
  }
  .layer {
    grid-column: 1 / -1;
    color: var(--muted);
    font-size: 12px;
    line-height: 1.2;
    padding: 5px 2px 0;
    /* Without it the row of a list that scrolls is as high as its padding: what is cut off asks for no room. */
    min-height: calc(1.2em + 5px);
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .beside .layer {
    grid-column: 1;
    padding: 0 2px 0 0;
    min-height: 0;
    text-align: right;
    align-self: center;
  }
  .head {
    position: relative;
    min-width: 0;
    cursor: pointer;
    border-radius: 4px;
    font-size: 11px;
    color: var(--muted);
    text-align: center;
    line-height: 1.25;
  }
  canvas {
    position: absolute;
    top: 0;
    left: 0;
    pointer-events: none;
  }
  .picture {
    display: block;
    height: var(--thumb, 48px);
  }
  .head:hover::after, .head[aria-selected="true"]::after, .head.other::after {
    content: "";
    position: absolute;
    inset: 0 0 auto;
    height: var(--thumb, 48px);
    border: 2px solid var(--muted);
    border-radius: 4px;
    pointer-events: none;
  }
  .head[aria-selected="true"]::after, .head.other::after {
    border: 3px solid var(--accent);
    box-shadow: inset 0 0 0 1.5px var(--panel);
  }
  .head.other::after {
    border-color: var(--warn);
  }
  .head[aria-selected="true"] {
    color: var(--ink);
  }
  .name {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    display: block;
  }
`;
