// Sets styles of an element by script. Lit's own styleMap writes a style attribute the first time, which the page's
// Content-Security-Policy forbids.
import { noChange } from "lit";
import { Directive, directive, type ElementPart, PartType, type PartInfo } from "lit/directive.js";

export type Styles = Readonly<Record<string, string>>;

class Styled extends Directive {
  constructor(info: PartInfo) {
    super(info);
    if (info.type !== PartType.ELEMENT) throw new Error("styled stands in a tag, not in an attribute.");
  }

  render(_styles: Styles): typeof noChange {
    return noChange;
  }

  override update(part: ElementPart, [styles]: [Styles]): typeof noChange {
    for (const [name, value] of Object.entries(styles)) (part.element as HTMLElement).style.setProperty(name, value);
    return noChange;
  }
}

/** `<p ${styled({ width: "3px" })}>` */
export const styled = directive(Styled);
