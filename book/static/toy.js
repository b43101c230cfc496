// What the small toys of the chapters share: knobs, a picture, and a sentence on what is
// seen. A toy says which knobs it has and what they show; its text stays without scripts.
import { make, say } from "./elements.js";

/** Knobs, as HTML. A range shows its value beside its name.
    A label belongs to its first field, here the output, so the range has its own. */
export const range = (name, label, { min = 0, max, step = 1, value }) =>
  `<label>${label} <output name="of-${name}" aria-hidden="true"></output>
    <input type="range" name="${name}" aria-label="${plain(label)}" min="${min}" max="${max}" step="${step}" value="${value}"></label>`;
const plain = (label) => label.replace("<sub>", "_").replace("</sub>", "");
export const check = (name, label, on = false) =>
  `<label><input type="checkbox" name="${name}"${on ? " checked" : ""}> ${label}</label>`;
export const choice = (name, label, options, chosen) => {
  const all = Object.entries(options).map(
    ([value, words]) => `<option value="${value}"${value === chosen ? " selected" : ""}>${words}</option>`,
  );
  return `<label>${label} <select name="${name}">${all.join("")}</select></label>`;
};

/** A number for people, with a real minus sign. */
export const told = (value, digits = 2) => value.toFixed(digits).replace(/^-(?=.*[1-9])/, "−").replace(/^-/, "");

/** A table whose rows are [name, [number in words, share of its bar, if any], …]. */
export function bars(caption, heads, rows) {
  const bar = (share) => `<i style="--share: ${Math.min(1, Math.max(0, share)).toFixed(3)}"></i>`;
  const cell = ([words, share]) =>
    share === undefined ? `<td class="plain">${words}</td>` : `<td><span>${words}</span>${bar(share)}</td>`;
  const lines = rows.map(([name, ...cells]) => `<tr><th scope="row">${name}</th>${cells.map(cell).join("")}</tr>`);
  const names = heads.map((head) => (head ? `<th scope="col">${head}</th>` : "<td></td>"));
  return `<table class="toy-bars"><caption>${caption}</caption><thead><tr>${names.join("")}</tr></thead><tbody>${lines.join("")}</tbody></table>`;
}

/** A square of colored cells; words say what a screen reader says of it. */
export function grid(rows, words, title = "") {
  const cell = ([share, kind = ""]) => `<i class="${kind}" style="--share: ${share.toFixed(3)}"></i>`;
  const name = title && `<figcaption>${title}</figcaption>`;
  return `<figure class="toy-grid">${name}<div role="img" aria-label="${words}" style="--n: ${rows[0].length}">${rows.flat().map(cell).join("")}</div></figure>`;
}

export class Toy extends HTMLElement {
  connectedCallback() {
    this.form = make("form", { className: "toy-knobs", innerHTML: this.knobs() });
    this.picture = make("div", { className: "toy-picture" });
    this.words = make("p", { className: "toy-words", role: "status" });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", () => this.draw());
    this.replaceChildren(this.form, this.picture, this.words);
    this.draw();
  }

  /** What the knobs say: numbers, truth values, names. */
  values() {
    const knobs = [...this.form.elements].filter((knob) => /INPUT|SELECT/.test(knob.tagName));
    const value = (knob) =>
      ({ range: knob.valueAsNumber, checkbox: knob.checked })[knob.type] ?? knob.value;
    return Object.fromEntries(knobs.map((knob) => [knob.name, value(knob)]));
  }

  /** Show a picture and a sentence, and beside the ranges what they stand for. */
  draw() {
    const { picture, words, shown = {} } = this.show(this.values());
    for (const knob of this.form.querySelectorAll("[type=range]")) {
      const text = String(shown[knob.name] ?? knob.value);
      this.form.elements[`of-${knob.name}`].value = text;
      knob.ariaValueText = text;
    }
    this.picture.innerHTML = picture;
    say(this.words, words);
  }
}
