// A ladder for whoever is stuck: lines to put in order, of which some do not belong. No
// order is stored in the page; what is made goes into the cell and is checked as ever.
import { make } from "./verdicts.js";

const ENOUGH = 3; // different tries that fail, until it is offered

export class Ladder {
  /**
   * element: the fold that holds the lines; stub: the cell as it was given; read, write:
   * what stands in the cell now; keeper, part: where all of this is kept.
   */
  constructor(element, { stub, read, write, keeper, part }) {
    Object.assign(this, { element, stub, read, write, keeper, part });
    const list = element.querySelector("ul");
    this.lines = [...list.querySelectorAll("code")].map((code) => code.textContent);
    this.choices = make("ul", { className: "ladder-lines" });
    this.choices.setAttribute("aria-label", "Lines to choose from");
    this.rows = make("ol", { className: "ladder-lines" });
    this.rows.setAttribute("aria-label", "Your order");
    this.status = make("p", { className: "exercise-status" });
    this.status.setAttribute("role", "status");
    this.putter = this.button("Put it into my cell", "", () => this.put());
    this.backer = this.button("Bring back what I had", "", () => this.back());
    const foot = make("div", { className: "exercise-row" }, this.putter, this.backer);
    list.replaceWith(this.choices, make("p", {}, "Your order:"), this.rows, foot, this.status);
    this.recall();
  }

  button(text, label, pressed) {
    const made = make("button", { type: "button" }, text);
    if (label) made.ariaLabel = label;
    made.addEventListener("click", pressed);
    return made;
  }

  /** What this browser keeps: marks of tries, the order so far, texts of one's own. */
  recall() {
    const kept = this.keeper.read(this.part);
    this.state = { tries: [], order: [], versions: [], made: "", ...kept };
    this.state.order = this.state.order.filter((line) => this.lines.includes(line));
    this.draw();
  }

  keep() {
    this.keeper.write(this.state, this.part);
    this.draw();
  }

  /** A check has failed; mark: what it came of, so that the same counts once. */
  failed(mark) {
    if (this.read() === this.stub || this.state.tries.includes(mark)) return;
    this.state.tries.push(mark);
    this.keep();
  }

  disable(yes) {
    for (const each of this.element.querySelectorAll("button")) each.disabled = yes || each.ariaDisabled === "true";
  }

  draw() {
    const { order, tries, versions } = this.state;
    this.element.hidden = tries.length < ENOUGH;
    const open = this.lines.filter((line) => !order.includes(line));
    this.choices.replaceChildren(...open.map((line) => make("li", {}, this.choice(line))));
    this.rows.replaceChildren(...order.map((line, at) => this.row(line, at)));
    this.backer.hidden = !versions.length;
    this.disable(!this.keeper.writing);
  }

  choice(line) {
    return this.button(make("code", { textContent: line }), "", () => {
      const at = this.lines.filter((each) => !this.state.order.includes(each)).indexOf(line);
      this.change([...this.state.order, line], `Line ${this.state.order.length + 1}: ${line}`);
      const left = this.choices.querySelectorAll("button");
      (left[Math.min(at, left.length - 1)] ?? this.putter).focus();
    });
  }

  row(line, at) {
    const { order } = this.state;
    const move = (sign, word, to) => {
      const made = this.button(sign, `${word}: ${line}`, () => {
        const without = order.filter((each) => each !== line);
        this.change(without.toSpliced(to, 0, line), `Now line ${to + 1}: ${line}`);
        const moved = [...this.rows.children[to].querySelectorAll("button:enabled")];
        (moved.find((each) => each.textContent === sign) ?? moved[0]).focus();
      });
      made.ariaDisabled = String(to < 0 || to >= order.length);
      return made;
    };
    const out = this.button("×", `Take out: ${line}`, () => {
      this.change(order.filter((each) => each !== line), `Taken out: ${line}`);
      const next = this.rows.children[Math.min(at, this.rows.children.length - 1)];
      (next?.querySelector("button:last-child") ?? this.choices.querySelector("button")).focus();
    });
    const code = make("code", { textContent: line });
    return make("li", {}, code, move("↑", "Move up", at - 1), move("↓", "Move down", at + 1), out);
  }

  change(order, words) {
    this.state.order = order;
    this.status.textContent = words;
    this.keep();
  }

  /** Keep what stands in the cell, if somebody wrote it and it is not kept yet. */
  save(text) {
    const { versions, made } = this.state;
    if (text !== this.stub && text !== made && !versions.includes(text)) versions.unshift(text);
  }

  put() {
    this.save(this.read());
    const { order } = this.state;
    this.state.made = this.stub.replace(/^( *)raise NotImplementedError.*$/m, (_, indent) =>
      order.map((line) => indent + line).join("\n"),
    );
    this.write(this.state.made);
    this.status.textContent = "The lines are in your cell. What you had is kept; now check it.";
    this.keep();
  }

  back() {
    const mine = this.state.versions.shift();
    const now = this.read();
    this.write(mine);
    if (now !== this.stub && now !== this.state.made) this.state.versions.push(now);
    this.status.textContent = "What you had is in your cell again.";
    this.keep();
  }
}
