// Where one writes code: a text area, until CodeMirror is there (editor.py). In both
// Escape, then Tab leaves; the text area leaves Tab to the browser.

// of a page's editors only those that come near the screen cost time, once it is drawn
const near = new IntersectionObserver(
  (seen) => {
    for (const { isIntersecting, target } of seen) if (isIntersecting) target.editor.grow();
  },
  { rootMargin: "100%" },
);

// Firefox tells of no paint on some pages, so this waits for a frame
const painted = new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

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
  /** label: its name for screen readers; changed(code): somebody typed; run: what
      Shift+Enter does; kept: what `kept` was on an earlier visit. */
  constructor(code, { label, ...options }) {
    this.attributes = { "aria-label": label, "aria-describedby": keys() };
    this.options = options;
    this.element = document.createElement("div");
    this.element.className = "code-editor highlight";
    this.element.editor = this;
    const area = (this.field = document.createElement("textarea"));
    Object.assign(area, { spellcheck: false, ariaLabel: label, wrap: "off", autocapitalize: "off" });
    area.addEventListener("input", () => {
      this.value = area.value; // its height
      options.changed(area.value);
    });
    area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      options.run();
    });
    this.element.append(area);
    this.value = code;
    near.observe(this.element);
  }

  /** Go on in CodeMirror, at the same place. */
  async grow() {
    near.unobserve(this.element);
    await painted;
    const { CodeMirror } = await import("./code-mirror/code-mirror.js").catch(() => ({}));
    if (!CodeMirror) return; // the text area stays
    const area = this.field;
    const { value, readOnly, selectionStart, selectionEnd } = area;
    const inside = document.activeElement === area;
    this.field = new CodeMirror(value, { attributes: this.attributes, ...this.options });
    this.field.readOnly = readOnly;
    area.replaceWith(this.field.element);
    if (inside) this.select(selectionStart, selectionEnd);
    this.mark(this.wrong);
  }

  get value() {
    return this.field.value;
  }

  set value(code) {
    this.field.value = code;
    this.field.rows = code.split("\n").length;
  }

  get readOnly() {
    return this.field.readOnly;
  }

  set readOnly(yes) {
    this.field.readOnly = yes;
  }

  /** What can be undone, to be kept for the next visit. */
  get kept() {
    return this.field.kept ?? this.options.kept;
  }

  focus() {
    this.field.focus();
  }

  select(start, end = start) {
    this.focus();
    this.field.setSelectionRange(start, end);
  }

  /** Put the cursor at the start of what a line says. */
  goTo(line) {
    const before = this.value.split("\n").slice(0, line - 1);
    this.select(before.join("\n").length + (line > 1));
  }

  /** Mark a line as the one that failed; none: no line. */
  mark(line) {
    this.wrong = line;
    this.field.mark?.(line);
  }
}
