// Attention puzzles: an exercise page, one question to a screen, with a board of all.
// The board is plain links; exercise.js says which questions hold.

const board = document.querySelector(".puzzle-board");
const links = [...board.querySelectorAll("a")];
const names = links.map((link) => link.hash.slice(1));
const sections = names.map((name) => document.getElementById(name).closest("section"));
const count = board.querySelector(".puzzle-count");
// a wrong function a day: the same for all who have the same date
const wrong = names.filter((name) => /^(break|spot)_/.test(name));
const days = () => Math.floor(Date.now() / 864e5 - new Date().getTimezoneOffset() / 1440);
const TODAY = "#today";
let held = [];
let shown = -1;

/** Show one puzzle; the others wait. */
function show(number) {
  shown = number;
  sections.forEach((section, each) => section.classList.toggle("puzzle-on", each === number));
  links.forEach((link, each) => {
    if (each === number) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });
}

/** The puzzle that an address names: by its own name, or by anything inside it. */
function named(hash) {
  if (hash === TODAY) return names.indexOf(wrong[(days() * 5) % wrong.length]);
  const place = hash && document.getElementById(decodeURIComponent(hash.slice(1)));
  return place ? sections.findIndex((section) => section.contains(place)) : -1;
}

function follow() {
  const number = named(location.hash);
  if (number < 0 || number === shown) return;
  show(number);
  const heading = sections[number].querySelector("h2");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  board.scrollIntoView();
}

function tell() {
  links.forEach((link, number) => {
    const done = held.includes(names[number]);
    link.classList.toggle("done", done);
    link.setAttribute("aria-label", `${number + 1}, ${names[number]}${done ? ", solved" : ""}`);
  });
  count.textContent = `${held.length} of ${names.length} solved in this browser. `;
  count.append(keys);
}

document.addEventListener("exercise-held", ({ detail }) => {
  held = detail;
  tell();
});
addEventListener("hashchange", follow);
addEventListener("keydown", (event) => {
  const step = { n: 1, p: -1 }[event.key];
  // only where one is at a puzzle: single keys may be typed, or spoken, for something else
  if (!event.target.closest?.(".puzzle-board, .puzzle-on h2") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "e") {
    event.preventDefault(); // it is no letter of the code
    sections[shown].querySelector(".code-editor").editor.focus();
  }
  if (step) location.hash = names[(shown + step + names.length) % names.length];
});
const keys = Object.assign(document.createElement("span"), {
  className: "puzzle-keys", // where there are keys
  textContent: "Keys, with the focus on the board: n next, p previous, e to the code; Escape, then Tab leaves it.",
});
tell();
show(Math.max(0, named(location.hash)));
