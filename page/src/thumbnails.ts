// How large small pictures are: as large as they can be with all of them in sight, else small, in a list that scrolls.

const LARGEST = 96;
const GAP = 4;

export interface Fit {
  readonly size: number;
  /** Pictures in one line. */
  readonly across: number;
}

export interface Room {
  readonly width: number;
  readonly height: number;
  /** Pixels besides the pictures: of each layer where there are several, else of each line. */
  readonly extra: number;
  /** The smallest a picture may be to have all in sight, and where the list scrolls. */
  readonly smallest: number;
  readonly scrolling: number;
}

/** `groups`: how many pictures each layer has; a layer begins a new line. */
export function fitPictures(groups: readonly number[], { width, height, extra, smallest, scrolling }: Room): Fit {
  const most = Math.max(1, ...groups);
  let best: Fit | null = null;
  for (let lines = 1; lines <= most; lines += 1) {
    const across = Math.ceil(most / lines);
    const size = Math.min(LARGEST, Math.floor((width + GAP) / across) - GAP);
    if (size < smallest) continue;
    const lineCount = groups.reduce((sum, count) => sum + Math.ceil(count / across), 0);
    const total = lineCount * (size + GAP) + (groups.length > 1 ? groups.length : lineCount) * extra;
    if (total <= height && (!best || size > best.size)) best = { size, across };
    if (size === LARGEST) break;
  }
  if (best) return best;
  const fitting = Math.max(1, Math.floor((width + GAP) / (scrolling + GAP)));
  // Lines of a layer are about as long as each other.
  const across = groups.length > 1 || most < fitting ? Math.ceil(most / Math.ceil(most / fitting)) : fitting;
  return { size: Math.min(LARGEST, Math.floor((width + GAP) / across) - GAP), across };
}
