// A text area with colored Python behind it. Escape, then Tab leaves it.

const KEYWORDS =
  "and as assert break class continue def del elif else except False finally for from " +
  "global if import in is lambda None nonlocal not or pass raise return True try while " +
  "with yield";
const TOKENS = new RegExp(
  [
    String.raw`(?<c1>#.*)`,
    String.raw`(?<s2>[rbfuRBFU]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))`,
    String.raw`(?<k>\b(?:${KEYWORDS.replaceAll(" ", "|")})\b)`,
    String.raw`(?<mi>\b\d[\d_.]*(?:[eE][+-]?\d+)?\b)`,
    String.raw`(?<n>[A-Za-z_]\w*)`,
  ].join("|"),
  "g",
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

/** What every editor's description says, once a page: Tab is its own key. */
function keys() {
  const id = "editor-keys";
  if (!document.getElementById(id)) {
    const textContent = "Tab indents; Escape, then Tab leaves the editor. Shift+Enter runs.";
    document.body.append(Object.assign(document.createElement("p"), { id, textContent, hidden: true }));
  }
  return id;
}

export class CodeEditor {
  /** label: its name for screen readers; run: what Shift+Enter does. */
  constructor(code, { label, changed, run }) {
    this.element = document.createElement("div");
    this.element.className = "code-editor highlight";
    // no <pre>: the theme makes one that scrolls a stop of the Tab key
    this.behind = document.createElement("div");
    this.behind.className = "code-behind";
    this.behind.ariaHidden = "true";
    this.area = document.createElement("textarea");
    Object.assign(this.area, { spellcheck: false, ariaLabel: label, wrap: "off" });
    this.area.setAttribute("autocapitalize", "off");
    this.area.setAttribute("aria-describedby", keys());
    this.element.append(this.behind, this.area);
    this.code = code;
    this.area.addEventListener("input", () => {
      this.color();
      changed(this.code);
    });
    this.area.addEventListener("keydown", (event) => this.pressed(event, run));
    this.area.addEventListener("beforeinput", (event) => {
      const plain = { "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'" }[event.data];
      if (!plain) return;
      event.preventDefault(); // phones type quotes that Python does not know
      this.insert(plain);
    });
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
    if (this.area.readOnly) return;
    if (event.key === "Tab" && !leaving) {
      event.preventDefault();
      if (event.shiftKey) this.shift((line) => line.replace(/^ {1,4}/, ""));
      else if (this.spansLines()) this.shift((line) => line && `    ${line}`);
      else this.insert("    ");
    } else if (event.key === "Enter" && (event.shiftKey || event.ctrlKey)) {
      event.preventDefault();
      run();
    } else if (event.key === "Enter") {
      event.preventDefault();
      const before = this.code.slice(this.lineStart(), this.area.selectionStart);
      const indent = before.match(/^ */)[0];
      this.insert(`\n${indent}${before.trimEnd().endsWith(":") ? "    " : ""}`);
    }
  }

  lineStart() {
    return this.code.lastIndexOf("\n", this.area.selectionStart - 1) + 1;
  }

  spansLines() {
    const { selectionStart, selectionEnd } = this.area;
    return this.code.slice(selectionStart, selectionEnd).includes("\n");
  }

  insert(text) {
    // keeps the browser's undo, which setRangeText would not
    document.execCommand("insertText", false, text);
  }

  /** Move the selected lines, or the line of the caret, to the right or to the left. */
  shift(moved) {
    const { selectionStart, selectionEnd } = this.area;
    const start = this.lineStart();
    // a selection that ends where a line begins does not mean that line
    const last = selectionEnd - (this.spansLines() && this.code[selectionEnd - 1] === "\n" ? 1 : 0);
    const end = [this.code.indexOf("\n", last), this.code.length].find((place) => place >= 0);
    const before = this.code.slice(start, end);
    const after = before.split("\n").map(moved).join("\n");
    if (after === before) return;
    const first = moved(before.split("\n")[0]).length - before.split("\n")[0].length;
    this.area.setSelectionRange(start, end);
    if (after) this.insert(after);
    else document.execCommand("delete");
    this.area.setSelectionRange(
      Math.max(start, selectionStart + first),
      Math.max(start, selectionEnd + after.length - before.length),
    );
  }
}
