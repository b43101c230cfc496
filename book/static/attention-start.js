// <attention-start>: the first thing that moves. Two sentences side by side, or three
// tokens step by step. What is shown is in the address: a link leads to the same picture.
import { SentencePair } from "./sentence-pair.js";
import { load } from "./reader.js";
import { ThreeTokens } from "./three-tokens.js";
import { near } from "./weights-table.js";

const MODES = [
  ["pair", "Two sentences"],
  ["steps", "Step by step"],
];

/** What the address says, and a way to change it without leaving the page. */
const state = {
  get: (name) => new URLSearchParams(location.search).get(name),
  set(values) {
    clearTimeout(this.soon);
    this.values = { ...this.values, ...values };
    this.soon = setTimeout(() => this.write(), 200); // browsers refuse many in a row
  },
  write() {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(this.values))
      if (value === undefined) query.delete(name);
      else query.set(name, value);
    history.replaceState(history.state, "", `?${query}${location.hash}`);
  },
};

class AttentionStart extends HTMLElement {
  async connectedCallback() {
    await near(this);
    let model;
    try {
      model = await load();
    } catch {
      return; // the picture for readers without scripts stays
    }
    this.views = { pair: new SentencePair(model, state), steps: new ThreeTokens(state) };
    const choice = document.createElement("div");
    choice.className = "start-modes";
    choice.setAttribute("role", "group");
    choice.ariaLabel = "What to look at";
    this.buttons = MODES.map(([mode, words]) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: words });
      button.addEventListener("click", () => {
        state.set({ view: mode });
        this.style.minHeight = "0"; // it kept the place of the first view only
        this.show(mode);
      });
      choice.append(button);
      return button;
    });
    this.place = document.createElement("div");
    this.replaceChildren(choice, this.place);
    this.show(state.get("view") === "steps" ? "steps" : "pair");
  }

  show(mode) {
    MODES.forEach(([name], index) => (this.buttons[index].ariaPressed = String(name === mode)));
    this.place.replaceChildren(this.views[mode].element);
  }
}

customElements.define("attention-start", AttentionStart);
