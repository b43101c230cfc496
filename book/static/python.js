// Python for a page: one worker, loaded when a reader comes near, and ended by force
// when a cell never ends. A spare one takes its place.
import { button, make } from "./elements.js";

const SLOW = 8000; // milliseconds until what runs is said to be slow
const absolute = (address) => new URL(address, document.baseURI).href;

export class Python {
  /** files: the addresses of Pyodide (home), wheels, runner and the site's worker; and
      how many bytes are loaded before the first run. */
  constructor({ home, wheels, runner, cache, bytes }) {
    this.files = { home: absolute(home), wheels: wheels.split(" ").map(absolute), runner: absolute(runner) };
    this.cache = cache && absolute(cache);
    this.own = this.files.home.startsWith(location.origin);
    this.bytes = Number(bytes) || 0;
    this.heard = () => {};
  }

  /** Load early, if this costs no stranger's server and nobody saves data. */
  warm(packages) {
    if (this.own && !navigator.connection?.saveData) this.post({ packages });
  }

  /** Start a second one while a cell takes long: Stop then costs no start. */
  prepare(packages) {
    if (!this.own || this.spare || (navigator.deviceMemory ?? 8) < 4) return;
    this.spare = this.hire();
    this.spare.postMessage({ packages, files: this.files });
  }

  /** Run a job; heard({state | loaded | failed | outcomes}) hears how it goes. */
  run(job, packages, heard) {
    this.heard = heard;
    heard(this.worker?.ready ? { state: "running" } : { state: "loading", part: "Python" });
    this.post({ packages, job });
  }

  post(message) {
    this.worker ??= this.hire();
    this.worker.postMessage({ ...message, files: this.files });
  }

  /** From the second visit on, Python comes from this browser, also without a network. */
  async keep(loaded) {
    if (!this.own || !this.cache || !navigator.serviceWorker) return;
    try {
      await navigator.serviceWorker.register(this.cache);
      const { active } = await navigator.serviceWorker.ready;
      const seen = performance.getEntriesByType("resource").map(({ name }) => name);
      active.postMessage({ keep: [location.href.split("#")[0], ...seen, ...loaded] });
    } catch {
      // private windows may refuse: then each visit loads Python again
    }
  }

  hire() {
    const address = new URL("exercise-worker.js", import.meta.url);
    const worker = new Worker(address, { type: "module" });
    worker.onmessage = ({ data }) => {
      if (data.state === "ready") {
        worker.ready = true;
        this.kept ??= this.keep(data.fetched);
      }
      if (worker !== this.worker) return;
      this.heard(data.loaded && this.bytes ? { loaded: Math.min(1, data.loaded / this.bytes) } : data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      if (worker !== this.worker) return (this.spare = undefined);
      this.end();
      this.heard({ failed: "its worker could not be loaded" });
    };
    return worker;
  }

  /** End what runs; says whether the spare one is ready to go on. */
  end() {
    this.worker?.terminate();
    [this.worker, this.spare] = [this.spare, undefined];
    return Boolean(this.worker?.ready);
  }
}

/** One run at a time, told beside the button that was pressed, and ended by Stop. */
export class Runs {
  /** enable(yes): the buttons of the page, none of which starts anything meanwhile. */
  constructor(python, enable, stopped = "Stopped.") {
    Object.assign(this, { python, enable, stopped });
    this.bar = make("progress", { ariaLabel: "Loading Python" });
    this.stopper = button("Stop", () => this.stop());
  }

  /** place: {row, status, press}; heard({outcomes | failed}): what came of it. */
  run(place, job, packages, heard) {
    this.place = place;
    const { row, press } = place;
    const focused = document.activeElement === press;
    this.enable(false);
    press.after(this.stopper);
    if (focused) this.stopper.focus(); // a disabled button would drop the focus
    row.classList.add("busy");
    this.python.run(job, packages, (news) => {
      if (this.place !== place) return;
      this.tell(news, packages);
      if (news.failed || news.outcomes) heard(news);
    });
  }

  tell({ state, part, loaded }, packages) {
    const { row, status } = this.place;
    if (loaded && this.bar.parentNode !== row) status.before(this.bar);
    if (loaded) this.bar.value = loaded;
    if (state === "loading") status.textContent = `Loading ${part} …`;
    if (state !== "running") return;
    this.bar.remove();
    status.textContent = "Running …";
    clearTimeout(this.slow); // a worker that is ready says this twice
    this.slow = setTimeout(() => {
      status.textContent = "Still running. If it never ends, press Stop.";
      this.python.prepare(packages);
    }, SLOW);
  }

  stop() {
    const ready = this.python.end();
    this.finish(`${this.stopped}${ready ? "" : " The next run starts Python again."}`);
  }

  finish(words) {
    if (!this.place) return; // it was stopped meanwhile
    const { row, status, press } = this.place;
    clearTimeout(this.slow);
    status.textContent = words;
    this.bar.remove();
    row.classList.remove("busy");
    const focused = document.activeElement === this.stopper;
    this.stopper.remove();
    this.place = undefined;
    this.enable(true);
    if (focused) press.focus();
  }
}
