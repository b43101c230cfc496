// <one-token>: a token on its way through the thirty layers of SmolLM2, as recorded: which
// keys its heads look at, and the next tokens that would be likely after each layer.
import { Recorded, cells, escaped, recording, rowOf, unpacked } from "./recorded.js";
import { bars, choice, range, told } from "./toy.js";

const [LAYERS, HEADS, LIKELIEST] = [30, 9, 5];
const TEXTS = { capitals: "three capitals", names: "two names, twice", animal: "the tired animal" };
const CHANGES = {
  "as-published": "nothing",
  halves: "rotation: wrong pairs",
  none: "rotation: none",
  "no-sink": "first token forbidden",
  window: "window of 8 tokens",
};
const NAMES = Array.from({ length: HEADS }, (_, head) => [head, `head ${head}`]);
const VIEWS = Object.fromEntries([["mean", "mean of nine"], ...NAMES]);
const START = { text: "capitals", change: "as-published", view: "mean", layer: 23 };

/** The weights (n) of a query in a layer, of one head or the mean of all. */
export function lookAt({ tokens, weights }, query, layer, view) {
  const n = tokens.length;
  const size = (n * (n + 1)) / 2;
  const row = (head) => rowOf(weights, (layer * HEADS + head) * size, query, n);
  if (view !== "mean") return row(Number(view));
  const rows = Array.from({ length: HEADS }, (_, head) => row(head));
  return rows[0].map((_, key) => rows.reduce((sum, each) => sum + each[key], 0) / HEADS);
}

/** The likeliest next tokens [word, chance] of a query, after a number of layers. */
export function likelyAfter({ words, likely, chances }, query, layers) {
  const start = (query * (LAYERS + 1) + layers) * LIKELIEST;
  const shares = unpacked(chances, start, LIKELIEST);
  return shares.map((share, i) => [words[likely[start + i]], share]);
}

/** How many times longer the first token's vector is than a typical other one. */
export const timesLonger = ({ lengths: [first, others] }, layers) => first[layers] / others[layers];

const mean = (values) => values.reduce((a, b) => a + b) / values.length;
/** A token as it is shown: without its space, and never as nothing. */
const plain = (token) => token.trim() || token.replace(/\n/g, "↵").replace(/\s/g, "␣");
const named = (token) => escaped(plain(token));
const times = (ratio) => told(ratio, ratio < 10 ? 1 : 0);

/** The two keys with most weight, in words. */
function strongest(tokens, row) {
  const order = row.map((weight, key) => [weight, key]).sort((a, b) => b[0] - a[0]);
  const said = order.filter(([weight]) => weight >= 0.005).slice(0, 2);
  return said.map(([weight, key]) => `“${plain(tokens[key])}”${key ? "" : " (the first token)"} ${told(weight)}`).join(", ");
}

class OneToken extends Recorded {
  files = {};

  async load() {
    const get = (name, choices) => this.chosen(name, Object.keys(choices), START[name]);
    const [text, change] = [get("text", TEXTS), get("change", CHANGES)];
    this.begin = { text, change, view: get("view", VIEWS) };
    this.data = await this.file(text, change);
  }

  file(text, change) {
    return (this.files[`${text}-${change}`] ??= recording(`one-token/${text}-${change}.json`));
  }

  knobs() {
    const { text, change, view } = this.begin;
    const last = this.data.tokens.length - 1;
    const at = (name, end, value) => ({ max: end - 1, value: this.address.number(name, end, value) });
    return (
      choice("text", "text", TEXTS, text) +
      choice("change", "changed", CHANGES, change) +
      range("token", "token", at("token", last + 1, last)) +
      range("layer", "layer", at("layer", LAYERS, START.layer)) +
      choice("view", "weights", VIEWS, view)
    );
  }

  async connectedCallback() {
    await super.connectedCallback();
    this.picture?.addEventListener("click", ({ target }) => {
      const { token, layer } = target.closest("[data-token], [data-layer]")?.dataset ?? {};
      if (token) this.form.elements.token.value = token;
      if (layer) this.form.elements.layer.value = layer;
      if (token || layer) this.form.dispatchEvent(new Event("input"));
    });
  }

