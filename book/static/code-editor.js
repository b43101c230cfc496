// A text area with colored Python behind it. Escape, then Tab leaves it.

const KEYWORDS =
  "and as assert break class continue def del elif else except False finally for from " +
  "global if import in is lambda None nonlocal not or pass raise return True try while " +
  "with yield";
const TOKENS = new RegExp(
  [
    String.raw`(?<c1>#.*)`,
    String.raw`(?<s2>[rbfu]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))`,
    String.raw`(?<k>\b(?:${KEYWORDS.replaceAll(" ", "|")})\b)`,
    String.raw`(?<mi>\b\d[\d_.]*(?:e[+-]?\d+)?\b)`,
    String.raw`(?<n>[A-Za-z_]\w*)`,
  ].join("|"),
  "gi",
);

/** Spans with the classes of the book's own code cells. */
function colored(code) {
  const parts = document.createDocumentFragment();
  let done = 0;
  for (const match of code.matchAll(TOKENS)) {
    const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    parts.append(code.slice(done, match.index));
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = match[0];
    parts.append(kind === "n" ? match[0] : span);
    done = match.index + match[0].length;
  }
  parts.append(code.slice(done), "\n"); // the last line stays visible while it is empty
  return parts;
}

export class CodeEditor {
  /** label: its name for screen readers; run: what Shift+Enter does. */
  constructor(code, { label, changed, run }) {
    this.element = document.createElement("div");
    this.element.className = "code-editor highlight";
    this.behind = document.createElement("pre");
    this.behind.ariaHidden = "true";
    this.area = document.createElement("textarea");
    Object.assign(this.area, { spellcheck: false, ariaLabel: label, wrap: "off" });
    this.area.setAttribute("autocapitalize", "off");
    this.area.setAttribute("aria-describedby", "exercise-keys");
    this.element.append(this.behind, this.area);
    this.code = code;
    this.area.addEventListener("input", () => {
      this.color();
      changed(this.code);
    });
    this.area.addEventListener("keydown", (event) => this.pressed(event, run));
  }

  get code() {
    return this.area.value;
  }

  set code(code) {
    this.area.value = code;
    this.color();
  }

  color() {
    this.behind.replaceChildren(colored(this.code));
  }

  pressed(event, run) {
    if (event.key === "Escape") {
      this.leaving = true;
      return;
    }
    const leaving = this.leaving;
    if (event.key !== "Shift") this.leaving = false;
    if (event.key === "Tab" && !leaving) {
      event.preventDefault();
      if (event.shiftKey) this.dedent();
      else this.insert("    ");
    } else if (event.key === "Enter" && (event.shiftKey || event.ctrlKey)) {
      event.preventDefault();
      run();
    } else if (event.key === "Enter") {
      event.preventDefault();
      const before = this.line().before;
      const indent = before.match(/^ */)[0];
      this.insert(`\n${indent}${before.trimEnd().endsWith(":") ? "    " : ""}`);
    }
  }

  line() {
    const start = this.code.lastIndexOf("\n", this.area.selectionStart - 1) + 1;
    return { start, before: this.code.slice(start, this.area.selectionStart) };
  }

  insert(text) {
    // keeps the browser's undo, which setRangeText would not
    document.execCommand("insertText", false, text);
  }

  dedent() {
    const { start } = this.line();
    const spaces = this.code.slice(start, start + 4).match(/^ */)[0].length;
    const caret = this.area.selectionStart;
    if (!spaces) return;
    this.area.setSelectionRange(start, start + spaces);
    document.execCommand("delete");
    this.area.setSelectionRange(caret - spaces, caret - spaces);
  }
}
