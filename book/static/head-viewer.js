// <head-viewer>: every head of MiniLM on a few sentences, as measured beforehand.
// Attributes layer and head set how it begins.
import { WeightsTable, near } from "./weights-table.js";

/** The weights (n, n) of one head; heads.json holds steps of 1/255. */
export function weightsOf(heads, sentence, layer, head) {
  const { tokens, weights } = heads.sentences[sentence];
  const n = tokens.length;
  const steps = Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0));
  const start = (layer * heads.heads + head) * n * n;
  return tokens.map((_, query) =>
    Array.from(steps.subarray(start + query * n, start + (query + 1) * n), (s) => s / 255),
  );
}

const CONTROLS = `
  <label>Sentence <select name="sentence"></select></label>
  <div class="lab-settings">
    <label>layer <output name="shown-layer"></output>
      <input type="range" name="layer" min="0" step="1"></label>
    <label>head <output name="shown-head"></output>
      <input type="range" name="head" min="0" step="1"></label>
  </div>`;

class HeadViewer extends HTMLElement {
  async connectedCallback() {
    await near(this);
    let heads;
    try {
      heads = await (await fetch(new URL("heads.json", import.meta.url))).json();
    } catch {
      return; // the table for readers without scripts stays
    }
    const form = document.createElement("form");
    form.innerHTML = CONTROLS;
    const fields = form.elements;
    heads.sentences.forEach(({ text }, index) => fields.sentence.add(new Option(text, index)));
    fields.layer.max = heads.layers - 1;
    fields.head.max = heads.heads - 1;
    fields.layer.value = this.getAttribute("layer") ?? 0;
    fields.head.value = this.getAttribute("head") ?? 0;
    const table = new WeightsTable("Attention weights of one head of MiniLM");
    const draw = () => {
      const [sentence, layer, head] = ["sentence", "layer", "head"].map((name) =>
        Number(fields[name].value),
      );
      fields["shown-layer"].value = layer;
      fields["shown-head"].value = head;
      const { tokens } = heads.sentences[sentence];
      const it = Math.max(0, tokens.indexOf("it"));
      table.update(tokens, weightsOf(heads, sentence, layer, head), it);
    };
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", draw);
    this.replaceChildren(form, ...table.elements);
    draw();
  }
}

customElements.define("head-viewer", HeadViewer);
