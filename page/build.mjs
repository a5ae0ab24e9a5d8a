// Builds the page: one ES module, one style sheet, and the licences of the libraries inside.
//
//     node build.mjs [FOLDER]
//
// The same sources give the same bytes, so that what is committed can be checked against them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, "../src/regard/viewing/built"));

const common = {
  absWorkingDir: here,
  bundle: true,
  charset: "ascii", // the page is read right whatever encoding a host declares
  legalComments: "none", // they stand in LICENSES.txt
  logLevel: "warning",
  metafile: true,
  minify: true,
  sourcemap: false,
  target: "es2022",
  write: false,
};

const script = await build({
  ...common,
  entryPoints: ["src/main.ts"],
  format: "esm",
  outfile: "page.js",
  define: { "process.env.NODE_ENV": '"production"' },
  conditions: ["production"], // Lit without its development warnings
});
const style = await build({ ...common, entryPoints: ["src/page.css"], outfile: "page.css" });

await mkdir(target, { recursive: true });
await writeFile(join(target, "page.js"), inlinable(script.outputFiles[0].text));
await writeFile(join(target, "page.css"), style.outputFiles[0].text);
await writeFile(join(target, "LICENSES.txt"), licences(script.metafile));

/** A script that may stand inside an HTML page as it is. */
function inlinable(text) {
  const found = text.match(/<\/script|<!--|<script/i);
  if (found) {
    throw new Error(`the script holds ${found[0]}, which would end or change the page's <script>`);
  }
  return text;
}

/** The packages whose code is in the bundle, each with the licence that came with it. */
function licences(metafile) {
  const names = new Set();
  for (const [input, { bytesInOutput }] of Object.entries(Object.values(metafile.outputs)[0].inputs)) {
    const inside = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (inside && bytesInOutput > 0) names.add(inside[1]);
  }
  const parts = [...names].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8").trim() : "";
    if (!text) throw new Error(`${name} ${version} (${license}) comes without the text of its licence`);
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  const rule = `\n${"-".repeat(80)}\n\n`;
  return ["page.js contains code of these packages, under their licences.\n", ...parts].join(rule);
}
