// Questions with choices: each choice opens its explanation. Those of the chapters are
// plain HTML; those about one's own code are made here, from what Python said of it.

import { miss, settle } from "./progress.js";

export const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

/** Bring a question to life; first(right): what comes of its first choice. */
export function enhance(quiz, open, { changed = () => {}, first = () => {} }) {
  const choices = [...quiz.querySelectorAll(":scope > details")];
  const verdict = make("span");
  verdict.setAttribute("role", "status");
  const again = make("button", { type: "button", textContent: "Start over", hidden: true });
  quiz.append(make("div", { className: "quiz-foot" }, verdict, again));
  let before = Array.isArray(open) ? open : [];

  const update = () => {
    const open = choices.flatMap((choice, index) => (choice.open ? [index] : []));
    const found = choices.some((choice) => choice.open && choice.matches(".correct"));
    const tries = open.length === 1 ? "1 try" : `${open.length} tries`;
    verdict.textContent = open.length ? (found ? `Found in ${tries}.` : "Not yet.") : "";
    again.hidden = open.length === 0;
    if (!before.length && open.length) first(found);
    before = open;
    changed(open);
  };

  choices.forEach((choice, index) => {
    choice.open = before.includes(index);
    choice.addEventListener("toggle", update);
  });
  again.addEventListener("click", () => {
    choices.forEach((choice) => (choice.open = false));
    choices[0].querySelector("summary").focus();
  });
  update();
  quiz.setAttribute("aria-live", "polite"); // an explanation that opens is read out
}

/** Text with code in backticks, and lines of code behind four spaces, as elements. */
function told(text) {
  return text.split("\n\n").map((block) => {
    if (block.startsWith("    ")) return make("pre", { textContent: block.replaceAll(/^ {4}/gm, "") });
    return make("p", {}, ...spans(block));
  });
}

const spans = (text) =>
  text.split("`").map((part, number) => (number % 2 ? make("code", { textContent: part }) : part));

/** A question about one's own code; where the first choice is wrong, it comes back another day.
 *  away: the code is not on this page, and is shown. */
export function quizOf(id, asked, away = false) {
  const choices = asked.choices.map((choice, number) => {
    const right = number === asked.key;
    const why = right ? told(asked.why) : [make("p", { textContent: "Your code does something else." })];
    return make("details", { className: right ? "correct" : "" }, make("summary", {}, ...spans(choice)), ...why);
  });
  const code = away ? [make("pre", { textContent: asked.code })] : [];
  const quiz = make("div", { className: "quiz own-code" }, ...code, ...told(asked.text), ...choices);
  const day = new Date().toDateString();
  enhance(quiz, [], { first: (right) => (right ? settle(id) : miss(id, { asked, day })) });
  return quiz;
}
