// <attention-start>: the first thing that moves. Two sentences side by side, or three
// tokens step by step. What is shown is in the address: a link leads to the same picture.
import { button, lines, make, say } from "./elements.js";
import { LONGEST, knows, load, scoresOf, softmax, tokensOf, wordsOf } from "./reader.js";
import { Address, near } from "./weights-table.js";

const SENTENCES = [
  "the animal did not cross the street because it was too tired",
  "the animal did not cross the street because it was too wide",
];
const SETTINGS = { dK: 32, temperature: 1, trained: true, scaled: true, causal: false };
const NAMES = ["left", "right"];
const largest = (row) => row.indexOf(Math.max(...row));

/** One of the two sentences. */
class Side {
  constructor(model, name, text, { changed, choose }) {
    Object.assign(this, { model, choose });
    // two lines: the last word is the one to change
    this.field = make("textarea", { value: text, rows: 2, maxLength: 120, autocomplete: "off", spellcheck: false });
    this.field.addEventListener("input", changed);
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
    const label = make("label", {}, `${name} sentence`, this.field);
    this.links = make("div", { className: "pair-links" });
    this.matrix = make("div", { className: "pair-matrix", role: "img" });
    this.note = make("p", { className: "lab-note", role: "status" });
    this.formula = make("p", { className: "pair-formula", role: "status" });
    this.element = make("div", { className: "pair-side" }, label, this.note, this.links, make("div", { className: "pair-foot" }, this.matrix, this.formula));
    this.links.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const row = (this.row + step + this.tokens.length) % this.tokens.length;
      choose(row);
      this.queries[row].focus();
    });
  }

  /** Compute the weights of what is typed. */
  compute() {
    const typed = tokensOf(this.field.value);
    const tokens = typed.slice(0, LONGEST);
    const strange = [...new Set(tokens.filter((token) => !knows(this.model, token)))];
    const said = !tokens.length
      ? "Type a word or two."
      : typed.length > LONGEST
        ? `Only the first ${LONGEST} words are shown.`
        : strange.length
          ? `This small model does not know: ${strange.join(", ")}.`
          : "";
    say(this.note, said);
    if (!tokens.length) return;
    this.tokens = tokens;
    this.scores = scoresOf(this.model, tokens, SETTINGS);
    this.weights = this.scores.map(softmax);
    this.build();
  }

  build() {
    const n = this.tokens.length;
    const points = (row, key) => () => this.choose(row ?? this.row, key);
    this.queries = this.tokens.map((token, row) => {
      const press = button(token, points(row));
      for (const sign of ["focus", "pointerenter"]) press.addEventListener(sign, points(row));
      return press;
    });
    this.keys = this.tokens.map((token, key) => {
      const place = make("span", {}, make("i"), token);
      place.addEventListener("pointerenter", points(undefined, key));
      return place;
    });
    const drawing = lines(`0 0 100 ${n}`, n);
    this.paths = [...drawing.children];
    const group = { className: "pair-queries", role: "group", ariaLabel: "Queries: who looks" };
    const keys = make("div", { className: "pair-keys" }, ...this.keys);
    this.links.replaceChildren(make("div", group, ...this.queries), drawing, keys);
    this.cells = this.weights.map((weights, row) =>
      weights.map((weight, key) => {
        const cell = make("i");
        cell.style.setProperty("--weight", weight.toFixed(3));
        cell.addEventListener("pointerenter", points(row, key));
        return cell;
      }),
    );
    this.matrix.style.setProperty("--n", n);
    this.matrix.replaceChildren(...this.cells.flat());
  }

  /** Show a query, and its way to a key: the strongest, if none is named. */
  show(wanted, wantedKey) {
    if (!this.tokens) return;
    const row = Math.min(wanted, this.tokens.length - 1);
    const weights = this.weights[row];
    const key = weights[wantedKey] === undefined ? largest(weights) : wantedKey;
    Object.assign(this, { row, key });
    this.queries.forEach((button, index) => {
      button.tabIndex = index === row ? 0 : -1;
      button.ariaPressed = String(index === row);
    });
    weights.forEach((weight, index) => {
      const path = this.paths[index];
      path.setAttribute("d", `M0 ${row + 0.5} C40 ${row + 0.5} 60 ${index + 0.5} 100 ${index + 0.5}`);
      path.setAttribute("stroke-width", (0.6 + 7 * weight).toFixed(2));
      path.style.opacity = (0.12 + 0.88 * weight).toFixed(2);
      path.classList.toggle("chosen", index === key);
      const place = this.keys[index];
      place.style.setProperty("--weight", weight.toFixed(3));
      place.firstChild.textContent = weight.toFixed(2);
      place.classList.toggle("faint", weight < 0.005);
      place.classList.toggle("chosen", index === key);
    });
    this.cells.flat().forEach((cell, index) => {
      const [i, j] = [Math.floor(index / this.tokens.length), index % this.tokens.length];
      cell.classList.toggle("asked", i === row);
      cell.classList.toggle("chosen", i === row && j === key);
    });
    const [q, k] = [this.tokens[row], this.tokens[key]];
    const shown = (number) => number.toFixed(1).replace("-", "−");
    const score = shown(this.scores[row][key]);
    const others = this.scores[row].filter((_, index) => index !== key);
    this.matrix.ariaLabel = `Heat map of the weights of all ${this.tokens.length} tokens; “${q}” on “${k}”: ${weights[key].toFixed(2)}`;
    this.formula.innerHTML =
      `<b class="q"></b> → <b class="k"></b>: score <span class="q">q</span> · <span class="k">k</span> / √32 = ${score}, ` +
      `weight e<sup>${score}</sup> / Σ e<sup>score</sup> = <b>${weights[key].toFixed(2)}</b> ` +
      `(largest other score: ${shown(Math.max(...others))})`;
    this.formula.querySelector("b.q").textContent = q;
    this.formula.querySelector("b.k").textContent = k;
  }
}

