// An exercise in the page: the notebook is the state. Each answer is written into it,
// it is kept in this browser, it is what Python runs and what "Download" gives.
import { CodeEditor } from "./code-editor.js";

const release = document.getElementById("exercise-notebook");
const { assignment, file, python, wheel } = release.dataset;
const KEY = `exercise:${assignment}`;
const NO_PYTHON =
  "Python could not be loaded here. What you wrote is kept: download your notebook " +
  "and go on with it on your computer, or try again.";

const absolute = (address) => new URL(address, document.baseURI).href;
const fresh = () => JSON.parse(release.textContent);
const source = (cell) => [cell.source].flat().join("");
const gradeId = (cell) => cell.metadata?.nbgrader?.grade_id;
const isCheck = (cell) => cell.metadata?.nbgrader?.grade && cell.cell_type === "code";

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const button = (text, pressed) => {
  const element = make("button", { type: "button", textContent: text });
  element.addEventListener("click", pressed);
  return element;
};

function stored() {
  try {
    return JSON.parse(localStorage.getItem(KEY));
  } catch {
    return null;
  }
}

/** Why a file cannot be this exercise, or null. */
export function problemWith(notebook) {
  if (!Array.isArray(notebook?.cells)) return "This file is not a notebook.";
  const ids = new Set(notebook.cells.map(gradeId));
  const answers = fresh().cells.filter((cell) => cell.metadata.nbgrader?.solution);
  const missing = answers.map(gradeId).filter((id) => !ids.has(id));
  if (missing.length === answers.length)
    return `This notebook is not ${assignment}: it has none of its answer cells.`;
  if (missing.length)
    return `This notebook lacks the cell ${missing[0]}. Take a fresh one and copy your answers.`;
  return null;
}

class Exercise {
  constructor() {
    this.notebook = stored() ?? fresh();
    if (problemWith(this.notebook)) this.notebook = fresh();
    this.fields = new Map(); // grade id -> what shows the answer
    this.outputs = new Map(); // grade id -> where outcomes appear
    this.tools();
    for (const bar of document.querySelectorAll(".exercise-bar")) this.enliven(bar);
  }

  cell(id) {
    return this.notebook.cells.find((cell) => gradeId(cell) === id);
  }

  tools() {
    this.status = make("span", { className: "exercise-status" });
    this.status.setAttribute("role", "status");
    this.stopper = button("Stop", () => this.stop());
    this.stopper.hidden = true;
    const picker = make("input", { type: "file", accept: ".ipynb", hidden: true });
    picker.addEventListener("change", () => this.open(picker));
    const keys = "Tab indents; Escape, then Tab leaves an editor. Shift+Enter runs.";
    document.getElementById("exercise-tools").append(
      make(
        "div",
        {},
        button("Check everything", () => this.checkAll()),
        this.stopper,
        button("Download my notebook", () => this.download()),
        button("Open a notebook", () => picker.click()),
        button("Start over", () => this.startOver()),
        picker,
      ),
      this.status,
      make("p", { id: "exercise-keys", textContent: keys }),
    );
  }

  /** Give a cell its editor, its button and a place for what comes of it. */
  enliven(bar) {
    const id = bar.dataset.cell;
    const cell = this.cell(id);
    const output = make("div", { className: "exercise-output" });
    output.setAttribute("role", "status");
    this.outputs.set(id, output);
    if (bar.classList.contains("written")) {
      const area = make("textarea", { rows: 7, ariaLabel: "Your answer", value: source(cell) });
      area.addEventListener("input", () => this.write(id, area.value));
      this.fields.set(id, { set: (text) => (area.value = text) });
      bar.append(area);
    } else if (isCheck(cell)) {
      bar.append(button("Check", () => this.run([id])), output);
    } else {
      const editor = new CodeEditor(source(cell), {
        label: `Your code: ${id}`,
        changed: (code) => this.write(id, code),
        run: () => this.run([id]),
      });
      this.fields.set(id, { set: (text) => (editor.code = text) });
      bar.previousElementSibling.replaceWith(editor.element); // the code as given
      bar.append(button("Run", () => this.run([id])), output);
    }
  }

  write(id, text) {
    this.cell(id).source = text.match(/[^]*?\n|[^]+$/g) ?? [];
    this.keep();
  }

