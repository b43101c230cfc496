// An exercise in the page: the notebook is the state. Each answer is written into it,
// it is kept in this browser, it is what Python runs and what "Download" gives.
import { gradeId, isCheck, lines, markOf, merge, problemWith, source, stubs, untouched } from "./answers.js";
import { CodeEditor } from "./code-editor.js";
import { button, make, say } from "./elements.js";
import { Keeper } from "./keeping.js";
import { note } from "./progress.js";
import { Python, Runs } from "./python.js";
import { LINE, ageOf, holds, intact, panel } from "./verdicts.js";

const element = document.getElementById("exercise-notebook");
const { assignment, file } = element.dataset;
const release = JSON.parse(element.textContent);
const STOPPED = "Stopped. It is kept in this browser.";
const NO_PYTHON =
  "Python could not be loaded here. Your code is kept: try again, or download your " +
  "notebook and go on with it on your computer.";

/** Outcomes that name a cell as this page does, which shows no numbers. */
function named(outcomes, code) {
  const name = (number) => (code[number - 1] && gradeId(code[number - 1])) ?? "a cell of your own";
  const place = (text) => text?.replace(/^(\s*at:\s+)cell (\d+), /m, (_, at, number) => `${at}${name(number)}, `);
  return outcomes.map((outcome) => ({ ...outcome, problem: place(outcome.problem) ?? null }));
}

class Exercise {
  constructor() {
    this.stations = new Map(); // grade id -> where a cell is run and its outcome shown
    this.fields = new Map(); // grade id -> what shows the answer
    this.python = new Python({
      ...element.dataset,
      runner: new URL("runner.py", import.meta.url).href,
    });
    this.runs = new Runs(this.python, (yes) => this.enable(yes && this.keeper.writing), STOPPED);
    this.keeper = new Keeper(`exercise:${assignment}`, {
      changed: () => this.recall(),
      writing: (yes) => this.allow(yes),
    });
    this.notebook = release;
    this.results = {};
    this.undone = this.keeper.read("undo") ?? {};
    this.tools();
    for (const bar of document.querySelectorAll(".exercise-bar")) this.enliven(bar);
    this.recall();
    addEventListener("pagehide", () => this.keepUndo());
    document.addEventListener("visibilitychange", () => document.hidden && this.keepUndo());
    for (const sign of ["pointermove", "keydown", "touchstart", "focusin"])
      addEventListener(sign, () => this.python.warm(this.packages()), { once: true, passive: true });
  }

  cell(id) {
    return this.notebook.cells.find((cell) => gradeId(cell) === id);
  }

  tools() {
    const picker = make("input", { type: "file", accept: ".ipynb", hidden: true });
    picker.addEventListener("change", () => this.open(picker));
    this.status = make("span", { className: "exercise-status", role: "status" });
    this.undo = button("Bring back my answers", () => this.bringBack());
    this.undo.hidden = !this.keeper.read("before");
    const afresh = button("Start over", () => this.startOver());
    afresh.className = "quiet";
    this.replacing = [button("Open a notebook", () => picker.click()), this.undo, afresh];
    this.elsewhere = make(
      "div",
      { className: "exercise-elsewhere", role: "alert", hidden: true },
      "This exercise is open in another tab, and this one only shows what you write there. ",
      button("Work here instead", () => this.keeper.takeOver()),
    );
    const place = document.getElementById("exercise-tools");
    const row = make(
      "div",
      { className: "exercise-row" },
      button("Check everything", () => this.checkAll()),
      button("Download my notebook", () => this.download()),
      ...this.replacing,
      picker,
    );
    place.before(this.elsewhere);
    place.append(row, this.status);
    document.querySelector(".bd-article > section").append(place); // below the last question
    this.stations.set("", { row, status: this.status, press: row.firstChild });
  }

