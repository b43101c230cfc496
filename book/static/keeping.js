// Keeps the work on one exercise in this browser. One tab writes; another that is open
// at the same time shows what the first one writes, until it is asked to take over.

export class Keeper {
  /** changed(): another tab has written. writing(yes): whether this tab may. */
  constructor(key, { changed, writing }) {
    this.key = key;
    this.changed = changed;
    this.told = writing;
    this.writing = true;
    addEventListener("storage", (event) => {
      if (event.key !== key && event.key !== `${key}:results`) return;
      if (!navigator.locks) this.turn(false); // without locks, whoever writes has it
      if (!this.writing) changed();
    });
    if (navigator.locks) this.ask({ ifAvailable: true });
  }

  /** What is kept: the work itself, or a part beside it. */
  read(part = "") {
    try {
      return JSON.parse(localStorage.getItem(this.name(part)));
    } catch {
      return null;
    }
  }

  /** Keep what is there now; false when this browser keeps nothing. */
  write(state, part = "") {
    if (!this.writing) return true;
    try {
      localStorage.setItem(this.name(part), JSON.stringify(state));
      return true;
    } catch {
      return false;
    }
  }

  name(part) {
    return part ? `${this.key}:${part}` : this.key;
  }

  /** Work in this tab: the other one shows from now on what is written here. */
  takeOver() {
    if (navigator.locks) this.ask({ steal: true });
    else this.turn(true);
  }

  ask(options) {
    const hold = (lock) => {
      if (!lock) {
        this.turn(false);
        this.ask({}); // when the other tab is closed
        return undefined;
      }
      this.turn(true);
      return new Promise(() => {});
    };
    navigator.locks.request(this.key, options, hold).catch(() => {
      this.turn(false); // another tab has taken over
      // not at once: in a page that is left WebKit refuses each request, and it would hang
      setTimeout(() => this.ask({}), 100);
    });
  }

  turn(writing) {
    if (writing === this.writing) return;
    if (writing) this.changed();
    this.writing = writing;
    this.told(writing);
  }
}
