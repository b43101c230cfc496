// On every page: a mark beside each chapter and exercise, a memory of the place, and
// the buttons that run cells of chapters.
import { changedCells, keepPlace, nameOf, recall, stateOf } from "./progress.js";

function mark() {
  const all = recall();
  // other pages than the index have lists as well, whose lines marks would move
  const index = /\/(index\.html)?$/.test(location.pathname) ? ", .bd-article dl a" : "";
  for (const link of document.querySelectorAll(`.bd-sidenav a${index}`)) {
    const name = nameOf(link.href);
    if (name) link.dataset.progress = stateOf(all[name]);
  }
}

/** What a heading says, without the sign of its link. */
function wordsOf(heading) {
  const copy = heading?.cloneNode(true);
  copy?.querySelector(".headerlink")?.remove();
  return copy?.textContent.trim() ?? "";
}

/** Keep the page, and the last heading above the middle of the screen. */
function leave() {
  if (!nameOf(location.href)) return;
  const headings = [...document.querySelectorAll(".bd-article :is(h2, h3)")];
  const seen = headings.filter((each) => each.getClientRects().length); // of puzzles only one is
  const above = seen.filter((each) => each.getBoundingClientRect().top < innerHeight / 2).at(-1);
  keepPlace({
    path: location.pathname,
    title: wordsOf(document.querySelector(".bd-article h1")),
    id: above?.closest("section")?.id ?? "",
    words: wordsOf(above),
    at: Date.now(),
  });
}

// what runs a cell is loaded at the first press, or where cells were changed before
if (document.querySelector(".cell-bar") && Object.keys(changedCells()).length) import("./chapter.js");
document.addEventListener("click", async ({ target }) => {
  const press = target.closest?.(".cell-bar [data-does]");
  if (press) (await import("./chapter.js")).pressed(press.closest(".cell-bar"), press.dataset.does);
});

// on a phone, a tap shows a figure as large as it was drawn
document.addEventListener("click", ({ target }) => {
  if (target.matches?.(".cell_output img")) target.closest(".cell_output").classList.toggle("large");
});

mark();
addEventListener("progress", mark);
addEventListener("storage", mark);
addEventListener("pagehide", leave);
document.addEventListener("visibilitychange", () => document.hidden && leave());