  /** Give a cell its editor, its button and a place for what comes of it. */
  enliven(bar) {
    const { cell: id, check } = bar.dataset;
    if (bar.classList.contains("written")) {
      const area = make("textarea", { rows: 7, ariaLabel: "Your answer" });
      area.addEventListener("input", () => this.write(id, area.value));
      this.fields.set(id, area);
      bar.append(area);
      return;
    }
    const wanted = [...new Set([id, check].filter(Boolean))];
    const run = () => this.run(id, wanted);
    if (!isCheck(this.cell(id))) {
      const editor = new CodeEditor("", {
        label: `Your code: ${id}`,
        changed: (code) => this.write(id, code),
        run,
        kept: this.undone[id],
      });
      this.fields.set(id, editor);
      bar.previousElementSibling.replaceWith(editor.element); // the code as given
    }
    const press = button(check || isCheck(this.cell(id)) ? "Check" : "Run", run);
    const afresh = button("Reset this one", () => this.reset(id));
    const status = make("span", { className: "exercise-status", role: "status" });
    const output = make("div", { className: "exercise-output", role: "status" });
    const row = make("div", { className: "exercise-row" }, press, afresh, status);
    const own = make("div", { className: "exercise-own" });
    bar.append(row, output, own);
    this.stations.set(id, { row, status, press, afresh, output, own, wanted, last: check ?? id });
  }

  // ---- what is kept

  /** Show what this browser has kept, with the given cells of today's release. */
  recall() {
    const kept = this.keeper.read() ?? {};
    const notebook = kept.cells ? kept : kept.notebook; // as kept by earlier versions
    const usable = notebook && !problemWith(notebook, release, assignment);
    const now = usable ? merge(notebook, release, kept.given) : { notebook: release, differing: [] };
    this.results = intact(this.keeper.read("results"));
    this.show(now.notebook);
    if (now.differing.length)
      this.status.textContent = "The exercise has been corrected since. Your answers are as you left them.";
  }

  show(notebook) {
    this.notebook = structuredClone(notebook); // the release itself stays as it is
    for (const [id, field] of this.fields) {
      const text = source(this.cell(id));
      if (field.value !== text) field.value = text;
    }
    for (const id of this.stations.keys()) this.draw(id);
    this.announce();
  }

  /** Tell the page which questions hold, and the editors which lines failed. */
  announce() {
    this.mark();
    document.dispatchEvent(new CustomEvent("exercise-held", { detail: this.held() }));
  }

  write(id, text) {
    const open = this.unwritten().length;
    this.cell(id).source = lines(text);
    this.keep();
    for (const other of this.stations.keys()) this.age(other);
    this.mark();
    if (this.unwritten().length === open) return;
    for (const other of this.stations.keys()) this.draw(other); // it tells what is open
    this.count();
  }

  /** Mark the line at which each answer failed, while the outcome is its code's. */
  mark() {
    const failed = new Map();
    for (const [id, { output }] of this.stations)
      for (const { problem } of output?.matches(":not(.stale)") ? (this.results[id]?.outcomes ?? []) : []) {
        const [, , name, line] = problem?.match(LINE) ?? [];
        failed.set(name, Number(line));
      }
    for (const [id, field] of this.fields) field.mark?.(failed.get(id));
  }

  /** Keep what can be undone; the text itself is kept at each key. */
  keepUndo() {
    const undone = [...this.fields].map(([id, field]) => [id, field.kept]);
    this.keeper.write(Object.fromEntries(undone), "undo");
  }

  keep() {
    const kept = this.keeper.write({ notebook: this.notebook, given: stubs(release) });
    if (!kept) this.status.textContent = "This browser keeps nothing: download your notebook in time.";
  }

  /** Another tab writes, or this one does again. */
  allow(writing) {
    this.elsewhere.hidden = writing;
    for (const field of this.fields.values()) field.readOnly = !writing;
    for (const each of this.replacing) each.disabled = !writing;
    this.enable(writing);
  }

  enable(yes) {
    for (const { press, afresh } of this.stations.values())
      for (const each of [press, afresh]) if (each) each.disabled = !yes;
  }

  // ---- Python

  code() {
    return this.notebook.cells.filter((cell) => cell.cell_type === "code");
  }

  packages() {
    const drawn = this.code().some((cell) => source(cell).includes("matplotlib"));
    return drawn ? ["numpy", "matplotlib"] : ["numpy"];
  }

