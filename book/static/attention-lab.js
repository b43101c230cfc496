// <attention-lab>: type a sentence, see the weights of chapter 7's reader.
// Attributes set how it begins: sentence, d-k, fresh, unscaled, causal.
import { button, make, say } from "./elements.js";
import { LONGEST, attend, knows, load, tokensOf, wordsOf } from "./reader.js";
import { WeightsTable, near } from "./weights-table.js";

const EXAMPLES = [
  "the animal did not cross the street because it was too tired",
  "the animal did not cross the street because it was too wide",
  "the street did not stop the animal because it was too tired",
];
const CAPTION = "Attention weights of the small reader";

const CONTROLS = `
  <label class="lab-sentence">Sentence <input name="sentence" maxlength="200"
    autocomplete="off" spellcheck="false"></label>
  <div class="lab-examples"></div>
  <div class="lab-settings">
    <label>d<sub>k</sub> <output name="d-k" aria-hidden="true"></output>
      <input type="range" name="dK" aria-label="d_k" min="1" max="32" step="1"></label>
    <label>temperature <output name="degree" aria-hidden="true"></output>
      <input type="range" name="temperature" aria-label="temperature" min="-2" max="3" step="0.1" value="0"></label>
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
    this.form = make("form", { innerHTML: CONTROLS });
    this.table = new WeightsTable(CAPTION);
    this.replaceChildren(this.form, ...this.table.elements, wordsOf(this.model));
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
    const choose = () => {
      this.form.elements.sentence.value = text;
      this.draw();
    };
    this.form.querySelector(".lab-examples").append(button(`the ${words[1]} … ${words.at(-1)}`, choose));
  }

  draw() {
    const fields = this.form.elements;
    const typed = tokensOf(fields.sentence.value);
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
    say(this.form.querySelector(".lab-note"), notes.join(" "));
  }
}

customElements.define("attention-lab", AttentionLab);
