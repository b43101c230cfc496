// A heat map that is a table: each cell has its number, each row can be read out.

/** Entropy of one row of weights, in nats; a key without weight adds nothing. */
export const entropy = (row) =>
  -row.reduce((sum, w) => (w > 0 ? sum + w * Math.log(w) : sum), 0);

/** "it": animal 0.91, the 0.04, was 0.02. Entropy 0.43 of at most 2.48 nats. */
export function describe(tokens, row, query) {
  const best = row.map((w, key) => [w, key]).sort((a, b) => b[0] - a[0]).slice(0, 3);
  const shown = best.map(([w, key]) => `${tokens[key]} ${w.toFixed(2)}`).join(", ");
  const most = Math.log(row.length).toFixed(2);
  const seen = Math.max(0, entropy(row)).toFixed(2); // never "-0.00"
  return `Row “${tokens[query]}”: ${shown}. Entropy ${seen} of at most ${most} nats.`;
}

/** Resolves when a reader comes near the element: only then is its data loaded. */
export const near = (element) =>
  new Promise((resolve) => {
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      resolve();
    }, { rootMargin: "400px" });
    watch.observe(element);
  });

const make = (tag, properties = {}) =>
  Object.assign(document.createElement(tag), properties);

/** Shows weights, an array of rows: one per query, each with one weight per key. */
export class WeightsTable {
  constructor(caption) {
    this.table = make("table");
    this.table.append(make("caption", { textContent: caption }));
    this.box = make("div", { className: "weights-table", tabIndex: 0 });
    this.box.setAttribute("role", "region");
    this.box.setAttribute("aria-label", caption);
    this.box.append(this.table);
    this.readout = make("p", { className: "weights-readout" });
    this.readout.setAttribute("role", "status");
    this.tokens = [];
    this.row = 0;
    // one stop for the Tab key; arrows move between the rows
    this.table.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || event.target.tagName !== "BUTTON") return;
      event.preventDefault();
      const n = this.tokens.length;
      this.choose((this.row + step + n) % n);
      this.buttons[this.row].focus();
    });
  }

  set caption(text) {
    this.table.caption.textContent = text;
  }

  get elements() {
    return [this.box, this.readout];
  }

  /** Draw weights; row: the query to read out when the tokens are new. */
  update(tokens, weights, row = 0) {
    this.weights = weights;
    if (tokens.join(" ") !== this.tokens.join(" ")) {
      this.tokens = tokens;
      this.row = row;
      this.build();
    }
    this.cells.forEach((cells, query) =>
      cells.forEach((cell, key) => {
        const weight = weights[query][key];
        cell.textContent = weight < 0.005 ? "·" : weight.toFixed(2); // the pattern is seen
        cell.classList.toggle("faint", weight < 0.005);
        cell.style.setProperty("--weight", weight.toFixed(3));
      }),
    );
    this.choose(this.row);
  }

  build() {
    const head = make("tr");
    head.append(make("td", { textContent: "query ↓ key →" }));
    for (const token of this.tokens)
      head.append(make("th", { textContent: token, scope: "col" }));
    const thead = make("thead");
    thead.append(head);
    const tbody = make("tbody");
    this.buttons = [];
    this.cells = this.tokens.map((token, query) => {
      const line = make("tr");
      const name = make("th", { scope: "row" });
      const button = make("button", { type: "button", textContent: token });
      for (const sign of ["click", "focus"])
        button.addEventListener(sign, () => this.choose(query));
      line.addEventListener("pointerenter", () => this.choose(query));
      name.append(button);
      const cells = this.tokens.map(() => make("td"));
      line.append(name, ...cells);
      tbody.append(line);
      this.buttons.push(button);
      return cells;
    });
    this.table.replaceChildren(this.table.caption, thead, tbody);
  }

  choose(query) {
    this.row = query;
    this.buttons.forEach((button, index) => {
      button.tabIndex = index === query ? 0 : -1;
      button.ariaPressed = String(index === query);
    });
    const words = describe(this.tokens, this.weights[query], query);
    if (this.readout.textContent !== words) this.readout.textContent = words;
  }
}
