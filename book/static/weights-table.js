// A heat map that is a table: each cell has its number, each row can be read out.
import { button, lines, make, say } from "./elements.js";

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

/** What an element shows is in the address, so that a link leads to the same picture. */
export class Address {
  constructor(element) {
    this.place = () => element.closest("section[id]")?.id;
    this.values = {};
  }

  get(name) {
    return new URLSearchParams(location.search).get(name);
  }

  /** A whole number from 0 to below an end, or what to take instead. */
  number(name, end, otherwise) {
    const text = this.get(name);
    return /^\d+$/.test(text) && Number(text) < end ? Number(text) : otherwise;
  }

  /** Names and values; undefined takes a name out. */
  set(values) {
    clearTimeout(this.soon);
    Object.assign(this.values, values);
    this.soon = setTimeout(() => this.write(), 200); // browsers refuse many in a row
  }

  write() {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(this.values))
      if (value === undefined) query.delete(name);
      else query.set(name, value);
    const place = this.place();
    history.replaceState(history.state, "", `?${query}${place ? `#${place}` : location.hash}`);
  }
}

const [STEP, HEIGHT] = [10, 30]; // of a column and of all arcs, in the units of their drawing

/** An arc from the column of the query to that of a key, higher the farther it goes. */
function arc(query, key) {
  const [from, to] = [query, key].map((column) => (column + 0.5) * STEP);
  const [start, end] = query === key ? [from - 3, to + 3] : [from, to];
  const up = HEIGHT - Math.min(38, 14 + 6 * Math.abs(query - key));
  return `M${start} ${HEIGHT} C${start} ${up} ${end} ${up} ${end} ${HEIGHT}`;
}

const largest = (row) => row.indexOf(Math.max(...row));

/**
 * Shows weights, an array of rows: one per query, each with one weight per key. Arcs over
 * the columns show the chosen row; a word, an arc and a cell are marked together.
 */
export class WeightsTable {
  /** chosen(row, key): what a reader has pointed at. */
  constructor(caption, chosen = () => {}) {
    this.chosen = chosen;
    this.table = make("table", {}, make("caption", { textContent: caption }));
    const region = { className: "weights-table", tabIndex: 0, role: "region", ariaLabel: caption };
    this.box = make("div", region, this.table);
    this.readout = make("p", { className: "weights-readout", role: "status" });
    this.tokens = [];
    this.row = 0;
    // one stop for the Tab key; arrows move between the rows
    this.table.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || event.target.tagName !== "BUTTON") return;
      event.preventDefault();
      const n = this.tokens.length;
      this.buttons[(this.row + step + n) % n].focus();
    });
  }

  set caption(text) {
    this.table.caption.textContent = text;
  }

  get elements() {
    return [this.box, this.readout];
  }

  /** Draw weights; row, key: what to mark when the tokens are new. */
  update(tokens, weights, row = 0, key = undefined) {
    this.weights = weights;
    if (tokens.join(" ") !== this.tokens.join(" ")) {
      Object.assign(this, { tokens, row, key });
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
    this.mark();
  }

  build() {
    this.heads = this.tokens.map((token, key) => {
      const name = make("th", { textContent: token, scope: "col" });
      name.addEventListener("pointerenter", () => this.choose(this.row, key));
      return name;
    });
    const head = make("tr", {}, make("td", { textContent: "query ↓ key →" }), ...this.heads);
    const tbody = make("tbody");
    this.buttons = [];
    this.cells = this.tokens.map((token, query) => {
      const press = button(token, () => this.choose(query));
      press.addEventListener("focus", () => this.choose(query));
      const name = make("th", { scope: "row" }, press);
      name.addEventListener("pointerenter", () => this.choose(query));
      const cells = this.tokens.map((_, key) => {
        const cell = make("td");
        cell.addEventListener("pointerenter", () => this.choose(query, key));
        return cell;
      });
      tbody.append(make("tr", {}, name, ...cells));
      this.buttons.push(press);
      return cells;
    });
    this.table.replaceChildren(this.table.caption, make("thead", {}, this.drawArcs(), head), tbody);
  }

  /** Room for the arcs: they stand over the columns of their tokens. */
  drawArcs() {
    const n = this.tokens.length;
    const drawing = lines(`0 0 ${n * STEP} ${HEIGHT}`, n);
    this.arcs = [...drawing.children];
    return make("tr", { className: "weights-arcs" }, make("td"), make("td", { colSpan: n }, drawing));
  }

  /** A reader points at a query, or at a query and a key. */
  choose(row, key = undefined) {
    if (row === this.row && key === this.key) return;
    Object.assign(this, { row, key });
    this.mark();
    this.chosen(row, key);
  }

  /** Show the chosen row, and its way to a key: the strongest, if none is chosen. */
  mark() {
    const weights = this.weights[this.row];
    const key = this.key ?? largest(weights);
    this.buttons.forEach((button, index) => {
      button.tabIndex = index === this.row ? 0 : -1;
      button.ariaPressed = String(index === this.row);
    });
    this.heads.forEach((name, index) => name.classList.toggle("chosen", index === key));
    weights.forEach((weight, index) => {
      const path = this.arcs[index];
      path.setAttribute("d", arc(this.row, index));
      path.setAttribute("stroke-width", (0.6 + 5 * weight).toFixed(2));
      path.style.opacity = weight < 0.005 ? 0 : (0.15 + 0.85 * weight).toFixed(2);
      path.classList.toggle("chosen", index === key);
    });
    this.cells.forEach((cells, i) =>
      cells.forEach((cell, j) => cell.classList.toggle("chosen", i === this.row && j === key)),
    );
    const pair = `“${this.tokens[this.row]}” on “${this.tokens[key]}”: ${weights[key].toFixed(3)}.`;
    const words = describe(this.tokens, weights, this.row) + (this.key === undefined ? "" : ` ${pair}`);
    say(this.readout, words);
  }
}
