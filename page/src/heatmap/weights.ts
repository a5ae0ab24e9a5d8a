// The weights a map shows: a tile for the part in sight, and a reading for the cell of the cursor.
import type { Reduce } from "../document";
import { Latest } from "../latest";
import type { Reading, Soon, Source } from "../source";
import { subtract, type Tile } from "../tile";
import type { Cell, Window } from "../zoom";

/** Which weights: of a map, or of a map less another. */
export interface Which {
  readonly source: Source;
  readonly map: number;
  readonly other: number | null;
}

/** Ask for one or two maps. What is there at once is given at once: a view then never shows an old number. */
function both<T, R>({ map, other }: Which, question: (map: number) => Soon<T>, join: (mine: T, theirs: T | null) => R): Soon<R> {
  const mine = question(map);
  const theirs = other === null ? null : question(other);
  if (mine instanceof Promise || theirs instanceof Promise) return Promise.all([mine, theirs]).then(([a, b]) => join(a, b));
  return join(mine, theirs);
}

const join = (mine: Tile, theirs: Tile | null): Tile | null => (theirs ? subtract(mine, theirs) : mine);

export class Weights {
  /** What can be shown at once, below the tile. */
  rough: Tile | null = null;
  tile: Tile | null = null;
  read: Reading | null = null;
  readOther: Reading | null = null;
  failure: string | null = null;
  private readonly tiles = new Latest();
  private readonly readings = new Latest();
  private current: Which | null = null;
  private cursor: Cell | null = null;

  constructor(private readonly changed: (what: "tile" | "reading") => void) {}

  /** Another map: nothing of the old one may be shown. */
  reset(which: Which): void {
    this.current = which;
    this.rough = null;
    this.tile = null;
    this.read = null;
    this.readOther = null;
  }

  stop(): void {
    this.tiles.drop();
    this.readings.drop();
  }

  private readonly failed = (error: unknown): void => {
    this.failure = error instanceof Error ? error.message : String(error);
    this.tile ??= this.rough;
    this.changed("tile");
  };

  load(window: Window, cells: number, reduce: Reduce): void {
    const which = this.current;
    if (!which) return;
    const { source } = which;
    this.rough = both(which, (map) => source.preview(map, window, cells, reduce), join) as Tile | null;
    this.tiles.ask(
      () => both(which, (map) => source.tile(map, window, cells, reduce), join),
      (tile) => {
        if (which !== this.current) return;
        this.tile = tile;
        this.failure = null;
        this.changed("tile");
      },
      this.failed,
    );
  }

  readAt(cursor: Cell | null): void {
    const which = this.current;
    this.cursor = cursor;
    this.read = null;
    this.readOther = null;
    if (!cursor || !which) return;
    this.readings.ask(
      () => both(which, (map) => which.source.reading(map, cursor.row, cursor.col), (mine, theirs) => [mine, theirs] as const),
      ([mine, theirs]) => {
        if (which !== this.current || cursor !== this.cursor) return;
        this.read = mine;
        this.readOther = theirs;
        this.changed("reading");
      },
      this.failed,
    );
  }

  /** The exact weight, or difference, at the cursor; null where it is not known. */
  get here(): number | null {
    const mine = this.read?.weight ?? null;
    if (mine === null || this.current?.other === null) return mine;
    const theirs = this.readOther?.weight ?? null;
    return theirs === null ? null : mine - theirs;
  }
}
