// <head-viewer>: every head of MiniLM on a few sentences, as measured beforehand, and on
// a sentence of the reader's own, which the encoder computes here when it is asked for.
// Attributes layer and head set how it begins; encoder is where the model lies. What is
// shown is in the address.
import { make, say } from "./elements.js";
import { Hired } from "./hired.js";
import { Address, WeightsTable, near } from "./weights-table.js";

/** The weights (n, n) of one head, of all (layers, heads, n, n) in a row. */
const cut = (all, n, head) =>
  Array.from({ length: n }, (_, query) => {
    const start = (head * n + query) * n;
    return Array.from(all.subarray(start, start + n));
  });

/** The same from heads.json, which holds steps of 1/255. */
export function weightsOf(heads, sentence, layer, head) {
  const { tokens, weights } = heads.sentences[sentence];
  const steps = Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0));
  const rows = cut(steps, tokens.length, layer * heads.heads + head);
  return rows.map((row) => row.map((step) => step / 255));
}

const CONTROLS = `
  <label>Sentence <select name="sentence"></select></label>
  <div class="own-sentence" hidden>
    <button type="button">A sentence of your own (loads the encoder, 21 MB)</button>
    <label class="lab-sentence" hidden>Your sentence <input name="own" maxlength="200"
      autocomplete="off" spellcheck="false"
      value="The trophy didn't fit into the suitcase because it was too big."></label>
    <p class="computed-by" hidden></p>
  </div>
  <p class="lab-note" role="status"></p>
  <div class="lab-settings">
    <label>layer <output name="shown-layer" aria-hidden="true"></output>
      <input type="range" name="layer" aria-label="layer" min="0" step="1"></label>
    <label>head <output name="shown-head" aria-hidden="true"></output>
      <input type="range" name="head" aria-label="head" min="0" step="1"></label>
  </div>`;
const OWN = "own"; // the choice in the list of sentences
const HOW_TO_OWN = `<small>Solve <a href="solve/01-attention.html">exercise 01</a>, or the
  <a href="puzzles.html">puzzles</a> scores, softmax_row and weighted_average, in this browser:
  then your own functions can compute this.</small>`;
const MISSING = "This site was built without the encoder, so there is no sentence of your own.";

/** The encoder in its worker; a sentence may ask for attention of the reader's own. */
class Encoder extends Hired {
  /** own: see own-attention.js. */
  begin({ text, own }) {
    this.own = own?.begin();
    return { text, own: Boolean(own) };
  }

  async answered(answer) {
    const { worker } = this;
    if (answer.layer) return worker.postMessage({ attended: await this.own.attend(answer.layer) });
    super.answered({ ...answer, told: this.own?.told });
  }
}

class HeadViewer extends HTMLElement {
  async connectedCallback() {
    await near(this);
    try {
      this.heads = await (await fetch(new URL("heads.json", import.meta.url))).json();
    } catch {
      return; // the table for readers without scripts stays
    }
    this.form = make("form", { innerHTML: CONTROLS });
    this.fields = this.form.elements;
    this.note = this.form.querySelector(".lab-note");
    this.heads.sentences.forEach(({ text }, index) =>
      this.fields.sentence.add(new Option(text, index)),
    );
    this.fields.layer.max = this.heads.layers - 1;
    this.fields.head.max = this.heads.heads - 1;
    this.address = new Address(this);
    this.begin();
    this.table = new WeightsTable("Attention weights of one head of MiniLM", (row, key) =>
      this.address.set({ row, key }),
    );
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", (event) => this.changed(event.target));
    this.offer();
    this.replaceChildren(this.form, ...this.table.elements);
    this.draw();
  }

  /** Show what the address says, or else the attributes. */
  begin() {
    const { sentence, layer, head, own } = this.fields;
    const given = (name) => Number(this.getAttribute(name) ?? 0);
    layer.value = this.address.number("layer", this.heads.layers, given("layer"));
    head.value = this.address.number("head", this.heads.heads, given("head"));
    sentence.value = this.address.number("sentence", this.heads.sentences.length, 0);
    own.value = this.address.get("own") ?? own.value;
    this.linkedBy = this.address.get("by");
    const [row, key] = ["row", "key"].map((name) => this.address.number(name, Infinity));
    this.linked = { sentence: this.address.get("own") === null ? sentence.value : OWN, row, key };
  }

  /** The row and the key to begin with: those of the link, if this is its sentence. */
  start(tokens) {
    const { sentence, row, key } = this.linked;
    const it = Math.max(0, tokens.indexOf("it"));
    if (sentence !== this.fields.sentence.value || !(row < tokens.length)) return [it];
    this.linked = {}; // once
    return [row, key < tokens.length ? key : undefined];
  }

