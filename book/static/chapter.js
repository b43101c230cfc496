// The cells of a chapter, run and changed in the page. A run starts from nothing: the
// worker runs what a cell needs from the cells above, as they stand in the page now.

import { CodeEditor } from "./code-editor.js";
import { button, make, say } from "./elements.js";
import { changedCells, keepCell } from "./progress.js";
import { Python, Runs } from "./python.js";

const place = document.getElementById("chapter-python");
const runner = new URL("chapter_runner.py", import.meta.url).href;
const python = new Python({ ...place.dataset, runner });
const runs = new Runs(python, enable);
const aged = make("p", { className: "visually-hidden", role: "status" });
place.after(aged);

class Cell {
  constructor(bar, number) {
    Object.assign(this, { bar, number });
    this.input = bar.previousElementSibling;
    this.recorded = bar.nextElementSibling;
    this.given = this.input.querySelector("pre").textContent.replace(/\n$/, "");
    this.above = (bar.dataset.above ?? "").split(" ").filter(Boolean).map(Number);
    [this.press, this.changer] = bar.querySelectorAll("button");
    if (!this.press) return; // it cannot run here
    this.row = bar.firstElementChild;
    this.status = make("span", { className: "exercise-status", role: "status" });
    this.old = make("p", { className: "cell-old", hidden: true });
    this.output = make("div", { className: "exercise-output", role: "status" });
    this.back = button("Show the recorded output", () => this.showRecorded());
    this.undo = button("Undo my changes", () => this.write(this.given));
    this.back.hidden = this.undo.hidden = true;
    this.row.append(this.undo, this.back, this.status);
    bar.append(this.old, this.output);
  }

  get source() {
    return this.editor?.value ?? this.given;
  }

  /** All code that this cell's output depends on. */
  get code() {
    return [...this.above, this.number].map((number) => cells[number].source).join("\0");
  }

  get changed() {
    return [...this.above, this.number].some((number) => cells[number].source !== cells[number].given);
  }

  change(code = this.given) {
    if (this.editor) return;
    this.input.open = true; // where it is folded
    this.editor = new CodeEditor(code, {
      label: `Code of cell ${this.number + 1}`,
      changed: () => this.keep(),
      run: () => this.run(),
    });
    this.input.querySelector(".highlight").replaceWith(this.editor.element);
    this.changer.hidden = true;
  }

  keep() {
    keepCell(this.given, this.source);
    age();
  }

  write(code) {
    this.editor.value = code;
    this.editor.focus();
    this.keep();
  }

  run() {
    if (runs.place) return;
    this.sent = this.code;
    const draws = /\b(plt|plot_\w+|attention|plots|matplotlib)\b/.test(this.source) || "draws" in this.bar.dataset;
    const home = new URL(place.dataset.data, document.baseURI).href;
    const job = { sources: cells.map(({ source }) => source), number: this.number, home };
    runs.run(this, job, draws ? ["numpy", "matplotlib"] : ["numpy"], ({ failed, outcomes }) => {
      if (outcomes) this.show(outcomes);
      else runs.finish(`Python could not be loaded here. The notebook runs on your computer. (${failed})`);
    });
  }

  show({ outputs, at }) {
    const alt = (!this.changed && this.recorded?.querySelector("img")?.alt) || "The figure that your code drew";
    const box = make("div", { className: `exercise-said ${outputs.some(({ error }) => error) ? "wrong" : "plain"}` });
    if (at !== null) {
      const link = make("a", { href: `#cell-${at + 1}`, textContent: "A cell above" });
      box.append(make("p", {}, link, ", which this one needs, failed:"));
    }
    for (const { text, error, figure } of outputs)
      box.append(figure ? make("img", { alt, srcset: `data:image/png;base64,${figure} 2x` }) : make("pre", { textContent: (text ?? error).trimEnd() }));
    if (!outputs.length) box.append(make("pre", { textContent: "Done; it printed nothing." }));
    this.output.replaceChildren(box);
    if (this.recorded) this.recorded.hidden = true;
    this.back.hidden = !this.recorded;
    this.seen = this.sent;
    runs.finish("");
    age();
  }

  showRecorded() {
    this.output.replaceChildren();
    this.recorded.hidden = false;
    this.back.hidden = true;
    this.seen = this.recordedCode;
    this.press.focus();
    age();
  }

  /** Say whether the output belongs to the code that is there now. */
  age() {
    if (!this.press) return;
    this.undo.hidden = this.source === this.given;
    const stale = this.seen !== this.code;
    const own = this.source !== this.seen.split("\0").at(-1);
    this.old.hidden = !stale;
    say(this.old, !stale ? "" : own ? "You changed this cell: run it." : "A cell above has changed: run this one again.");
    for (const shown of [this.output, this.recorded]) shown?.classList.toggle("stale", stale);
  }
}

function enable(yes) {
  for (const { press } of cells) if (press) press.disabled = !yes;
}

/** What became old is marked at each cell, and said once. */
function age() {
  for (const cell of cells) cell.age();
  const count = cells.filter(({ old }) => old && !old.hidden).length;
  say(aged, count ? `${count === 1 ? "1 cell has" : `${count} cells have`} to be run again.` : "");
}

const cells = [...document.querySelectorAll(".cell-bar")].map((bar, number) => new Cell(bar, number));
for (const cell of cells) cell.seen = cell.recordedCode = cell.code;
const kept = changedCells(); // from an earlier visit
for (const cell of cells) if (cell.press && cell.given in kept) cell.change(kept[cell.given]);
age();

/** A button of a bar was pressed. */
export function pressed(bar, what) {
  const cell = cells.find((each) => each.bar === bar);
  if (what === "run") cell.run();
  else {
    cell.change();
    cell.editor.focus();
  }
}
