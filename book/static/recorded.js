// What the recorded pictures share: their data comes when a reader is near, and what
// they show is in the address, so that a link leads to the same picture.
import { Toy } from "./toy.js";
import { Address, near } from "./weights-table.js";

const LEVELS = 90; // recording.py keeps a weight as one character, from "#" to "}"

/** Weights from 0 to 1, of some of the characters. */
export const unpacked = (text, start = 0, count = text.length) =>
  Array.from({ length: count }, (_, i) => (text.charCodeAt(start + i) - 35) / LEVELS);

/** What recording.py would keep of maps (…, n, n): the weights below each diagonal. */
export function packed(weights, n) {
  const shown = weights.filter((_, at) => at % n <= Math.floor(at / n) % n);
  return Array.from(shown, (weight) => String.fromCharCode(35 + Math.round(weight * LEVELS))).join("");
}

/** The row of a query, n weights, of the map that begins at a character. */
export const rowOf = (text, start, query, n) => [
  ...unpacked(text, start + (query * (query + 1)) / 2, query + 1),
  ...Array(n - query - 1).fill(0),
];

/** A recording, from a file of the site. */
export async function recording(file) {
  const answer = await fetch(new URL(file, import.meta.url));
  if (!answer.ok) throw new Error(`the site answered ${answer.status}`);
  return answer.json();
}

/** Colored cells in a row; words say what a screen reader says of it. */
export function cells(weights, words) {
  const all = weights.map((weight) => `<i style="--share: ${weight.toFixed(3)}"></i>`);
  return `<div class="cells" role="img" aria-label="${words}" style="--n: ${weights.length}">${all.join("")}</div>`;
}

export class Recorded extends Toy {
  async connectedCallback() {
    await near(this);
    this.address = new Address(this);
    try {
      await this.load();
    } catch {
      return; // the picture for readers without scripts stays
    }
    super.connectedCallback();
    this.form.addEventListener("input", () => this.keep());
  }

  /** One of a list of choices, as the address says, or the one to take instead. */
  chosen(name, choices, otherwise) {
    const given = this.address.get(name);
    return choices.includes(given) ? given : otherwise;
  }

  /** Into the address; what is off is left out. */
  keep() {
    const told = (value) => (value === false ? undefined : value === true ? 1 : value);
    const all = Object.entries(this.values()).map(([name, value]) => [name, told(value)]);
    this.address.set(Object.fromEntries(all));
  }
}
