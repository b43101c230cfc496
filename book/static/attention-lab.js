// <attention-lab>: type a sentence, see the weights of chapter 7's reader.
// Attributes set how it begins: sentence, d-k, fresh, unscaled, causal.
import { WeightsTable, near } from "./weights-table.js";

/** softmax of one row of scores; -Infinity gets the weight 0. */
export function softmax(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const columns = (matrix) => matrix[0].map((_, j) => matrix.map((row) => row[j]));
const multiply = (rows, matrix) => {
  const across = columns(matrix);
  return rows.map((row) => across.map((column) => dot(row, column)));
};
const add = (a, b) => a.map((row, i) => row.map((value, j) => value + b[i][j]));

/** The weights (n, n) of queries (n, d_k) on keys (n, d_k). */
export function weigh(queries, keys, { divisor, causal }) {
  return queries.map((query, i) =>
    softmax(keys.map((key, j) => (causal && j > i ? -Infinity : dot(query, key) / divisor))),
  );
}

/** Sinusoidal positions (n, d), as in chapter 5. */
export const positions = (n, d) =>
  Array.from({ length: n }, (_, position) =>
    Array.from({ length: d }, (_, i) => {
      const angle = position / 10000 ** ((i - (i % 2)) / d);
      return i % 2 ? Math.cos(angle) : Math.sin(angle);
    }),
  );

/** Normalize each row to mean 0 and variance 1, then scale and shift it. */
function normalize(rows, [scale, shift]) {
  return rows.map((row) => {
    const mean = row.reduce((a, b) => a + b) / row.length;
    const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length;
    return row.map((x, j) => ((x - mean) / Math.sqrt(variance + 1e-5)) * scale[j] + shift[j]);
  });
}

/** Has the reader a vector for this word? "constructor" is in every object. */
const knows = (model, word) => Object.hasOwn(model.words, word);

/**
 * The weights (n, n) of the reader's second step.
 *
 * Its first step lets the tokens exchange what they know; then queries and keys of
 * width dK are compared, made by the trained or by fresh random projections. A word
 * that the reader does not know has the vector 0.
 */
export function attend(model, tokens, { dK, temperature, trained, scaled, causal }) {
  const d = model.look_q.length;
  const unknown = Array(d).fill(0);
  const words = tokens.map((token) => (knows(model, token) ? model.words[token] : unknown));
  let x = add(words, positions(tokens.length, d));
  const [q, k, v] = ["W_q", "W_k", "W_v"].map((name) => multiply(x, model[name]));
  const context = multiply(weigh(q, k, { divisor: Math.sqrt(d), causal }), v);
  x = normalize(add(x, multiply(context, model.W_o)), model.norm);
  const kind = trained ? "look" : "fresh";
  const [queries, keys] = [`${kind}_q`, `${kind}_k`].map((name) =>
    multiply(x, model[name].map((row) => row.slice(0, dK))),
  ); // (n, dK)
  const divisor = temperature * (scaled ? Math.sqrt(dK) : 1);
  return weigh(queries, keys, { divisor, causal });
}

const EXAMPLES = [
  "the animal did not cross the street because it was too tired",
  "the animal did not cross the street because it was too wide",
  "the street did not stop the animal because it was too tired",
];
const LONGEST = 16;
const CAPTION = "Attention weights of the small reader";

let model; // loaded once per page, when the first lab needs it
const load = () =>
  (model ??= fetch(new URL("lab.json", import.meta.url)).then((answer) => answer.json()));

const CONTROLS = `
  <label class="lab-sentence">Sentence <input name="sentence" maxlength="200"
    autocomplete="off" spellcheck="false"></label>
  <div class="lab-examples"></div>
  <div class="lab-settings">
    <label>d<sub>k</sub> <output name="d-k"></output>
      <input type="range" name="dK" min="1" max="32" step="1"></label>
    <label>temperature <output name="degree"></output>
      <input type="range" name="temperature" min="-2" max="3" step="0.1" value="0"></label>
    <label><input type="checkbox" name="trained"> trained W<sub>q</sub>, W<sub>k</sub></label>
    <label><input type="checkbox" name="scaled"> divide by √d<sub>k</sub></label>
    <label><input type="checkbox" name="causal"> causal mask</label>
  </div>
  <p class="lab-note" role="status"></p>`;

class AttentionLab extends HTMLElement {
  async connectedCallback() {
    await near(this);
    try {
      this.model = await load();
    } catch {
      return; // the table for readers without scripts stays
    }
    this.form = document.createElement("form");
    this.form.innerHTML = CONTROLS;
    this.table = new WeightsTable(CAPTION);
    this.replaceChildren(this.form, ...this.table.elements);
    const { sentence, dK, trained, scaled, causal } = this.form.elements;
    sentence.value = this.getAttribute("sentence") ?? EXAMPLES[0];
    dK.value = this.getAttribute("d-k") ?? 32;
    trained.checked = !this.hasAttribute("fresh");
    scaled.checked = !this.hasAttribute("unscaled");
    causal.checked = this.hasAttribute("causal");
    for (const text of EXAMPLES) this.offer(text);
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", () => this.draw());
    this.draw();
  }

  offer(text) {
    const words = text.split(" ");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `the ${words[1]} … ${words.at(-1)}`;
    button.addEventListener("click", () => {
      this.form.elements.sentence.value = text;
      this.draw();
    });
    this.form.querySelector(".lab-examples").append(button);
  }

  draw() {
    const fields = this.form.elements;
    const typed = fields.sentence.value.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? [];
    const tokens = typed.slice(0, LONGEST);
    const settings = {
      dK: Number(fields.dK.value),
      temperature: 2 ** Number(fields.temperature.value),
      trained: fields.trained.checked,
      scaled: fields.scaled.checked,
      causal: fields.causal.checked,
    };
    fields["d-k"].value = settings.dK;
    fields.degree.value = settings.temperature.toFixed(2);
    fields.temperature.ariaValueText = fields.degree.value; // the slider holds its log
    this.note(typed, tokens);
    if (tokens.length === 0) return;
    this.table.caption = `${CAPTION}, ${settings.trained ? "trained" : "random, untrained"}`;
    const it = Math.max(0, tokens.indexOf("it"));
    this.table.update(tokens, attend(this.model, tokens, settings), it);
  }

  note(typed, tokens) {
    const strange = [...new Set(tokens.filter((token) => !knows(this.model, token)))];
    const notes = [];
    if (tokens.length === 0) notes.push("Type a word or two.");
    if (typed.length > LONGEST) notes.push(`Only the first ${LONGEST} words are shown.`);
    if (strange.length)
      notes.push(
        `The reader knows ${Object.keys(this.model.words).length} words. ` +
          `To it these are blanks with a position: ${strange.join(", ")}.`,
      );
    const said = notes.join(" ");
    const place = this.form.querySelector(".lab-note");
    if (place.textContent !== said) place.textContent = said;
  }
}

customElements.define("attention-lab", AttentionLab);
