// A worker that loads a model when it is first asked, and answers one question at a
// time; of those that wait the last. It can be stopped while it loads or computes.

export class Hired {
  /** ``code`` is the worker's module, ``file`` its model; ``heard`` gets each answer. */
  constructor(code, file, heard) {
    this.code = new URL(code, import.meta.url);
    this.file = new URL(file, document.baseURI).href;
    this.heard = heard;
  }

  async ask(question) {
    this.next = question;
    const hired = (this.hired ??= this.hire());
    const worker = await hired;
    if (this.hired !== hired) return worker.terminate(); // stopped meanwhile
    this.worker = worker;
    this.go();
  }

  /** Let the worker go; the next question hires another. */
  stop() {
    this.worker?.terminate();
    this.worker = this.hired = this.next = undefined;
    this.busy = false;
  }

  /** What the worker is told of a question. */
  begin(question) {
    return question;
  }

  go() {
    if (this.busy || this.next === undefined || !this.worker) return;
    this.busy = true;
    this.worker.postMessage({ file: this.file, ...this.begin(this.next) });
    this.next = undefined;
  }

  /** What the worker says; ``here`` tells how much of the model has come. */
  answered(answer) {
    if (answer.here === undefined) this.busy = false;
    this.heard(answer);
    this.go();
  }

  /** Start the worker, after the site's own, which keeps the file for the next visit. */
  async hire() {
    const site = new URL("../service-worker.js", import.meta.url);
    const ready = navigator.serviceWorker
      ?.register(site)
      .then(() => navigator.serviceWorker.ready)
      .catch(() => {}); // private windows may refuse: then each visit loads it
    await Promise.race([ready, new Promise((done) => setTimeout(done, 500))]);
    const worker = new Worker(this.code, { type: "module" });
    worker.onmessage = ({ data }) => worker === this.worker && this.answered(data); // or stopped
    worker.onerror = (event) => {
      event.preventDefault();
      if (worker !== this.worker) return;
      this.stop();
      this.answered({ failed: "its worker could not be loaded" });
    };
    return worker;
  }
}
