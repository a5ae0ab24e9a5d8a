// What a page shows: a JSON header, and one block of bytes that holds every number.
// The header is written by `regard.viewing.document`; this file is its mirror, and the only place that knows the layout.

export type Language = "en" | "zh";
export type Reduce = "mass" | "max";
export type Shape = "self" | "cross" | "causal";
export type NumberType = "f4" | "f2" | "u1" | "u2" | "u4";

/** One sentence in both languages. */
export type Note = Readonly<Record<Language, string>>;

/** A run of numbers in the block of bytes. */
export interface Run {
  readonly at: number;
  readonly type: NumberType;
  readonly count: number;
}

/** A picture of one map, row by row; "exact" is the map itself. */
export interface Grid {
  readonly reduce: "exact" | Reduce;
  readonly rows: number;
  readonly cols: number;
  readonly type: "f4" | "f2" | "u1";
  readonly at: number;
  /** The value of a u1 byte of 255. */
  readonly one: number;
  /** 1: every query was read; s: every s-th only. */
  readonly every: number;
}

/** The largest weights of every query, exact where the grids are pooled. */
export interface Top {
  readonly count: number;
  readonly keys: { readonly at: number; readonly type: "u2" | "u4" };
  readonly weights: { readonly at: number; readonly type: "f2" | "f4" };
}

export interface Stats {
  readonly entropy?: number;
  readonly distance?: number;
  readonly diagonality?: number;
  readonly first?: number;
}

/** The weights of one head: rows are queries, columns are keys. */
export interface AttentionMap {
  readonly layer: number;
  readonly head: number;
  readonly rows: number;
  readonly cols: number;
  readonly row_tokens: number | null;
  readonly col_tokens: number | null;
  readonly shape: Shape;
  readonly stats: Stats;
  readonly grids: readonly Grid[];
  readonly top: Top | null;
  readonly entropy: Run | null;
  readonly received: Run | null;
}

export interface Layer {
  readonly name: string;
  readonly model: string;
  /** What a reader calls it, where it is no module: a sentence, say. */
  readonly label?: Note | null;
}

/** What a reader calls heads, where they are none: translations, say. */
export interface Called {
  readonly heads: Note;
  readonly head: Note;
}

/** A picture or a spectrogram whose patches are the keys from `offset` on, row by row. */
export interface Backdrop {
  readonly kind: "image" | "spectrogram";
  readonly image: string;
  readonly width: number;
  readonly height: number;
  readonly rows: number;
  readonly cols: number;
  readonly offset: number;
}

export interface Kernel {
  readonly kernel: string;
  readonly width: number;
  readonly x: Run;
  readonly y: Run;
  readonly from: number;
  readonly to: number;
}

export interface ViewDocument {
  readonly format: string;
  readonly kind: "attention" | "kernel";
  readonly language: Language | null;
  readonly title: string;
  readonly made: string;
  readonly notes: readonly Note[];
  readonly tokens: readonly (readonly string[])[];
  readonly layers: readonly Layer[];
  readonly called: Called | null;
  readonly maps: readonly AttentionMap[];
  readonly backdrop: Backdrop | null;
  readonly kernel: Kernel | null;
  readonly live: { readonly tile: string; readonly line: string } | null;
}

export interface Opened {
  readonly document: ViewDocument;
  readonly bytes: ArrayBuffer;
}

/** The page cannot be read; the message says why, for people. */
export class DocumentError extends Error {}

/** This browser lacks what the page needs to unpack its numbers; the header can still be shown. */
export class NoInflateError extends DocumentError {
  constructor(readonly document: ViewDocument) {
    super("This browser has no DecompressionStream.");
  }
}

const FORMAT = "regard.view/1";
const SIZES: Readonly<Record<NumberType, number>> = { f4: 4, f2: 2, u1: 1, u2: 2, u4: 4 };

/** Read the header. What a reader may leave out gets its default, so that the rest of the page need not ask. */
export function parseHeader(text: string): ViewDocument {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    throw new DocumentError("The header of this page is not JSON.");
  }
  if (typeof header !== "object" || header === null) throw new DocumentError("The header of this page is empty.");
  const given = header as Partial<ViewDocument>;
  if (given.format !== FORMAT) {
    throw new DocumentError(`This page is of the format ${String(given.format)}; wanted ${FORMAT}.`);
  }
  const defaults = {
    language: null, title: "", made: "", notes: [], tokens: [], layers: [], called: null, maps: [],
    backdrop: null, kernel: null, live: null,
  };
  return { kind: "attention", ...defaults, ...given } as ViewDocument;
}

