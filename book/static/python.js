// Python for a page: one worker, loaded when a reader comes near, and ended by force
// when a cell never ends.

const PATIENCE = 500; // milliseconds that the start waits for the service worker
const absolute = (address) => new URL(address, document.baseURI).href;

export class Python {
  /** files: the addresses of Pyodide (home), wheel, runner and the site's worker. */
  constructor({ home, wheel, runner, cache }) {
    this.files = { home: absolute(home), wheel: absolute(wheel), runner: absolute(runner) };
    this.cache = cache && absolute(cache);
    this.own = this.files.home.startsWith(location.origin);
    this.ready = false;
    this.heard = () => {};
  }

  /** Load early, if this costs no stranger's server and nobody saves data. */
  warm(packages) {
    if (this.own && !navigator.connection?.saveData) this.post({ packages });
  }

  /** Run a job; heard({state | failed | outcomes}) is told how it goes. */
  run(job, packages, heard) {
    this.heard = heard;
    heard(this.ready ? { state: "running" } : { state: "loading", part: "Python" });
    this.post({ packages, job });
  }

  async post(message) {
    await (this.kept ??= this.keep());
    this.worker ??= this.hire();
    this.worker.postMessage({ ...message, files: this.files });
  }

  /** From the second visit on, Python comes from this browser, also without a network. */
  async keep() {
    if (!this.own || !this.cache || !navigator.serviceWorker) return;
    const soon = new Promise((resolve) => setTimeout(resolve, PATIENCE));
    await Promise.race([this.register(), soon]);
  }

  async register() {
    try {
      await navigator.serviceWorker.register(this.cache);
      const { active } = await navigator.serviceWorker.ready;
      const seen = performance.getEntriesByType("resource").map(({ name }) => name);
      active.postMessage({ keep: [location.href.split("#")[0], ...seen] });
    } catch {
      // private windows may refuse: then Python is loaded anew
    }
  }

  hire() {
    const address = new URL("exercise-worker.js", import.meta.url);
    const worker = new Worker(address, { type: "module" });
    worker.onmessage = ({ data }) => {
      if (data.parts) this.parts = data.parts;
      if (data.state === "running") this.ready = true;
      this.heard(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.end();
      this.heard({ failed: "its worker could not be loaded" });
    };
    return worker;
  }

  end() {
    this.worker?.terminate();
    this.worker = undefined;
    this.ready = false;
  }
}
