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

const MOST = 1000; // parts of a page
const LAST = 8.64e15; // the last time of a Date
const counts = ({ done, of, which, at }) =>
  [done, of].every(Number.isInteger) && 0 <= done && done <= of && of <= MOST
  && typeof (which ?? "") === "string" && !(which?.length > MOST) && 0 <= at && at <= LAST;

/** By name, such as quiz:02-scaling: {done, of, which, at}. A file can have brought in anything. */
export const recall = () =>
  Object.fromEntries(Object.entries(read(KEY) ?? {}).filter(([, noted]) => counts(noted ?? {})));

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

/** The same, with its address; null where a file has brought in what is no page of this site. */
export function place() {
  const found = read("place");
  try {
    const { href } = new URL(found.path, location.href); // "/\\x" and "/\t/x" are other sites
    const ours = found.path.startsWith("/") && href.startsWith(new URL("/", location.href).href);
    return ours && { ...found, href: `${href}#${found.id}` };
  } catch {
    return null;
  }
}

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
  const texts = Object.entries(kept).filter(([key, text]) => OURS.test(key) && typeof text === "string");
  const theirs = Object.fromEntries(texts.map(([key, text]) => [key, JSON.parse(text)])); // all, or none is taken
  const mine = Object.fromEntries(texts.map(([key]) => [key, read(key)]));
  for (const [key, text] of texts) {
    const differs = mine[key] && localStorage.getItem(key) !== text && /^exercise:[\w-]+$/.test(key);
    if (differs) theirs[`${key}:before`] = mine[key].notebook ?? mine[key]; // over what the file has to bring back
    if (key.startsWith("cells:") || key === MISSED) theirs[key] = { ...theirs[key], ...mine[key] }; // mine stay
  }
  const later = ([name, one], all) => !all[name] || all[name].at < one?.at;
  const noted = recall();
  const news = Object.entries(theirs[KEY] ?? {}).filter((each) => later(each, noted));
  theirs[KEY] = { ...noted, ...Object.fromEntries(news) };
  // what can be brought back first: there may be no room for the rest
  const order = Object.entries(theirs).sort(([a], [b]) => b.endsWith(":before") - a.endsWith(":before"));
  for (const [key, value] of order) localStorage.setItem(key, JSON.stringify(value));
  dispatchEvent(new Event(KEY));
  return texts.filter(([key]) => ![KEY, MISSED, "place"].includes(key)).length;
}
