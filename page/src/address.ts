// What a view shows, in the fragment of the page's address, so that it can be sent.
// The fragment comes from anywhere: what cannot be read is left out, never trusted.
import type { Colouring } from "./colour";
import type { AttentionMap, Language, Reduce } from "./document";
import { isSort, type Sort } from "./order";
import { clamp, isWhole, type Cell, type Window } from "./zoom";

export interface ViewState {
  /** Number of the map that is shown. */
  readonly map: number;
  /** Number of the map it is compared with. */
  readonly other: number | null;
  /** The part in sight; null: all of it. */
  readonly window: Window | null;
  readonly cursor: Cell | null;
  readonly pinned: Cell | null;
  readonly colouring: Colouring;
  readonly reduce: Reduce;
  readonly sort: Sort;
  /** null: as the document or the browser says. */
  readonly language: Language | null;
}

export const BEGINNING: ViewState = {
  map: 0, other: null, window: null, cursor: null, pinned: null,
  colouring: "linear", reduce: "mass", sort: "layer", language: null,
};

function whole(text: string | null, below: number): number | null {
  if (text === null || !/^\d{1,9}$/.test(text)) return null;
  const number = Number(text);
  return number < below ? number : null;
}

function cell(text: string | null, map: AttentionMap): Cell | null {
  const [first, second, ...rest] = (text ?? "").split(",");
  const row = whole(first ?? null, map.rows);
  const col = whole(second ?? null, map.cols);
  return row === null || col === null || rest.length > 0 ? null : { row, col };
}

function window(text: string | null, map: AttentionMap): Window | null {
  const parts = (text ?? "").split(",");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,9}(\.\d{1,4})?$/.test(part))) return null;
  const [r0, r1, c0, c1] = parts.map(Number) as [number, number, number, number];
  if (!(r0 < r1 && c0 < c1)) return null;
  const held = clamp({ r0, r1, c0, c1 }, map);
  return isWhole(held, map) ? null : held;
}

/** Read a fragment, with or without its "#". */
export function parseAddress(fragment: string, maps: readonly AttentionMap[]): ViewState {
  let pairs: URLSearchParams;
  try {
    pairs = new URLSearchParams(fragment.replace(/^#/, ""));
  } catch {
    return BEGINNING;
  }
  const number = whole(pairs.get("map"), maps.length) ?? 0;
  const map = maps[number];
  if (!map) return BEGINNING;
  const sort = pairs.get("sort");
  const language = pairs.get("lang");
  return {
    map: number,
    other: whole(pairs.get("with"), maps.length),
    window: window(pairs.get("zoom"), map),
    cursor: cell(pairs.get("at"), map),
    pinned: cell(pairs.get("pin"), map),
    colouring: pairs.get("colour") === "log" ? "log" : "linear",
    reduce: pairs.get("pool") === "max" ? "max" : "mass",
    sort: isSort(sort) ? sort : "layer",
    language: language === "en" || language === "zh" ? language : null,
  };
}

const short = (number: number): string => String(Number(number.toFixed(2)));

/** Write a fragment, without "#". What stands at its beginning is left out. */
export function formatAddress(state: ViewState): string {
  const pairs: string[] = [];
  if (state.map !== 0) pairs.push(`map=${state.map}`);
  if (state.other !== null) pairs.push(`with=${state.other}`);
  if (state.window) {
    const { r0, r1, c0, c1 } = state.window;
    pairs.push(`zoom=${[r0, r1, c0, c1].map(short).join(",")}`);
  }
  if (state.cursor) pairs.push(`at=${state.cursor.row},${state.cursor.col}`);
  if (state.pinned) pairs.push(`pin=${state.pinned.row},${state.pinned.col}`);
  if (state.colouring !== "linear") pairs.push(`colour=${state.colouring}`);
  if (state.reduce !== "mass") pairs.push(`pool=${state.reduce}`);
  if (state.sort !== "layer") pairs.push(`sort=${state.sort}`);
  if (state.language) pairs.push(`lang=${state.language}`);
  return pairs.join("&");
}

/** Browsers refuse to change the address too often; once in this many milliseconds is well below that. */
const PAUSE = 250;

/** Keeps the address in step with a view. In a frame without an address of its own it does nothing, quietly. */
export class Address {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private written: string | null = null;

  constructor(private readonly arrived: (fragment: string) => void) {}

  listen(): void {
    globalThis.addEventListener("hashchange", this.changed);
  }

  stop(): void {
    globalThis.removeEventListener("hashchange", this.changed);
    clearTimeout(this.timer);
  }

  private readonly changed = (): void => {
    if (location.hash.replace(/^#/, "") !== this.written) this.arrived(location.hash);
  };

  write(state: ViewState): void {
    const fragment = formatAddress(state);
    if (fragment === this.written) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.written = fragment;
      try {
        history.replaceState(history.state, "", `#${fragment}`);
      } catch {
        // A notebook's frame has no address that may change: the view works without.
      }
    }, PAUSE);
  }
}