  keep() {
    try {
      localStorage.setItem(KEY, JSON.stringify(this.notebook));
    } catch {
      this.status.textContent = "This browser keeps nothing: download your notebook in time.";
    }
  }

  // ---- Python

  checkAll() {
    this.run(this.notebook.cells.filter(isCheck).map(gradeId));
  }

  run(ids) {
    if (this.busy) return;
    this.busy = true;
    const code = this.notebook.cells.filter((cell) => cell.cell_type === "code");
    const wanted = ids.map((id) => code.findIndex((cell) => gradeId(cell) === id));
    const sources = code.map(source);
    const packages = ["numpy", "matplotlib"].filter(
      (name, first) => !first || sources.some((text) => text.includes(name)),
    );
    this.worker ??= this.hire();
    this.stopper.hidden = false;
    this.status.textContent = "Loading Python: about 15 MB, once …";
    this.worker.onmessage = ({ data }) => {
      if (data.state) this.status.textContent = "Running …";
      if (data.failed) this.finish(`${NO_PYTHON} (${data.failed})`);
      if (data.outcomes) this.tell(data.outcomes, code, ids);
    };
    const files = { home: python, wheel, runner: new URL("runner.py", import.meta.url).href };
    for (const name in files) files[name] = absolute(files[name]);
    this.worker.postMessage({ setup: { ...files, packages }, job: { sources, wanted } });
  }

  hire() {
    const worker = new Worker(new URL("exercise-worker.js", import.meta.url), { type: "module" });
    worker.onerror = (event) => {
      event.preventDefault();
      this.worker = undefined;
      this.finish(NO_PYTHON);
    };
    return worker;
  }

  stop() {
    this.worker?.terminate();
    this.worker = undefined;
    this.finish("Stopped. The next run starts Python again.");
  }

  finish(words) {
    this.busy = false;
    this.stopper.hidden = true;
    this.status.textContent = words;
  }

  tell(outcomes, code, ids) {
    for (const outcome of outcomes) {
      const id = gradeId(code[outcome.number]);
      const text = [outcome.said.trimEnd(), outcome.problem].filter(Boolean).join("\n");
      const nothing = ids.includes(id) && !outcome.figures.length ? "Done; it printed nothing." : "";
      const place = this.outputs.get(id);
      if (!place) {
        this.outputs.get(ids[0]).textContent = `In another cell: ${text}`;
        continue;
      }
      place.classList.toggle("wrong", Boolean(outcome.problem));
      place.replaceChildren(make("pre", { textContent: text || nothing }));
      for (const figure of outcome.figures)
        place.append(
          make("img", {
            alt: "The figure that your code drew",
            src: `data:image/png;base64,${figure}`,
          }),
        );
    }
    const asked = outcomes.filter((outcome) => outcome.question);
    const held = asked.filter((outcome) => !outcome.problem).length;
    this.finish(
      asked.length > 1
        ? `The visible checks of ${held} of ${asked.length} questions hold.`
        : "Done.",
    );
  }

  // ---- the file

  download() {
    const text = `${JSON.stringify(this.notebook, null, 1)}\n`;
    const link = make("a", {
      href: URL.createObjectURL(new Blob([text], { type: "application/x-ipynb+json" })),
      download: file,
    });
    link.click();
    URL.revokeObjectURL(link.href);
    this.status.textContent = `${file} is in your downloads. Hand it in under this name.`;
  }

  async open(picker) {
    const [chosen] = picker.files;
    picker.value = "";
    if (!chosen) return;
    let notebook = null;
    try {
      notebook = JSON.parse(await chosen.text());
    } catch {
      // told below
    }
    const problem = problemWith(notebook);
    if (problem) {
      this.status.textContent = `${chosen.name} was not opened. ${problem}`;
      return;
    }
    this.show(notebook);
    const added = notebook.cells.filter((cell) => !gradeId(cell)).length;
    const more = added ? ` ${added} cells of your own are kept and run, but not shown.` : "";
    this.status.textContent = `${chosen.name} is open.${more}`;
  }

  startOver() {
    if (!confirm("Forget all answers of this exercise?")) return;
    this.show(fresh());
    this.status.textContent = "This is the exercise as it was given.";
  }

  show(notebook) {
    this.notebook = notebook;
    for (const [id, field] of this.fields) field.set(source(this.cell(id)));
    for (const output of this.outputs.values()) output.replaceChildren();
    this.keep();
  }
}

new Exercise();