  offer() {
    const place = this.form.querySelector(".own-sentence");
    const [button, label, by] = place.children;
    if (!this.hasAttribute("encoder")) {
      this.say(MISSING);
      return;
    }
    place.hidden = false;
    if (this.linked.sentence === OWN)
      this.say(`The link is to “${this.fields.own.value}”, which needs the encoder.`);
    this.encoder = new Encoder("encoder-worker.js", this.getAttribute("encoder"), (answer) => this.heard(answer));
    button.addEventListener("click", () => {
      button.disabled = true;
      this.say("Loading the encoder …");
      this.encoder.ask({ text: this.fields.own.value });
    });
    this.unfold = () => {
      // loading takes a while: whoever reads or types elsewhere by now is left there
      const { top, bottom } = this.form.getBoundingClientRect();
      const idle = [document.body, button].includes(document.activeElement);
      const waits = idle && bottom > 0 && top < innerHeight;
      button.hidden = true;
      label.hidden = false;
      this.fields.sentence.add(new Option("Your sentence", OWN));
      this.fields.sentence.value = OWN;
      if (waits) {
        this.fields.own.focus();
        this.fields.own.select();
      }
      this.unfold = () => {};
      import("./own-attention.js").then((code) => this.offerOwn(by, code), () => {});
    };
    this.retry = () => (button.disabled = false);
  }

  /** Let functions that a reader has solved compute the attention of a sentence. */
  offerOwn(place, { OwnAttention, ways }) {
    const python = document.getElementById("chapter-python");
    place.hidden = !python;
    const found = python ? ways() : [];
    if (!found.length) {
      place.innerHTML = HOW_TO_OWN;
      return;
    }
    const list = make("select", { name: "by" }, new Option("the page's own", ""));
    for (const { name, needs } of found) list.add(new Option(`my ${needs.join(", ")}`, name));
    this.ways = Object.fromEntries(found.map((way) => [way.name, new OwnAttention(way, python, (words) => this.say(words))]));
    place.replaceChildren(make("label", {}, "Attention by ", list));
    if (!(this.linkedBy in this.ways)) return;
    list.value = this.linkedBy;
    this.changed(list);
  }

  changed(field) {
    if ([this.fields.own, this.fields.by].includes(field)) {
      this.fields.sentence.value = OWN;
      this.encoder.ask({ text: this.fields.own.value, own: this.ways?.[this.fields.by?.value] });
    } else this.draw();
    this.keep();
  }

  /** Into the address, with the row of a sentence that is still the same. */
  keep() {
    const { sentence, layer, head, own, by } = this.fields;
    const mine = sentence.value === OWN;
    this.address.set({
      sentence: mine ? undefined : sentence.value,
      own: mine ? own.value : undefined,
      by: (mine && by?.value) || undefined,
      layer: layer.value,
      head: head.value,
      row: this.table.row,
      key: this.table.key,
    });
  }

  /** A note, read out when it changes. */
  say(words) {
    say(this.note, words);
  }

  /** What the encoder says: how much of it is here, what it found, or why it cannot. */
  heard({ here, whole, failed, tokens, weights, cut, told = "" }) {
    if (here !== undefined) {
      const megabytes = (bytes) => Math.round(bytes / 1e6);
      const of = whole ? ` of ${megabytes(whole)}` : ""; // not every host tells its size
      this.say(`Loading the encoder: ${megabytes(here)}${of} MB`);
    } else if (failed) {
      this.say(`The encoder cannot be used: ${failed}. Try again.`);
      this.retry();
    } else {
      this.own = { tokens, weights };
      this.unfold();
      const lost = cut ? ` The last ${cut} are left out.` : "";
      this.say(`${tokens.length} word pieces, computed on this device.${lost} ${told}`.trim());
      this.draw();
      this.keep();
    }
  }

  draw() {
    const { sentence, layer, head } = this.fields;
    this.fields["shown-layer"].value = layer.value;
    this.fields["shown-head"].value = head.value;
    const given = sentence.value === OWN ? this.own : this.heads.sentences[sentence.value];
    const { tokens, weights } = given;
    const rows =
      given === this.own
        ? cut(weights, tokens.length, Number(layer.value) * this.heads.heads + Number(head.value))
        : weightsOf(this.heads, Number(sentence.value), Number(layer.value), Number(head.value));
    this.table.update(tokens, rows, ...this.start(tokens));
  }
}

customElements.define("head-viewer", HeadViewer);
