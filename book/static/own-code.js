// Questions about one's own code, made of what Python said of it.

import { make } from "./elements.js";
import { miss, settle } from "./progress.js";
import { enhance } from "./quiz.js";

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
    const why = right ? told(asked.why) : [make("p", { textContent: "Running the code gives something else." })];
    return make("details", { className: right ? "correct" : "" }, make("summary", {}, ...spans(choice)), ...why);
  });
  const code = away ? [make("pre", { textContent: asked.code })] : [];
  const quiz = make("div", { className: "quiz own-code" }, ...code, ...told(asked.text), ...choices);
  const day = new Date().toDateString();
  enhance(quiz, [], { first: (right) => (right ? settle(id) : miss(id, { asked, day })) });
  return quiz;
}
