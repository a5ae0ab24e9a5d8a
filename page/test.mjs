// Runs every src/**/*.test.ts in Node: bundled by esbuild, then `node --test`.
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const compiled = join(here, "build", `tests-${process.pid}`); // two runs at a time do not meet
const named = process.argv.slice(2);
const tests = find(join(here, "src")).filter((path) => named.length === 0 || named.some((part) => path.includes(part)));
if (tests.length === 0) {
  console.error("test.mjs: no test file");
  process.exit(2);
}

await build({
  absWorkingDir: here,
  bundle: true,
  conditions: ["production"],
  entryPoints: tests,
  format: "esm",
  logLevel: "warning",
  outbase: "src",
  outdir: compiled,
  outExtension: { ".js": ".mjs" },
  platform: "node",
  sourcemap: "inline",
  target: "es2022",
});
const made = find(compiled, ".test.mjs");
const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", "--test-reporter=spec", ...made], { stdio: "inherit" });
rmSync(compiled, { recursive: true, force: true });
process.exit(status ?? 1);

function find(folder, ending = ".test.ts") {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return find(path, ending);
      return entry.name.endsWith(ending) ? [path] : [];
    })
    .sort();
}
