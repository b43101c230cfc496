// Progress without an account: what was done is kept in this browser, and can be taken
// along in a file.

const KEY = "progress";
const MISSED = "missed";
// what can be undone stays in this browser
const OURS = /^(progress|place|missed|quiz:|exercise:(?!.*:undo$)|cells:)/;

const read = (key) => {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null; // storage is off, or holds something else
  }
};
const keys = () => {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
};
const write = (key, value) => {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // this browser keeps nothing
  }
};

/** By name, such as quiz:02-scaling: {done, of, which, at}. */
export const recall = () => read(KEY) ?? {};

/** Remember that so many of so many parts of something are done; which: "101" of three. */
export function note(what, done, of, which) {
  const all = recall();
  const before = all[what];
  if (before?.done === done && before.of === of && before.which === which) return;
  write(KEY, { ...all, [what]: { done, of, which, at: Date.now() } });
  dispatchEvent(new Event(KEY));
}

/** What a page of the book counts as, or null: chapters by quiz, exercises by check. */
export function nameOf(address) {
  const { pathname } = new URL(address, document.baseURI);
  if (pathname.endsWith("/book/puzzles.html")) return "exercise:00-puzzles";
  const found = pathname.match(/\/(solve\/)?(\d\d-[\w-]+)\.html$/);
  return found && `${found[1] ? "exercise" : "quiz"}:${found[2]}`;
}

/** ○ not begun, ◐ begun, ● all of it. */
export const stateOf = (noted) =>
  !noted ? "none" : noted.of && noted.done >= noted.of ? "all" : "some";

// ---- questions to ask again: by id, the page on which the first choice was wrong

export const missed = () => read(MISSED) ?? {};
export const miss = (id, where) => write(MISSED, { ...missed(), [id]: where });
export function settle(id) {
  const { [id]: was, ...others } = missed();
  if (was) write(MISSED, others);
}

// ---- where one was

/** The page and the heading that one reads. */
export const keepPlace = (place) => write("place", place);
export const place = () => read("place");

// ---- answers to exercises, as their pages keep them

/** {notebook, given} of an assignment: somebody's answers, and what stood in their place. */
export function answersTo(assignment) {
  const kept = read(`exercise:${assignment}`);
  return kept?.cells ? { notebook: kept } : kept; // as kept by earlier versions
}

/** The assignments of which this browser keeps answers. */
export const answered = () =>
  keys()
    .map((key) => key.match(/^exercise:([\w-]+)$/)?.[1])
    .filter((name) => name && Array.isArray(answersTo(name)?.notebook?.cells))
    .sort();
export const resultsOf = (assignment) => read(`exercise:${assignment}:results`) ?? {};

// ---- cells of chapters that somebody changed: by page, the code as given -> as changed

const cells = () => `cells:${location.pathname.split("/").at(-1)}`;
export const changedCells = () => read(cells()) ?? {};

/** Keep what a cell was changed to; code that is as given is forgotten. */
export function keepCell(given, code) {
  const { [given]: was, ...others } = changedCells();
  write(cells(), code === given ? others : { ...others, [given]: code });
}

// ---- a file to take along

export function taken() {
  const ours = keys().filter((key) => OURS.test(key));
  return { course: "paying-attention", kept: Object.fromEntries(ours.map((key) => [key, localStorage.getItem(key)])) };
}

/** Bring in what was taken; answers that stood here can be brought back. Says how much. */
export function bring(file) {
  const { course, kept } = file ?? {};
  if (course !== "paying-attention" || typeof kept !== "object" || kept === null)
    throw new Error("This file is not progress of this course.");
  const all = Object.entries(kept).filter(([key, text]) => OURS.test(key) && typeof text === "string");
  const before = []; // goes in last, over what the file has to bring back
  for (const [key, text] of all) {
    const mine = localStorage.getItem(key);
    if (mine !== null && mine !== text && /^exercise:[\w-]+$/.test(key))
      before.push([`${key}:before`, JSON.stringify(JSON.parse(mine).notebook ?? JSON.parse(mine))]);
    const cells = key.startsWith("cells:") && { ...JSON.parse(text), ...read(key) }; // mine stay
    if (key !== KEY && key !== MISSED) localStorage.setItem(key, cells ? JSON.stringify(cells) : text);
  }
  for (const [key, text] of before) localStorage.setItem(key, text);
  if (kept[MISSED]) write(MISSED, { ...JSON.parse(kept[MISSED]), ...missed() });
  const later = ([name, one], other) => !other[name] || other[name].at < one.at;
  const mine = recall();
  const theirs = Object.entries(JSON.parse(kept[KEY] ?? "{}")).filter((each) => later(each, mine));
  write(KEY, { ...mine, ...Object.fromEntries(theirs) });
  dispatchEvent(new Event(KEY));
  return all.filter(([key]) => ![KEY, MISSED, "place"].includes(key)).length;
}
