// Reads the page's document and shows it. What cannot be shown is said in words.
import { openDocument, NoInflateError, type Language, type ViewDocument } from "./document";
import "./attention";
import type { RegardAttention } from "./attention";
import "./kernel/index";
import type { RegardKernel } from "./kernel/index";
import { languageOf, say } from "./texts";
import { titlesOf } from "./titles";
import { statLines } from "./words";

const browser = (): readonly string[] => navigator.languages ?? [];

function element<K extends keyof HTMLElementTagNameMap>(name: K, text = "", parent?: HTMLElement): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.textContent = text;
  parent?.append(made);
  return made;
}

/** What the header alone tells, for a browser that cannot do more. */
function plain(view: ViewDocument | null, message: string, language: Language): HTMLElement {
  const main = element("main");
  main.className = "plain";
  main.dataset["ready"] = "plain";
  element("h1", view?.title || "regard", main);
  element("p", message, main).setAttribute("role", "alert");
  if (!view) return main;
  const titles = titlesOf(language, view);
  for (const note of view.notes) element("p", note[language], main);
  const table = element("table", "", main);
  for (const [at, map] of view.maps.entries()) {
    const row = element("tr", "", table);
    element("th", titles[at] ?? "", row).scope = "row";
    for (const { name, value } of statLines(language, map)) element("td", `${name} ${value}`, row);
  }
  return main;
}

async function start(): Promise<void> {
  let view: ViewDocument | null = null;
  try {
    const { document: opened, bytes } = await openDocument(document);
    view = opened;
    const language = languageOf(null, view.language, browser());
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
    if (view.title) document.title = view.title;
    if (view.kind === "kernel") {
      const shown = document.createElement("regard-kernel") as RegardKernel;
      Object.assign(shown, { document: view, bytes, language });
      document.body.append(shown);
      return;
    }
    if (!document.createElement("canvas").getContext("2d")) {
      document.body.append(plain(view, say(language, "noCanvas"), language));
      return;
    }
    const shown = document.createElement("regard-attention") as RegardAttention;
    Object.assign(shown, { document: view, bytes });
    document.body.append(shown);
  } catch (error) {
    const known = error instanceof NoInflateError ? error.document : view;
    const language = languageOf(null, known?.language ?? null, browser());
    const why = error instanceof Error ? error.message : String(error);
    const message = error instanceof NoInflateError ? say(language, "noInflate") : say(language, "broken", { why });
    document.body.append(plain(known, message, language));
  }
}

void start();