  /** Draw what the knobs say, once its recording is here. */
  async draw() {
    const { text, change } = this.values();
    let data;
    try {
      data = await this.file(text, change);
    } catch {
      delete this.files[`${text}-${change}`]; // the next move of a knob tries again
      this.words.textContent = "This recording could not be loaded. Choose it again to try again.";
      return;
    }
    const now = this.values();
    if (now.text !== text || now.change !== change) return; // another one was chosen meanwhile
    const { token } = this.form.elements;
    if (data.text !== this.data.text) {
      token.max = data.tokens.length - 1;
      token.value = token.max;
      this.keep();
    }
    this.data = data;
    super.draw();
  }

  show({ token, layer, view }) {
    const { tokens } = this.data;
    const row = lookAt(this.data, token, layer, view);
    const [[likeliest, chance]] = likelyAfter(this.data, token, layer + 1);
    const who = `“${plain(tokens[token])}”`;
    const look = `Layer ${layer}, ${VIEWS[view]}: ${who} looks at ${strongest(tokens, row)}.`;
    const next = `After it, the likeliest next token is “${plain(likeliest)}” (${told(chance)}).`;
    const longer = `The first token's vector is ${times(timesLonger(this.data, layer + 1))} times as long as the others.`;
    const heads = `<div class="token-side">${this.likeliest(token, layer)}${this.heads(token, layer, view)}${this.losses(token)}</div>`;
    return {
      shown: { token: plain(tokens[token]) },
      picture: `${this.strip(token, row)}${this.layers(token, layer, view)}${heads}`,
      words: `${look} ${next} ${longer}`,
    };
  }

  /** The text: every token in the color of the weight that it gets. */
  strip(token, row) {
    const shown = this.data.tokens.map((each, key) => {
      const kind = key === token ? "met" : key > token ? "later" : "";
      const space = /^\s/.test(each) ? " " : "";
      return `${space}<span class="${kind}" data-token="${key}" style="--share: ${row[key].toFixed(3)}">${named(each)}</span>`;
    });
    return `<p class="token-strip">${shown.join("")}</p>`;
  }

  /** All layers: where the token looks, what would come next, the first token's length. */
  layers(token, layer, view) {
    const { tokens } = this.data;
    const rows = Array.from({ length: LAYERS }, (_, each) => {
      const row = lookAt(this.data, token, each, view);
      const [[word, chance]] = likelyAfter(this.data, token, each + 1);
      const kind = each === layer ? ` class="met"` : "";
      return `<tr${kind} data-layer="${each}"><th scope="row">${each}</th><td>${cells(row, escaped(strongest(tokens, row)))}</td>
        <td class="word"><span style="--share: ${chance.toFixed(3)}">${named(word)}</span></td><td>${times(timesLonger(this.data, each + 1))}</td></tr>`;
    });
    return `<table class="token-layers"><caption>In each layer: where the token looks. After it: the likeliest next token, and how many times longer the first token's vector is than the others.</caption><thead><tr><th scope="col">layer</th><th scope="col">looks at</th>
      <th scope="col">next</th><th scope="col">× first</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
  }

  likeliest(token, layer) {
    const rows = likelyAfter(this.data, token, layer + 1);
    const shown = rows.map(([word, chance]) => [named(word), [told(chance), chance]]);
    return bars(`likeliest after layer ${layer}`, ["", "chance"], shown);
  }

  /** The nine heads of the chosen layer. */
  heads(token, layer, view) {
    const rows = NAMES.map(([head]) => {
      const row = lookAt(this.data, token, layer, head);
      const words = escaped(strongest(this.data.tokens, row));
      return `<tr${String(head) === view ? ` class="met"` : ""}><th scope="row">${head}</th><td>${cells(row, words)}</td></tr>`;
    });
    return `<table class="token-heads"><caption>heads of layer ${layer}</caption><tbody>${rows.join("")}</tbody></table>`;
  }

  /** What the next token of the text costs, and all of them on average. */
  losses(token) {
    const { losses, usual, tokens } = this.data;
    const price = (nats) => [told(nats), nats / 16];
    const both = (all, each) => [price(each(all)), price(each(losses))];
    const rows = [["all, mean", ...both(usual, mean)]];
    if (token < losses.length)
      rows.unshift([`next: ${named(tokens[token + 1])}`, ...both(usual, (all) => all[token])]);
    else rows.unshift(["next", ["–", 0], ["–", 0]]);
    return bars("loss in nats", ["", "published", "changed"], rows);
  }
}

customElements.define("one-token", OneToken);
