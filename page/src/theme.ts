// The look that the page's elements share. Colours come from page.css as custom properties.
import { css } from "lit";

export const theme = css`
  :host {
    box-sizing: border-box;
    font: 14px/1.45 var(--font);
    color: var(--ink);
  }
  *, *::before, *::after {
    box-sizing: inherit;
  }
  h1, h2, h3 {
    margin: 0;
    font-weight: 600;
    line-height: 1.25;
  }
  button, select, input {
    font: inherit;
    color: inherit;
    background: var(--panel);
    border: 1px solid var(--line);
    border-radius: 7px;
    padding: 0.25rem 0.6rem;
    min-height: 30px;
  }
  button {
    cursor: pointer;
  }
  button:hover, select:hover {
    border-color: var(--muted);
  }
  button[aria-pressed="true"] {
    background: var(--accent);
    border-color: var(--accent);
    color: var(--accent-ink);
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  .hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    margin: -1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  .muted {
    color: var(--muted);
  }
`;
