// What a notebook of an exercise is made of: cells as the release gives them, and what
// somebody wrote. Nothing in here touches the page.

export const source = (cell) => [cell.source].flat().join("");
export const lines = (text) => text.match(/[^]*?\n|[^]+$/g) ?? [];
export const gradeId = (cell) => cell.metadata?.nbgrader?.grade_id;
const role = (cell) => cell.metadata?.nbgrader ?? {};
export const isAnswer = (cell) => Boolean(role(cell).solution);
export const isCheck = (cell) => Boolean(role(cell).grade) && cell.cell_type === "code";
const isAdded = (cell) => typeof cell === "object" && cell !== null && !gradeId(cell);

/** What the release gives in its answer cells, by id. */
export const stubs = (release) =>
  Object.fromEntries(release.cells.filter(isAnswer).map((cell) => [gradeId(cell), source(cell)]));

/** Why a file cannot be this exercise, or null. */
export function problemWith(notebook, release, assignment) {
  if (!Array.isArray(notebook?.cells)) return "This file is not a notebook.";
  const ids = new Set(notebook.cells.map((cell) => gradeId(cell ?? {})));
  const answers = release.cells.filter(isAnswer).map(gradeId);
  const missing = answers.filter((id) => !ids.has(id));
  if (missing.length === answers.length)
    return `This notebook is not ${assignment}: it has none of its answer cells.`;
  if (missing.length)
    return `This notebook lacks the cell ${missing[0]}. Take a fresh one and copy your answers.`;
  return null;
}

/** Whether nobody wrote anything into a notebook of this release. */
export const untouched = (notebook, release) =>
  JSON.stringify(stubs(notebook)) === JSON.stringify(stubs(release)) && !notebook.cells.some(isAdded);

/** Lines that somebody added to a given cell; "" where the cell was not only added to. */
function addedTo(given, found) {
  const at = found.indexOf(given.trim());
  if (at < 0 || found.trim() === given.trim()) return "";
  return (found.slice(0, at) + found.slice(at + given.trim().length)).trim();
}

/**
 * The release with the answers of another notebook.
 *
 * Answers and added cells are somebody's own and are kept; everything else is taken from
 * the release, which may have been corrected since. given: what stood in the answer cells
 * when the notebook was kept, so that an answer nobody wrote is not held against a new
 * text. Returns the notebook, and the ids of given cells that differ from the release's.
 */
export function merge(notebook, release, given = {}) {
  const found = new Map(notebook.cells.map((cell) => [gradeId(cell ?? {}), cell]));
  const differing = [];
  const added = new Map(); // id of the cell before -> cells of one's own
  let before = null;
  for (const cell of notebook.cells) {
    if (isAdded(cell)) added.set(before, [...(added.get(before) ?? []), cell]);
    else before = gradeId(cell) ?? before;
  }
  const known = new Set(release.cells.map(gradeId));
  const cells = [...(added.get(null) ?? [])];
  for (const cell of release.cells) {
    const id = gradeId(cell);
    const mine = found.get(id);
    if (mine && isAnswer(cell)) {
      const untouched = id in given && source(mine) === given[id];
      cells.push(untouched ? cell : { ...mine, metadata: cell.metadata, cell_type: cell.cell_type });
    } else {
      if (mine && source(mine).trim() !== source(cell).trim()) {
        const more = cell.cell_type === "code" ? addedTo(source(cell), source(mine)) : "";
        if (more) cells.push(ownCell(`${id}-added`, more));
        else differing.push(id);
      }
      cells.push(cell);
    }
    cells.push(...(added.get(id) ?? []));
  }
  // what stood behind a cell that the release no longer has
  for (const [id, own] of added) if (id !== null && !known.has(id)) cells.push(...own);
  return { notebook: { ...release, metadata: notebook.metadata ?? release.metadata, cells }, differing };
}

const ownCell = (id, text) => ({
  cell_type: "code",
  execution_count: null,
  id: id.replace(/[^\w-]/g, "-").slice(0, 64),
  metadata: {},
  outputs: [],
  source: lines(text),
});

/**
 * One notebook of many: pairs of assignment and what is kept of it. Questions that nobody
 * answered are left out, and so are the names that belong to each assignment's own file:
 * this one is for oneself, and for `autograder check`, which knows it by its first line.
 */
export function gathered(all) {
  const cells = all.flatMap(([assignment, { notebook, given = {} }]) => {
    const [title] = source(notebook.cells[0]).split("\n");
    const open = (cell) => isAnswer(cell) && source(cell) === given[gradeId(cell)];
    const parts = []; // of an answer, with its card before and its check behind it
    for (const cell of notebook.cells.slice(1)) {
      if (cell.cell_type === "markdown" && !isAnswer(cell)) parts.push([]);
      (parts.at(-1) ?? parts[parts.push([]) - 1]).push(cell);
    }
    const mine = parts.filter((part) => !part.some(open)).flat();
    return [{ cell_type: "markdown", source: [title] }, ...mine].map((cell, number) => ({
      ...cell,
      id: `${assignment}-${number}`,
      metadata: {},
    }));
  });
  const first = { cell_type: "markdown", id: "my-answers", metadata: {}, source: ["# My answers"] };
  const metadata = all[0][1].notebook.metadata;
  return { cells: [first, ...cells], metadata, nbformat: 4, nbformat_minor: 5 };
}

/** A short mark of what a result came from: all code above it that is run. */
export function markOf(code, last) {
  let mark = 2166136261;
  for (const cell of code.slice(0, last + 1).filter((cell, i) => !isCheck(cell) || i === last))
    for (const letter of `${source(cell)}\0`) mark = Math.imul(mark ^ letter.codePointAt(0), 16777619);
  return (mark >>> 0).toString(36);
}
