// Progress without an account: what was solved is kept in this browser.

const KEY = "progress";

export function recall() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

/** Remember that so many of so many parts of something are done. */
export function note(what, done, of) {
  try {
    const all = recall();
    all[what] = { done, of, at: Date.now() };
    localStorage.setItem(KEY, JSON.stringify(all));
    dispatchEvent(new Event("progress"));
  } catch {
    // this browser keeps nothing
  }
}
