// What is told of a cell: the row's weights, and a sentence about them.
import type { ViewState } from "./address";
import { weightText } from "./colour";
import type { Language, ViewDocument } from "./document";
import { Latest } from "./latest";
import type { Source } from "./source";
import { say } from "./texts";
import type { Line } from "./tile";
import { lookSentence } from "./words";
import type { Cell } from "./zoom";

/** Telling follows a pointer at this distance, in milliseconds: to write a text anew for every cell passed takes too long. */
const PAUSE = 50;
const LIVE_PAUSE = 250;
/** A sentence is said once the cursor has rested this long: a reader is not flooded. */
const REST = 130;

export interface Told {
  readonly document: ViewDocument;
  readonly source: Source;
  readonly view: ViewState;
  readonly language: Language;
}

type Timer = ReturnType<typeof setTimeout> | undefined;

export class Telling {
  /** The cell that is told of: it stays when the pointer leaves the map. */
  cell: Cell | null = null;
  look: Line | null = null;
  said = "";
  private readonly lines = new Latest();
  private pause: Timer;
  private rest: Timer;

  constructor(private readonly of: () => Told, private readonly changed: () => void) {}

  stop(): void {
    clearTimeout(this.pause);
    clearTimeout(this.rest);
    this.lines.drop();
  }

  /** Begin with a cell, or without. */
  begin(cell: Cell | null): void {
    this.cell = cell;
    this.hear();
  }

  /** Follow the view: its pinned cell, or the cursor's. */
  follow(anew: boolean): void {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      const { pinned, cursor } = this.of().view;
      const cell = pinned ?? cursor;
      const other = cell !== null && (cell.row !== this.cell?.row || cell.col !== this.cell.col);
      if (other) this.cell = cell;
      if (other || anew) this.hear();
    }, this.of().document.live ? LIVE_PAUSE : PAUSE);
  }

  /** Ask for the row; without a cell for one in the middle, so that the page says something at once. */
  private hear(): void {
    const { document, source, view } = this.of();
    const map = document.maps[view.map];
    // A server is asked only for what somebody wants to see.
    if (!map || (document.live && !this.cell)) return;
    const row = Math.min(map.rows - 1, this.cell?.row ?? Math.floor(map.rows / 2));
    this.lines.ask(
      () => source.line(view.map, "row", row),
      (line) => {
        if (view.map !== this.of().view.map) return;
        this.look = line;
        this.cell ??= { row, col: line.peaks[0]?.at ?? 0 };
        clearTimeout(this.rest);
        this.rest = setTimeout(() => void this.speak(row, line), REST);
        this.changed();
      },
      () => {
        this.look = null;
        this.changed();
      },
    );
  }

  private async speak(row: number, line: Line): Promise<void> {
    const { document, language, view } = this.of();
    const sentence = lookSentence(language, document, document.maps[view.map]!, row, line);
    const here = view.cursor ? ` ${await this.here(view.cursor)}` : "";
    if (view.cursor !== this.of().view.cursor) return;
    this.said = sentence + here;
    this.changed();
  }

  private async here(cell: Cell): Promise<string> {
    const { language, view } = this.of();
    const weight = await this.weightAt(cell).catch(() => null);
    const key = view.other === null ? "here" : "hereDifference";
    return weight === null ? say(language, "hereUnknown") : say(language, key, { weight: weightText(weight, 4) });
  }

  /** The weight, or difference, at a cell; null where it is not known. */
  private async weightAt({ row, col }: Cell): Promise<number | null> {
    const { document, source, view } = this.of();
    const { weight } = await source.reading(view.map, row, col);
    if (view.other === null || weight === null) return weight;
    const second = document.maps[view.other]!;
    if (row >= second.rows || col >= second.cols) return null;
    const { weight: less } = await source.reading(view.other, row, col);
    return less === null ? null : weight - less;
  }
}
