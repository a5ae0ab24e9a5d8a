// A canvas as sharp as the screen, and the style sheet's colours for it.
import type { Ink } from "./plot";

export interface Sized {
  readonly context: CanvasRenderingContext2D;
  /** In CSS pixels. */
  readonly wide: number;
  readonly high: number;
}

/** A canvas that fits its place; null where it has none. */
export function sized(canvas: HTMLCanvasElement | null): Sized | null {
  const context = canvas?.getContext("2d");
  if (!canvas || !context) return null;
  const wide = canvas.clientWidth;
  const high = canvas.clientHeight;
  if (wide === 0 || high === 0) return null;
  const dots = devicePixelRatio || 1;
  if (canvas.width !== Math.round(wide * dots) || canvas.height !== Math.round(high * dots)) {
    canvas.width = Math.round(wide * dots);
    canvas.height = Math.round(high * dots);
  }
  context.setTransform(dots, 0, 0, dots, 0, 0);
  return { context, wide, high };
}

/** The colours and the font of an element. */
export function inkOf(element: Element): Ink {
  const is = getComputedStyle(element);
  const colour = (name: string) => is.getPropertyValue(name).trim();
  return {
    text: colour("--ink"), faint: colour("--muted"), grid: colour("--line"), paper: colour("--panel"),
    curve: colour("--accent"), query: colour("--query"), font: `13px ${is.fontFamily}`,
  };
}
