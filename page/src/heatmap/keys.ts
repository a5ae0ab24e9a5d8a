// Keys on a map: what a key does to the cursor and the window. Pure, so that it can be tested without a page.
import { reveal, whole, zoomAt, type Cell, type Size, type Window } from "../zoom";

export interface Standing {
  readonly window: Window;
  readonly cursor: Cell | null;
}

/** Places of one cell of the picture, down and across: far away a step is a pooled cell. */
export interface Step {
  readonly rows: number;
  readonly cols: number;
}

const ZOOM = 1.6;
const FAR = 10;

export interface Press {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
}

/** Where a key leads; null: the key means nothing here. */
export function pressed(press: Press, { window, cursor }: Standing, size: Size, step: Step): Standing | null {
  const middle = { row: Math.floor((window.r0 + window.r1) / 2), col: Math.floor((window.c0 + window.c1) / 2) };
  const cell = cursor ?? middle;
  const far = press.shiftKey ? FAR : 1;
  const go = (rows: number, cols: number): Standing => {
    // The first arrow only shows the cursor: one sees where it is before it walks.
    const target = cursor ? { row: cell.row + rows, col: cell.col + cols } : cell;
    const held = {
      row: Math.min(size.rows - 1, Math.max(0, target.row)),
      col: Math.min(size.cols - 1, Math.max(0, target.col)),
    };
    return { cursor: held, window: reveal(window, size, held) };
  };
  const zoom = (factor: number): Standing => {
    const seen = cursor ?? middle;
    const share = (at: number, low: number, high: number) => Math.min(1, Math.max(0, (at + 0.5 - low) / (high - low)));
    const x = share(seen.col, window.c0, window.c1);
    const y = share(seen.row, window.r0, window.r1);
    const closer = zoomAt(window, size, factor, x, y);
    return { cursor, window: cursor ? reveal(closer, size, cursor) : closer };
  };
  const page = Math.max(1, Math.floor(window.r1 - window.r0) - 1);
  switch (press.key) {
    case "ArrowLeft": return go(0, -step.cols * far);
    case "ArrowRight": return go(0, step.cols * far);
    case "ArrowUp": return go(-step.rows * far, 0);
    case "ArrowDown": return go(step.rows * far, 0);
    case "Home": return go(press.ctrlKey ? -size.rows : 0, -size.cols);
    case "End": return go(press.ctrlKey ? size.rows : 0, size.cols);
    case "PageUp": return go(-page, 0);
    case "PageDown": return go(page, 0);
    case "+": case "=": return zoom(ZOOM);
    case "-": case "_": return zoom(1 / ZOOM);
    case "0": return { cursor, window: whole(size) };
    default: return null;
  }
}