/** Two sentences beside each other: whom does a token look at, and with which weight?
    Lines, matrix and formula show the same pair of tokens. */
class SentencePair {
  constructor(model, state) {
    this.state = state;
    const changed = () => {
      const words = () => this.sides[0].tokens ?? [];
      const word = words()[this.row];
      this.sides.forEach((side) => side.compute());
      const row = words().indexOf(word); // it is followed where it moves
      if (row >= 0 && words()[this.row] !== word) Object.assign(this, { row, key: undefined });
      this.keep();
      this.show();
    };
    const choose = (row, key) => {
      if (row === this.row && key === this.key) return;
      Object.assign(this, { row, key });
      this.keep();
      this.show();
    };
    this.sides = NAMES.map((name, index) => {
      const title = name[0].toUpperCase() + name.slice(1);
      return new Side(model, title, state.get(name) ?? SENTENCES[index], { changed, choose });
    });
    this.sides.forEach((side) => side.compute());
    const honest = make("p", {
      className: "pair-honest",
      textContent: "In the squares, each row is a word that looks, each column one that it looks at. The picture is extreme: this model knows 61 words and one task, what “it” stands for. Published models usually spread their attention wider (chapter 11).",
    });
    const both = make("div", { className: "pair" }, ...this.sides.map((side) => side.element));
    const follow = make("p", {
      className: "pair-honest",
      textContent: "Which words does “it” look at? The thicker the line, the more it takes from that word. Change the last word. The chapter explains the numbers.",
    });
    this.element = make("div", {}, follow, both, honest, wordsOf(model));
    this.row = state.number("row", LONGEST, Math.max(0, this.sides[0].tokens?.indexOf("it") ?? 0));
    this.key = state.number("key", LONGEST);
    this.show();
  }

  show() {
    for (const side of this.sides) side.show(this.row, this.key);
  }

  keep() {
    const typed = Object.fromEntries(NAMES.map((name, index) => [name, this.sides[index].field.value]));
    this.state.set({ ...typed, row: this.row, key: this.key });
  }
}

const MODES = [
  ["pair", "Two sentences"],
  ["steps", "Step by step"],
];
const MISSING = "This part could not be loaded. Reload the page to try again.";

class AttentionStart extends HTMLElement {
  async connectedCallback() {
    await near(this);
    let model;
    try {
      model = await load();
    } catch {
      return; // the picture for readers without scripts stays
    }
    this.state = new Address(this);
    this.views = { pair: new SentencePair(model, this.state) };
    const go = (mode) => {
      this.state.set({ view: mode });
      this.style.minHeight = "0"; // it kept the place of the first view only
      this.show(mode);
    };
    this.buttons = MODES.map(([mode, words]) => button(words, () => go(mode)));
    const group = { className: "start-modes", role: "group", ariaLabel: "What to look at" };
    this.place = make("div");
    this.replaceChildren(make("div", group, ...this.buttons), this.place);
    this.show(this.state.get("view") === "steps" ? "steps" : "pair");
  }

  async show(mode) {
    this.mode = mode;
    MODES.forEach(([name], index) => (this.buttons[index].ariaPressed = String(name === mode)));
    const view = (this.views[mode] ??= await this.steps());
    if (mode === this.mode) this.place.replaceChildren(view?.element ?? MISSING);
  }

  /** The second view, whose code comes when it is asked for. */
  async steps() {
    const code = await import("./three-tokens.js").catch(() => undefined);
    return code && new code.ThreeTokens(this.state);
  }
}

customElements.define("attention-start", AttentionStart);
