// What came of a check, for the eye: what was printed and drawn, a verdict, its age.

import { button, make } from "./elements.js";

const TOLD = /^(\s*(likely|seen|expected|in it):\s+)(.*)$/;
export const LINE = /^(\s*at:\s+)(\w+), line (\d+)$/m;
const READ = /^(\s*read:\s+)([\w-]+)#([\w-]+)$/;

const ROOM = 8; // lines that a phone shows at once

/** A message, with what is beyond a phone's screen to open; a piece of code is not cut. */
function folded(text, editors) {
  const lines = text.split("\n");
  let end = lines.length > ROOM + 2 ? ROOM : lines.length;
  while (lines[end]?.startsWith("      ")) end += 1;
  const rest = lines.slice(end);
  if (!rest.length) return [message(text, editors)];
  const summary = make("summary", { textContent: `${rest.length} more lines` });
  return [message(lines.slice(0, end).join("\n"), editors), make("details", {}, summary, message(rest.join("\n"), editors))];
}

/** A message: its likely cause is prose, code scrolls as a whole, places are links. */
function message(text, editors) {
  const place = make("pre");
  const book = document.getElementById("exercise-notebook")?.dataset.book ?? "../";
  let code = null; // the student's line and the carets under it
  text.split("\n").forEach((line, count) => {
    if (count) (code ?? place).append("\n");
    if (line.startsWith("      ")) {
      if (!code) place.append((code = make("span", { className: "code" })));
      return code.append(line);
    }
    code = null;
    const told = line.match(TOLD);
    if (told) {
      const className = `told ${told[2] === "likely" ? "likely" : ""}`;
      return place.append(told[1], make("span", { className, textContent: told[3] }));
    }
    const [, at, name, number] = line.match(LINE) ?? [];
    const editor = editors.get(name);
    if (editor?.goTo) {
      return place.append(at, button(`${name}, line ${number}`, () => editor.goTo(Number(number))));
    }
    const found = line.match(READ);
    if (!found) return place.append(line);
    const [, before, chapter, heading] = found;
    place.append(before, make("a", { href: `${book}${chapter}.html#${heading}`, textContent: `${chapter}#${heading}` }));
  });
  return place;
}

function picture(figure) {
  return make("img", { alt: "The figure that your code drew", src: `data:image/png;base64,${figure}` });
}

/** A wrong table beside the right one: how large a number is by color, what is wrong by a sign. */
function tables({ yours, expected, differ, note }) {
  const size = (text) => (text === "x" ? 1 : Math.abs(Number(text)) || 0);
  const largest = Math.max(...[...yours, ...expected].flat().map(size)) || 1;
  const table = (caption, rows, wrong) =>
    make(
      "table",
      {},
      make("caption", { textContent: caption }),
      make("tbody", {}, ...rows.map((row, i) => make("tr", {}, ...row.map((text, j) => cell(text, wrong?.[i][j]))))),
    );
  const cell = (text, wrong) => {
    const made = make("td", { className: wrong ? "differs" : "" }, text, ...(wrong ? [make("sup", {}, "≠")] : []));
    made.style.setProperty("--weight", size(text) / largest);
    return made;
  };
  const properties = { tabIndex: 0, role: "group", ariaLabel: "Your table beside the expected one" };
  const pair = make("div", properties, table("yours", yours, differ), table("expected", expected));
  return make("div", { className: "exercise-drawn" }, pair, make("p", {}, `≠ ${note}`));
}

/** A check was run, and nothing went wrong. */
export const holds = ({ outcomes }) =>
  outcomes.some(({ question }) => question) && outcomes.every(({ problem }) => !problem);

/** Of results that a browser keeps, those that can be told. A file can have brought in anything. */
export const intact = (kept) =>
  Object.fromEntries(
    Object.entries(kept ?? {}).filter(([, result]) => {
      try {
        panel(result, {}, new Map());
        return result.outcomes.every(({ problem }) => typeof (problem ?? "") === "string");
      } catch {
        return false;
      }
    }),
  );

/** The elements that tell a result: {outcomes, at}; next: where to go from here;
    editors: of the answers, by name. */
export function panel(result, next, editors) {
  const { outcomes } = result;
  const parts = [];
  const broken = outcomes.some((each) => each.problem && !each.question && !each.elsewhere);
  for (const { question, said, problem, drawing, figures, elsewhere } of outcomes) {
    if (question && problem && broken) continue; // its cause is told already
    const box = make("div", { className: `exercise-said ${problem ? "wrong" : question ? "right" : "plain"}` });
    const text = [elsewhere && "In another cell:", said.trimEnd(), problem].filter(Boolean).join("\n");
    if (text) box.append(...folded(text, editors));
    if (drawing) box.append(tables(drawing));
    box.append(...figures.map(picture));
    if (box.childNodes.length) parts.push(box);
  }
  if (holds(result)) {
    const { text, href } = next;
    parts.push(make("p", { className: "exercise-next" }, href ? make("a", { href, textContent: text }) : text));
  }
  if (!parts.length) parts.push(make("div", { className: "exercise-said plain" }, make("pre", { textContent: "Done; it printed nothing." })));
  return [...parts, make("p", { className: "exercise-age" })];
}

/** When a result was made, and whether the code is still the same. */
export function ageOf(at, stale) {
  const then = new Date(at);
  const today = then.toDateString() === new Date().toDateString();
  const format = today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" };
  const when = `Checked ${today ? "at" : "on"} ${then.toLocaleString("en", format)}`;
  return stale ? `${when}, before you changed the code.` : `${when}.`;
}
