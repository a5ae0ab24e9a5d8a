// Pointers and wheel on a plot, told as what they mean: point, move, zoom, click. Places are shares of the plot.

export interface Gestures {
  point(x: number, y: number): void;
  leave(): void;
  /** Move by shares of the plot. */
  move(dx: number, dy: number): void;
  /** Zoom at a place; says whether anything changed. */
  zoom(factor: number, x: number, y: number): boolean;
  click(x: number, y: number): void;
  doubleClick(x: number, y: number): void;
}

/** A pointer that moves less than this, in pixels, was held still. */
const STILL = 4;
const WHEEL = 0.0016;

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Listen on an element; `plot` gives the plot's box within the viewport. Returns what takes the listeners away. */
export function listen(element: HTMLElement, plot: () => DOMRect, gestures: Gestures): () => void {
  const down = new Map<number, Place>();
  let start: Place | null = null;
  let moved = false;
  let last: MouseEvent | null = null;

  const shares = ({ clientX, clientY }: MouseEvent): [number, number] => {
    const box = plot();
    return [(clientX - box.left) / box.width, (clientY - box.top) / box.height];
  };
  const inside = ([x, y]: readonly [number, number]): boolean => x >= 0 && x < 1 && y >= 0 && y < 1;

  const spread = (): { distance: number; x: number; y: number } => {
    const [a, b] = [...down.values()] as [Place, Place];
    return { distance: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  };

  const pressed = (event: PointerEvent): void => {
    if (event.button !== 0 || !inside(shares(event))) return;
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    start = { x: event.clientX, y: event.clientY };
    moved = down.size > 1;
    element.setPointerCapture(event.pointerId);
  };

  const travelled = (event: PointerEvent): void => {
    const before = down.get(event.pointerId);
    last = event;
    if (!before) {
      const place = shares(event);
      if (inside(place)) gestures.point(...place);
      else gestures.leave();
      return;
    }
    const box = plot();
    const now = { x: event.clientX, y: event.clientY };
    if (down.size === 2) {
      const old = spread();
      down.set(event.pointerId, now);
      const fresh = spread();
      gestures.move((old.x - fresh.x) / box.width, (old.y - fresh.y) / box.height);
      const factor = fresh.distance / Math.max(1, old.distance);
      gestures.zoom(factor, (fresh.x - box.left) / box.width, (fresh.y - box.top) / box.height);
      return;
    }
    if (!moved && start && Math.hypot(now.x - start.x, now.y - start.y) < STILL) return;
    moved = true;
    down.set(event.pointerId, now);
    gestures.move((before.x - now.x) / box.width, (before.y - now.y) / box.height);
  };

  const lifted = (event: PointerEvent): void => {
    if (!down.delete(event.pointerId)) return;
    if (!moved && event.type === "pointerup") gestures.click(...shares(event));
    if (down.size === 0) start = null;
  };

  const left = (event: PointerEvent): void => {
    if (!down.has(event.pointerId)) gestures.leave();
  };

  const wheeled = (event: WheelEvent): void => {
    // A wheel tells its place in whole pixels. Of a hundred thousand tokens a pixel holds many: where the pointer was last is nearer.
    const near = last && Math.abs(last.clientX - event.clientX) <= 1 && Math.abs(last.clientY - event.clientY) <= 1;
    const place = shares(near ? last! : event);
    if (!inside(place)) return;
    const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 240 : 1);
    // A pinch on a touch pad comes as a wheel with Ctrl, in small steps.
    const factor = Math.exp(-pixels * WHEEL * (event.ctrlKey ? 6 : 1));
    // A wheel that changes nothing scrolls the page, so that nobody is caught in the map.
    if (gestures.zoom(Math.min(4, Math.max(0.25, factor)), ...place)) event.preventDefault();
  };

  const doubled = (event: MouseEvent): void => {
    const place = shares(event);
    if (inside(place)) gestures.doubleClick(...place);
  };

  element.addEventListener("pointerdown", pressed);
  element.addEventListener("pointermove", travelled);
  element.addEventListener("pointerup", lifted);
  element.addEventListener("pointercancel", lifted);
  element.addEventListener("pointerleave", left);
  element.addEventListener("wheel", wheeled, { passive: false });
  element.addEventListener("dblclick", doubled);
  return () => {
    element.removeEventListener("pointerdown", pressed);
    element.removeEventListener("pointermove", travelled);
    element.removeEventListener("pointerup", lifted);
    element.removeEventListener("pointercancel", lifted);
    element.removeEventListener("pointerleave", left);
    element.removeEventListener("wheel", wheeled);
    element.removeEventListener("dblclick", doubled);
  };
}