/** Undo base64, then deflate. */
export async function inflate(base64: string): Promise<ArrayBuffer> {
  const packed = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
  if (packed.length === 0) return new ArrayBuffer(0);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** Every run of numbers of a map, so that one look tells whether the bytes hold them all. */
function runsOf(map: AttentionMap): Run[] {
  const runs: Run[] = map.grids.map((grid) => ({ at: grid.at, type: grid.type, count: grid.rows * grid.cols }));
  if (map.top) {
    const count = map.rows * map.top.count;
    runs.push({ ...map.top.keys, count }, { ...map.top.weights, count });
  }
  if (map.entropy) runs.push(map.entropy);
  if (map.received) runs.push(map.received);
  return runs;
}

/** Refuse a document whose header points outside its bytes: a torn file must say so, not show zeros. */
export function check(document: ViewDocument, bytes: ArrayBuffer): void {
  const runs = document.maps.flatMap(runsOf);
  if (document.kernel) runs.push(document.kernel.x, document.kernel.y);
  for (const { at, type, count } of runs) {
    const end = at + count * SIZES[type];
    if (!(Number.isInteger(at) && at >= 0 && at % 4 === 0 && end <= bytes.byteLength)) {
      throw new DocumentError(`The page is torn: numbers at ${at} to ${end}, but there are ${bytes.byteLength} bytes.`);
    }
  }
}

/** Read the page's own header and numbers. */
export async function openDocument(root: Document): Promise<Opened> {
  const header = root.getElementById("regard-document")?.textContent;
  if (!header) throw new DocumentError("This page holds no document.");
  const document = parseHeader(header);
  if (typeof DecompressionStream === "undefined") throw new NoInflateError(document);
  let bytes: ArrayBuffer;
  try {
    bytes = await inflate(root.getElementById("regard-data")?.textContent ?? "");
  } catch {
    throw new DocumentError("The numbers of this page cannot be unpacked: the file is torn.");
  }
  check(document, bytes);
  return { document, bytes };
}

let halves: Float32Array | null = null;

/** Every float16 as a float32: 65,536 values are made once, then a half is one look-up. */
function halfTable(): Float32Array {
  if (halves) return halves;
  halves = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits += 1) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0) halves[bits] = sign * fraction * 2 ** -24;
    else if (exponent === 31) halves[bits] = fraction ? NaN : sign * Infinity;
    else halves[bits] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return halves;
}

/** Read `count` numbers. f4 is a view of the bytes, not a copy; do not write to it. u1 is scaled by `one`. */
export function numbers(bytes: ArrayBuffer, run: Run, one = 255): Float32Array {
  const { at, type, count } = run;
  if (type === "f4") return new Float32Array(bytes, at, count);
  const out = new Float32Array(count);
  // Plain loops: Float32Array.from with a function is many times slower, and there may be millions.
  if (type === "f2") {
    const table = halfTable();
    const halves = new Uint16Array(bytes, at, count);
    for (let index = 0; index < count; index += 1) out[index] = table[halves[index]!]!;
  } else if (type === "u1") {
    const packed = new Uint8Array(bytes, at, count);
    for (let index = 0; index < count; index += 1) out[index] = (packed[index]! / 255) * one;
  } else out.set(integers(bytes, run));
  return out;
}

/** Read `count` whole numbers: places of keys. */
export function integers(bytes: ArrayBuffer, { at, type, count }: Run): Uint16Array | Uint32Array {
  return type === "u4" ? new Uint32Array(bytes, at, count) : new Uint16Array(bytes, at, count);
}

/** The values of a grid, row by row. */
export function gridValues(bytes: ArrayBuffer, grid: Grid): Float32Array {
  return numbers(bytes, { at: grid.at, type: grid.type, count: grid.rows * grid.cols }, grid.one);
}

export interface TopWeights {
  readonly count: number;
  readonly keys: Uint16Array | Uint32Array;
  readonly weights: Float32Array;
}

/** The largest weights of every query, [rows, count], largest first; null where the document has none. */
export function topWeights(bytes: ArrayBuffer, map: AttentionMap): TopWeights | null {
  if (!map.top || map.top.count < 1) return null;
  const count = map.rows * map.top.count;
  return {
    count: map.top.count,
    keys: integers(bytes, { ...map.top.keys, count }),
    weights: numbers(bytes, { ...map.top.weights, count }),
  };
}

/** The name of a place: its token, or its number where places are only counted. */
export function tokenAt(document: ViewDocument, list: number | null, place: number): string {
  return (list === null ? undefined : document.tokens[list]?.[place]) ?? String(place);
}
