// The page "Where was I?": the last place, what is done, and a file to take along.
import { gathered } from "./answers.js";
import { button, make } from "./elements.js";
import { answered, answersTo, bring, nameOf, place, recall, stateOf, taken } from "./progress.js";
import { dayOf, line, picture } from "./proof.js";

const WORDS = { none: "not begun", some: "begun", all: "done" };
const day = (at) => new Date(at).toLocaleString("en", { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });
const home = document.getElementById("my-progress");

function last() {
  const found = place();
  if (!found) return make("p", { textContent: "This browser remembers no page of the course yet." });
  const link = make("a", {
    href: found.href,
    textContent: found.words ? `${found.title}: ${found.words}` : found.title,
  });
  return make("p", { className: "where-last" }, "You were at ", link, `, ${day(found.at)}.`);
}

function table() {
  const all = recall();
  const seen = new Set();
  const columns = Object.keys(all).length ? 4 : 2; // nothing found yet: no empty columns
  const rows = [...document.querySelectorAll(".bd-sidenav a")].flatMap((link) => {
    const name = nameOf(link.href);
    if (!name || seen.has(name)) return [];
    seen.add(name);
    const noted = all[name];
    const state = stateOf(noted);
    const cells = [
      make("a", { href: link.href, textContent: link.textContent.trim() }),
      make("span", {}, { none: "○", some: "◐", all: "●" }[state], make("span", { className: "where-state", textContent: ` ${WORDS[state]}` })),
      noted ? `${noted.done} of ${noted.of}` : "",
      noted ? day(noted.at) : "",
    ];
    return [make("tr", {}, ...cells.slice(0, columns).map((cell) => make("td", {}, cell)))];
  });
  const head = ["", "state", "found", "last"].slice(0, columns).map((words) => make("th", { scope: "col", textContent: words }));
  head[0].textContent = "page";
  return make(
    "div",
    { className: "where-table", tabIndex: 0, role: "region", ariaLabel: "What is done" },
    make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)),
  );
}

const status = make("p", { className: "where-status", role: "status" });

function save(text, type, download) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download });
  link.click();
  URL.revokeObjectURL(link.href);
}

function take() {
  save(JSON.stringify(taken(), null, 1), "application/json", "paying-attention-progress.json");
  status.textContent = "The file is in your downloads. Open this page in another browser and bring it in.";
}

async function open(picker) {
  const [file] = picker.files;
  picker.value = "";
  if (!file) return;
  try {
    const count = bring(JSON.parse(await file.text()));
    status.textContent = `${file.name} is in: ${count} kept answers and results.`;
  } catch (error) {
    status.textContent = `${file.name} was not taken. ${
      error instanceof SyntaxError ? "This file is not progress of this course." : error.message
    }`;
  }
  draw();
}

/** What is solved, to show elsewhere, and all answers in one file. */
function proof() {
  const noted = Object.entries(recall()).filter(([name, { done }]) => name.startsWith("exercise:") && done);
  const titles = Object.fromEntries(
    [...document.querySelectorAll(".bd-sidenav a")].map((link) => [nameOf(link.href), link.textContent.trim()]),
  );
  const rows = noted.sort(([a], [b]) => a.localeCompare(b)).map(([name, all]) => ({ ...all, title: titles[name] ?? name }));
  const names = answered();
  const file = button("All my answers in a notebook", () => {
    const all = gathered(names.map((name) => [name, answersTo(name)]));
    save(`${JSON.stringify(all, null, 1)}\n`, "application/x-ipynb+json", "my-answers.ipynb");
  });
  const row = make("div", { className: "exercise-row" }, ...(names.length ? [file] : []));
  if (!rows.length) return ["Nothing is solved in this browser yet.", row];
  const day = dayOf(Math.max(...rows.map(({ at }) => at)));
  const drawn = picture(rows, day);
  const field = make("textarea", {
    value: line(rows, new URL("index.html", location).href, day),
    rows: 3,
    readOnly: true,
    ariaLabel: "The same as a line of Markdown",
  });
  field.addEventListener("focus", () => field.select());
  const copy = () => {
    field.focus();
    document.execCommand("copy"); // where a page has no address of its own as well
  };
  row.prepend(
    button("Download the picture", () => save(drawn, "image/svg+xml", "paying-attention.svg")),
    button("Copy the line", copy),
  );
  const alt = new DOMParser().parseFromString(drawn, "image/svg+xml").querySelector("title").textContent;
  return [make("img", { src: `data:image/svg+xml,${encodeURIComponent(drawn)}`, alt }), field, row];
}

function tools() {
  const picker = make("input", { type: "file", accept: ".json", hidden: true });
  picker.addEventListener("change", () => open(picker));
  return make(
    "div",
    { className: "exercise-row" },
    button("Take my progress along", take),
    button("Bring progress in", () => picker.click()),
    picker,
  );
}

const shown = make("div");
const owned = document.getElementById("my-proof");
const draw = () => {
  shown.replaceChildren(last(), table());
  owned.replaceChildren(...proof());
};
draw();
addEventListener("storage", draw);
home.replaceChildren(shown, tools(), status);
