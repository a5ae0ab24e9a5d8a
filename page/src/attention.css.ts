// How the parts of the attention page are laid out, from a phone to a wide screen.
import { css } from "lit";

export const layout = css`
  :host {
    display: flex;
    flex-direction: column;
    gap: 10px;
    padding: 12px 16px;
    min-height: 100vh;
  }
  header {
    display: flex;
    flex-wrap: wrap;
    gap: 6px 16px;
    align-items: baseline;
  }
  h1 {
    font-size: 19px;
    flex: 1 1 auto;
    overflow-wrap: anywhere;
  }
  header .tools {
    display: flex;
    gap: 8px;
    align-items: center;
  }
  .notes {
    margin: 0;
    padding: 7px 12px;
    border-radius: 8px;
    background: var(--warn-ground);
    color: var(--warn);
    list-style: none;
    font-size: 13px;
  }
  .panel {
    background: var(--panel);
    border: 1px solid var(--line);
    border-radius: 12px;
    box-shadow: var(--shadow);
    padding: 12px 14px;
    min-width: 0;
  }
  main {
    display: grid;
    gap: 12px;
    grid-template-columns: minmax(0, 1fr);
    flex: 1 1 auto;
    min-height: 0;
  }
  regard-heads {
    max-height: 230px;
  }
  .view {
    display: flex;
    flex-direction: column;
    gap: 8px;
    min-height: 0;
  }
  .title {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 14px;
    align-items: baseline;
  }
  .title h2 {
    font-size: 16px;
  }
  .stats {
    display: flex;
    flex-wrap: wrap;
    gap: 2px 14px;
    margin: 0;
    color: var(--muted);
    font-size: 13px;
  }
  .stats div {
    display: flex;
    gap: 5px;
  }
  .stats dd {
    margin: 0;
    color: var(--ink);
    font-variant-numeric: tabular-nums;
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    gap: 6px 14px;
    align-items: center;
    font-size: 13px;
  }
  .bar label, .group {
    display: flex;
    gap: 6px;
    align-items: center;
    color: var(--muted);
    min-width: 0;
  }
  .bar select {
    max-width: 21rem;
    min-width: 0;
    color: var(--ink);
  }
  .both {
    display: flex;
  }
  .both button:first-child {
    border-radius: 7px 0 0 7px;
  }
  .both button:last-child {
    border-radius: 0 7px 7px 0;
    border-left: 0;
  }
  .both button:not(:first-child):not(:last-child) {
    border-radius: 0;
    border-left: 0;
  }
  .bar button {
    color: var(--ink);
  }
  .bar button[aria-pressed="true"] {
    color: var(--accent-ink);
  }
  .maps {
    display: grid;
    gap: 10px;
    flex: 1 1 auto;
    min-height: 0;
  }
  .maps figure {
    margin: 0;
    display: flex;
    flex-direction: column;
    gap: 4px;
    min-width: 0;
    min-height: 0;
  }
  figcaption {
    font-size: 13px;
    color: var(--muted);
  }
  figcaption b {
    color: var(--ink);
  }
  regard-heatmap {
    height: min(96vw, 74vh);
    min-height: 320px;
  }
  /* As high, whatever is said: the map must not jump while the pointer moves. */
  .said, .one {
    flex: none;
    height: 1.6em;
    margin: 0;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .one {
    white-space: nowrap;
  }
  .said {
    font-size: 15px;
    line-height: 1.35;
    height: 2.7em;
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
  }
  .small {
    margin: 0;
    font-size: 13px;
    color: var(--muted);
  }
  @media (min-width: 860px) {
    main {
      grid-template-columns: minmax(210px, 30%) minmax(0, 1fr);
      grid-template-rows: auto auto;
    }
    main.alone {
      grid-template-columns: minmax(0, 1fr);
    }
    regard-heads {
      grid-row: 1 / span 2;
      max-height: calc(100vh - 90px);
      position: sticky;
      top: 12px;
    }
    regard-heatmap {
      height: min(58vw, 72vh);
    }
    :host([comparing]) .maps {
      grid-template-columns: repeat(2, minmax(0, 1fr));
    }
    :host([comparing]) regard-heatmap {
      height: 36vw;
    }
  }
  @media (min-width: 1180px) {
    :host(:not([comparing])) {
      height: 100vh;
      min-height: 620px;
    }
    main {
      grid-template-columns: minmax(250px, 9fr) minmax(0, 20fr) minmax(260px, 9fr);
      grid-template-rows: minmax(0, 1fr);
    }
    main.alone {
      grid-template-columns: minmax(0, 20fr) minmax(270px, 9fr);
    }
    :host(:not([comparing])) regard-heads {
      grid-row: 1;
      max-height: none;
      position: static;
    }
    :host(:not([comparing])) regard-heatmap {
      height: auto;
      min-height: 0;
      flex: 1 1 auto;
    }
    :host(:not([comparing])) .side {
      overflow: auto;
    }
    :host([comparing]) main {
      grid-template-columns: minmax(200px, 2fr) minmax(0, 10fr);
      grid-template-rows: auto auto;
    }
    :host([comparing]) main.alone {
      grid-template-columns: minmax(0, 1fr);
    }
    :host([comparing]) .maps {
      grid-template-columns: repeat(3, minmax(0, 1fr));
    }
    :host([comparing]) .maps.two {
      grid-template-columns: repeat(2, minmax(0, 1fr));
    }
    :host([comparing]) regard-heatmap {
      height: clamp(320px, 29vw, 66vh);
    }
  }
  .side {
    display: flex;
    flex-direction: column;
    gap: 12px;
  }
`;