  checkAll() {
    const stations = [...this.stations.values()];
    this.run("", stations.flatMap(({ wanted }) => wanted ?? []));
  }

  /** Run cells; pressed: the station at which all that happens is told.
   *  ask: make so many questions about the code instead, which is known to pass. */
  run(pressed, ids, ask = 0) {
    if (this.runs.place || !this.keeper.writing) return;
    const code = this.code();
    const wanted = ids.map((id) => code.findIndex((cell) => gradeId(cell) === id));
    const job = { sources: code.map(source), wanted, ask };
    this.runs.run(this.stations.get(pressed), job, this.packages(), ({ failed, outcomes }) => {
      if (failed) this.runs.finish(`${NO_PYTHON} (${failed})`);
      else if (ask) this.pose(pressed, outcomes);
      else this.tell(named(outcomes, code), code, ids, pressed);
    });
  }

  tell(outcomes, code, ids, pressed) {
    const byId = new Map(outcomes.map((outcome) => [gradeId(code[outcome.number]) ?? outcome.number, outcome]));
    const shown = new Set(ids);
    for (const [id, station] of this.stations) {
      if (!station.wanted?.every((each) => shown.has(each))) continue;
      const found = station.wanted.map((each) => byId.get(each)).filter(Boolean);
      const wrong = found.some((outcome) => outcome.problem);
      const elsewhere = outcomes.filter(
        (outcome) => wrong && outcome.problem && !shown.has(gradeId(code[outcome.number])),
      );
      const number = code.findIndex((cell) => gradeId(cell) === station.last);
      this.results[id] = {
        outcomes: [...elsewhere.map((outcome) => ({ ...outcome, elsewhere: true })), ...found],
        at: Date.now(),
        mark: markOf(code, number),
      };
      this.draw(id);
    }
    if (!this.keeper.write(this.results, "results")) {
      const bare = Object.entries(this.results).map(([id, result]) => [
        id,
        { ...result, outcomes: result.outcomes.map((each) => ({ ...each, figures: [] })) },
      ]);
      this.keeper.write(Object.fromEntries(bare), "results"); // figures take room
    }
    const asked = outcomes.filter((outcome) => outcome.question);
    const held = asked.filter((outcome) => !outcome.problem).length;
    this.count();
    this.announce();
    this.runs.finish(
      pressed === ""
        ? `${held} of ${asked.length} questions ${held === 1 ? "passes" : "pass"} all visible checks.`
        : "",
    );
  }

  /** Show questions about the code of an answer; they are for oneself, without points. */
  async pose(id, outcomes) {
    const own = await import("./own-code.js").catch(() => undefined);
    if (!own) return this.runs.finish("The questions could not be loaded. Try again.");
    const asked = outcomes.flatMap((outcome) => outcome.asked);
    const about = { name: id, code: source(this.cell(id)) }; // to be asked again without this page
    const found = asked.map((one, number) => own.quizOf(`own:${assignment}:${id}:${number}`, { ...one, ...about }));
    this.stations.get(id).own.replaceChildren(...found);
    this.runs.finish(found.length ? "No points: these are for you." : "There are no good questions about this code.");
  }

  questions() {
    return [...this.stations].filter(([, { press }]) => press.textContent === "Check").map(([id]) => id);
  }

  held() {
    return this.questions().filter((id) => this.results[id] && holds(this.results[id]));
  }

  /** The questions in words: they have a field, and nothing to run. */
  inWords() {
    return [...this.fields.keys()].filter((id) => !this.stations.has(id));
  }

  /** Those of them that are empty, a single word, still to do, or the course's own words. */
  unwritten() {
    const words = (text) => (text ?? "").toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
    const course = release.cells.filter((cell) => cell.cell_type !== "code").map(source);
    const lines = new Set(course.flatMap((text) => text.split("\n")).map((line) => words(line).join(" ")));
    return this.inWords().filter((id) => {
      const text = source(this.cell(id));
      const [said, many] = [words(text).join(" "), words(text).length];
      return !text.trim() || said.startsWith("todo ") || (many === 1 && /^[ -~]*$/.test(said)) || (many && lines.has(said))
        || (many >= 5 && course.some((card) => words(card).join(" ").includes(said)));
    });
  }

