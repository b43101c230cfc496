// Quizzes work as plain HTML: each choice opens its explanation. This has it read out
// by screen readers, and adds a verdict, a count, a way to start over, and a memory in this browser.

import { nameOf, note } from "./progress.js";

const quizzes = [...document.querySelectorAll(".quiz")];
const stored = (quiz) => `quiz:${quiz.id}`;

const recall = (quiz) => {
  try {
    return JSON.parse(localStorage.getItem(stored(quiz))) ?? [];
  } catch {
    return []; // storage is off, or holds something else
  }
};

/** How many questions of this page are answered, once one is. */
function count() {
  const name = nameOf(location.href);
  const found = quizzes.filter((quiz) => quiz.querySelector(":scope > details.correct[open]"));
  if (name && quizzes.some((quiz) => recall(quiz).length)) note(name, found.length, quizzes.length);
}

const remember = (quiz, open) => {
  try {
    if (open.length) localStorage.setItem(stored(quiz), JSON.stringify(open));
    else localStorage.removeItem(stored(quiz));
  } catch {
    // private windows may have no storage: the quiz works without
  }
};

function enhance(quiz) {
  const choices = [...quiz.querySelectorAll(":scope > details")];
  const foot = document.createElement("div");
  foot.className = "quiz-foot";
  foot.innerHTML = '<span role="status"></span><button type="button" hidden>Start over</button>';
  const [verdict, again] = foot.children;
  quiz.append(foot);

  const update = () => {
    const open = choices.flatMap((choice, index) => (choice.open ? [index] : []));
    const found = choices.some((choice) => choice.open && choice.matches(".correct"));
    const tries = open.length === 1 ? "1 try" : `${open.length} tries`;
    verdict.textContent = open.length ? (found ? `Found in ${tries}.` : "Not yet.") : "";
    again.hidden = open.length === 0;
    remember(quiz, open);
    count();
  };

  const open = recall(quiz);
  choices.forEach((choice, index) => {
    choice.open = Array.isArray(open) && open.includes(index);
    choice.addEventListener("toggle", update);
  });
  again.addEventListener("click", () => {
    choices.forEach((choice) => (choice.open = false));
    choices[0].querySelector("summary").focus();
  });
  update();
  quiz.setAttribute("aria-live", "polite"); // an explanation that opens is read out
}

quizzes.forEach(enhance);
