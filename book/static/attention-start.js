// <attention-start>: the first thing that moves. Two sentences side by side, or three
// tokens step by step. What is shown is in the address: a link leads to the same picture.
import { SentencePair } from "./sentence-pair.js";
import { load } from "./reader.js";
import { Address, near } from "./weights-table.js";

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
    const choice = document.createElement("div");
    choice.className = "start-modes";
    choice.setAttribute("role", "group");
    choice.ariaLabel = "What to look at";
    this.buttons = MODES.map(([mode, words]) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: words });
      button.addEventListener("click", () => {
        this.state.set({ view: mode });
        this.style.minHeight = "0"; // it kept the place of the first view only
        this.show(mode);
      });
      choice.append(button);
      return button;
    });
    this.place = document.createElement("div");
    this.replaceChildren(choice, this.place);
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