  /** Note how much is done: what passes, and what is answered in words. */
  count() {
    const open = this.unwritten();
    const held = this.held();
    const done = [
      ...this.questions().map((id) => held.includes(id)),
      ...this.inWords().map((id) => !open.includes(id)),
    ];
    note(`exercise:${assignment}`, done.filter(Boolean).length, done.length, done.map(Number).join(""));
  }

  /** Show the last outcome of a station, and how old it is. */
  draw(id) {
    const { output, own, last } = this.stations.get(id);
    const result = this.results[id];
    if (!output) return;
    output.replaceChildren(...(result ? panel(result, this.next(id), this.fields) : []));
    const passes = result && holds(result) && /^(def|class) (?!check_)/m.test(source(this.cell(id)));
    const ask = () => this.run(id, [last], 2);
    own.replaceChildren(...(passes ? [button("Two questions about your code", ask)] : []));
    this.age(id);
  }

  age(id) {
    const { output, last, afresh } = this.stations.get(id);
    if (afresh) afresh.hidden = !this.fields.has(id) || source(this.cell(id)) === stubs(release)[id];
    const result = this.results[id];
    if (!output || !result) return;
    const code = this.code();
    const number = code.findIndex((cell) => gradeId(cell) === last);
    const stale = markOf(code, number) !== result.mark;
    output.classList.toggle("stale", stale);
    say(output.querySelector(".exercise-age"), ageOf(result.at, stale));
  }

  /** What to do after a question that holds: the next one that does not, or hand in. */
  next(id) {
    const open = this.questions().filter((each) => !this.held().includes(each));
    const after = open.find((each) => this.questions().indexOf(each) > this.questions().indexOf(id));
    const goal = after ?? open[0];
    if (goal === undefined) {
      const open = this.unwritten();
      const last = open.length
        ? `Still open, in your own words: ${open.join(", ")}.`
        : "Hidden checks run after you hand it in: download your notebook.";
      return { text: `All visible checks pass. ${last}` };
    }
    const bar = this.stations.get(goal).output.closest(".exercise-bar");
    return { text: `Next: ${goal}`, href: `#${bar.closest("section")?.id ?? ""}` };
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
    const problem = problemWith(notebook, release, assignment);
    if (problem) {
      this.status.textContent = `${chosen.name} was not opened. ${problem}`;
      return;
    }
    const { notebook: opened, differing } = merge(notebook, release);
    this.replace(opened);
    const added = opened.cells.filter((cell) => !gradeId(cell)).length;
    const more = added ? ` ${added} cells of your own are kept and run, but not shown.` : "";
    const other = differing.length
      ? ` Given cells that differ are as the exercise has them: ${differing.join(", ")}.`
      : "";
    this.status.textContent = `${chosen.name} is open.${more}${other}`;
  }

  /** Give one question as it was; all answers before it can be brought back. */
  reset(id) {
    this.keeper.write(this.notebook, "before");
    this.undo.hidden = false;
    const { [id]: gone, ...others } = this.results;
    this.results = others;
    this.keeper.write(others, "results");
    this.fields.get(id).value = stubs(release)[id];
    this.write(id, stubs(release)[id]);
    this.draw(id);
    this.count();
    this.announce();
    this.fields.get(id).focus();
    this.stations.get(id).status.textContent =
      "That question is as it was given. Your answer can be brought back, at the end of the page.";
  }

  startOver() {
    this.replace(release);
    this.status.textContent = "This is the exercise as it was given. Your answers are not lost.";
  }

  bringBack() {
    this.replace(merge(this.keeper.read("before"), release).notebook);
    this.status.textContent = "Your answers are back.";
  }

  /** Show another notebook; the last one that somebody wrote in can be brought back. */
  replace(notebook) {
    if (!untouched(this.notebook, release)) this.keeper.write(this.notebook, "before");
    this.undo.hidden = !this.keeper.read("before");
    this.results = {};
    this.keeper.write({}, "results");
    this.show(notebook);
    this.keep();
  }
}

new Exercise();
