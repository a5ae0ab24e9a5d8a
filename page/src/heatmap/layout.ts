// Where the parts of a map stand on its canvas, in CSS pixels.

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Layout {
  readonly plot: Box;
  /** Entropy of each query, right of the plot; null where it is not known or there is no room. */
  readonly entropy: Box | null;
  /** What each key receives, below the plot. */
  readonly received: Box | null;
}

export interface Wanted {
  readonly width: number;
  readonly height: number;
  readonly rows: number;
  readonly cols: number;
  /** Room for the longest label of a row, and of a column. */
  readonly rowLabel: number;
  readonly colLabel: number;
  readonly strips: boolean;
}

const STRIP = 44;
const GAP = 6;
const LEAST_PLOT = 60;
/** Narrower than this the strips are left out. */
const ROOMY = 400;
/** Beyond this a map is not drawn narrower: a cell of a long, thin map is then no square. */
const NARROWEST = 0.45;

/** Cells are squares unless the map is very long in one direction. */
export function layoutOf(wanted: Wanted): Layout {
  const strip = wanted.strips && wanted.width > ROOMY ? STRIP + GAP : 0;
  const left = Math.min(wanted.rowLabel, wanted.width * 0.3);
  const top = Math.min(wanted.colLabel, wanted.height * 0.3);
  const width = Math.max(LEAST_PLOT, wanted.width - left - Math.max(strip, 8));
  const height = Math.max(LEAST_PLOT, wanted.height - top - Math.max(strip, 4));
  const aspect = Math.min(1 / NARROWEST, Math.max(NARROWEST, wanted.cols / wanted.rows));
  const across = Math.floor(Math.min(width, height * aspect));
  const down = Math.floor(Math.min(height, width / aspect));
  const spare = Math.max(0, wanted.width - left - across - Math.max(strip, 8));
  const plot = { x: Math.round(left + spare / 2), y: Math.round(top), width: across, height: down };
  if (!strip) return { plot, entropy: null, received: null };
  return {
    plot,
    entropy: { x: plot.x + across + GAP, y: plot.y, width: STRIP, height: down },
    received: { x: plot.x, y: plot.y + down + GAP, width: across, height: STRIP },
  };
}
