// Quizzes work as plain HTML: each choice opens its explanation. This has it read out
// by screen readers, and adds a verdict, a count, a way to start over, and a memory in
// this browser. A prediction covers the output that it asks for until there is a choice;
// a question whose first choice was wrong is asked again in later chapters.

import { button, make } from "./elements.js";
import { miss, missed, nameOf, note, settle } from "./progress.js";

/** Bring a question to life; first(right): what comes of its first choice. */
export function enhance(quiz, open, { changed = () => {}, first = () => {} }) {
  const choices = [...quiz.querySelectorAll(":scope > details")];
  const verdict = make("span", { role: "status" });
  const again = button("Start over", () => {
    choices.forEach((choice) => (choice.open = false));
    choices[0].querySelector("summary").focus();
  });
  again.hidden = true;
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
  update();
  quiz.setAttribute("aria-live", "polite"); // an explanation that opens is read out
}

const all = [...document.querySelectorAll(".quiz")];
const quizzes = all.filter((quiz) => !quiz.matches(".predict"));
const page = nameOf(location.href);
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
  const found = quizzes.filter((quiz) => quiz.querySelector(":scope > details.correct[open]"));
  if (page && quizzes.some((quiz) => recall(quiz).length)) note(page, found.length, quizzes.length);
}

const remember = (quiz, open) => {
  try {
    if (open.length) localStorage.setItem(stored(quiz), JSON.stringify(open));
    else localStorage.removeItem(stored(quiz));
  } catch {
    // private windows may have no storage: the quiz works without
  }
};

/** Cover the output of the next cell that has one; the way to uncover it. */
function cover(quiz) {
  let next = quiz.nextElementSibling;
  while (next && !next.querySelector(":scope > .cell_output")) next = next.nextElementSibling;
  const output = next?.querySelector(":scope > .cell_output");
  if (!output) return () => {};
  const uncover = () => {
    output.classList.remove("covered");
    show.remove();
  };
  const show = button("Predict above, or show the output", uncover);
  output.classList.add("covered");
  output.append(show);
  return uncover;
}

for (const quiz of all) {
  const open = recall(quiz);
  const predicts = quiz.matches(".predict");
  const uncover = predicts && !open.length ? cover(quiz) : () => {};
  const first = predicts ? uncover : (right) => page && (right ? settle(quiz.id) : miss(quiz.id, page));
  const changed = (open) => {
    remember(quiz, open);
    count();
  };
  enhance(quiz, open, { changed, first });
}

// ---- what was missed before

const SHOWN = 2; // questions at the head of a chapter
const CHAPTER = /^quiz:(\d\d-[\w-]+)$/;

/** What was missed and is due: [id, chapter], of earlier ones, or [id, a question about code]. */
function due() {
  const here = page?.match(CHAPTER)?.[1];
  const today = new Date().toDateString();
  const found = Object.entries(missed()).map(([id, where]) => [id, where?.asked ? where : String(where).match(CHAPTER)?.[1]]);
  const later = (where) => (where?.asked ? where.day !== today : where && where < here);
  return found.filter(([, where]) => here && later(where)).slice(0, SHOWN);
}

const titleOf = (chapter) =>
  chapter.asked
    ? `your own ${chapter.asked.name}`
    : ([...document.querySelectorAll(".bd-sidenav a")].find((link) => nameOf(link.href) === `quiz:${chapter}`)?.textContent.trim() ??
      chapter);

/** A question of another page, to be asked here; null where it is not there any more. */
async function fetched(id, chapter) {
  if (chapter.asked) return (await import("./own-code.js")).quizOf(id, chapter.asked, true);
  const answer = await fetch(`${chapter}.html`);
  if (!answer.ok) throw new Error(answer.status);
  const text = new DOMParser().parseFromString(await answer.text(), "text/html");
  const found = text.getElementById(id);
  if (!found?.matches(".quiz")) return settle(id);
  const quiz = document.importNode(found, true);
  quiz.removeAttribute("id"); // its memory is its own page's
  enhance(quiz, [], { first: (right) => (right ? settle(id) : miss(id, `quiz:${chapter}`)) });
  return quiz;
}

/** A fold at the head of the page; its questions are fetched when it is opened. */
function askAgain() {
  const questions = due();
  if (!questions.length) return;
  const chapters = [...new Set(questions.map(([, chapter]) => titleOf(chapter)))].join(" and ");
  const what = questions.length === 1 ? "a question" : `${questions.length} questions`;
  const summary = make("summary", { textContent: `Before you begin: ${what} that you missed in ${chapters}` });
  const fold = make("details", { className: "quiz-again" }, summary);
  const ask = async () => {
    try {
      const found = await Promise.all(questions.map((each) => fetched(...each)));
      fold.append(...found.filter(Boolean));
    } catch {
      fold.append(make("p", { textContent: "They could not be loaded just now." }));
    }
  };
  fold.addEventListener("toggle", ask, { once: true });
  document.querySelector(".bd-article h1")?.after(fold);
}

askAgain();
