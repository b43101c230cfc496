// <one-token>: a token on its way through the thirty layers of SmolLM2, as recorded: which
// keys its heads look at, and the next tokens that would be likely after each layer. The
// first eight layers also read a sentence of the reader's own, which is computed here when
// it is asked for; the attribute decoder says where these layers lie.
import { escaped, make, say } from "./elements.js";
import { Recorded, cells, packed, recording, rowOf, unpacked } from "./recorded.js";
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
const OWN = "own"; // the choice in the list of texts
const OWN_FORM = `
  <label class="lab-sentence">A sentence of your own <input name="own" maxlength="200" required
    autocomplete="off" spellcheck="false" value="My dog ate my homework, so my teacher was not happy."></label>
  <div><button>Read it (loads 20 MB)</button> <button type="button" hidden>Stop</button>
    <progress aria-label="Loaded" hidden></progress></div>
  <p class="lab-note" role="status"></p>
  <div class="own-cut off"><label><span></span> <select name="line"></select></label>
    <button type="button" hidden>Put it back</button></div>`;
const MISSING = "This site was built without the model, so there is no sentence of your own.";
const START = { text: "capitals", change: "as-published", view: "mean", layer: LAYERS - 1 };

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

/** How many layers a recording has. */
const layersOf = ({ lengths: [first] }) => first.length - 1;

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

/** How far a token's vector (of n rows) has moved, as a share of its old length. */
export function distance(now, before, token, n) {
  const d = before.length / n;
  const row = (all) => Array.from(all.slice(token * d, (token + 1) * d));
  const old = row(before);
  return Math.hypot(...row(now).map((value, i) => value - old[i])) / Math.hypot(...old);
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
    const name = `${text}-${change}`;
    if (text === OWN) return (this.files[name] ??= this.computed(this.sentence, change));
    return (this.files[name] ??= recording(`one-token/${name}.json`));
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
    if (this.picture) this.prepend(this.picture, this.words);
    if (this.picture) this.offer();
    this.picture?.addEventListener("click", ({ target }) => {
      const { token, layer } = target.closest("[data-token], [data-layer]")?.dataset ?? {};
      if (token) this.form.elements.token.value = token;
      if (layer) this.form.elements.layer.value = layer;
      if (token || layer) this.form.dispatchEvent(new Event("input"));
    });
  }

  /** A place to type, where the site has the layers. */
  offer() {
    const place = make("form", { className: "own-sentence token-own" });
    this.form.after(place);
    if (!this.hasAttribute("decoder")) {
      place.innerHTML = `<p class="lab-note">${MISSING}</p>`;
      return;
    }
    place.innerHTML = OWN_FORM;
    const [go, stop, mend] = place.querySelectorAll("button");
    const line = place.elements.line;
    line.addEventListener("change", () => this.cut(Number(line.value)));
    mend.addEventListener("click", () => {
      this.replace(this.data.whole);
      line.focus();
    });
    Object.assign(this, { go, stop, mend, line, bar: place.querySelector("progress"), note: place.querySelector("p") });
    const { own } = place.elements;
    own.value = this.address.get(OWN) ?? own.value;
    if (this.address.get(OWN)) this.say("The link is to this sentence, which is not read yet.");
    place.addEventListener("submit", (event) => {
      event.preventDefault();
      this.read(own.value);
    });
    stop.addEventListener("click", () => {
      this.hired?.stop();
      this.settle((wait) => wait.reject(new Error("Stopped.")));
      go.focus();
    });
  }

  /** Show a sentence as one of the texts, once it is computed. */
  async read(sentence) {
    const { text, change } = this.form.elements;
    const name = `${OWN}-${change.value}`;
    let data;
    try {
      data = await this.computed(sentence, change.value);
    } catch (error) {
      if (error) this.say(error.message);
      return;
    }
    this.sentence = sentence;
    for (const each of Object.keys(CHANGES)) delete this.files[`${OWN}-${each}`];
    this.files[name] = Promise.resolve(data);
    if (!text.querySelector(`[value=${OWN}]`)) text.add(new Option("your sentence", OWN));
    text.value = OWN;
    this.keep();
    await this.draw();
    this.scrollIntoView(); // it stands above what was typed
  }

  /** Cut the line of the chosen token, layer and head to a key. */
  async cut(key) {
    const { change, token, layer, view } = this.values();
    const line = [layer, Number(view), token, key];
    const whole = this.data.whole ?? this.data;
    let data;
    try {
      data = { ...(await this.computed(this.sentence, change, line)), line, whole };
    } catch (error) {
      if (error) this.say(error.message);
      return;
    }
    this.replace(data);
    const moved = distance(data.vectors, whole.vectors, token, whole.tokens.length);
    const [from, to] = [token, key].map((each) => `“${plain(whole.tokens[each])}”`);
    const weight = told(lookAt(whole, token, layer, view)[key]);
    this.say(`Cut: head ${layer}.${view} from ${from} to ${to}, weight ${weight}. After layer ${layersOf(whole) - 1}, the vector of ${from} has moved by ${told(moved)} of its length.`);
  }

  /** Show another computation of the same sentence. */
  replace(data) {
    this.files[`${OWN}-${this.values().change}`] = Promise.resolve(data);
    this.say("");
    return this.draw();
  }

  /** Which lines can be cut: those of one head of a sentence that was computed here. */
  offerCut({ text, token, layer, view }) {
    const place = this.line?.closest("div");
    if (!place) return;
    place.classList.toggle("off", text !== OWN || !token);
    this.mend.hidden = !this.data.line;
    this.line.disabled = view === "mean";
    const head = this.line.disabled ? "Choose one head in “weights” to cut a line of" : `Cut the line of head ${layer}.${view} from`;
    const { tokens, line } = this.data;
    place.querySelector("span").textContent = `${head} “${plain(tokens[token])}” to`;
    this.line.replaceChildren(new Option("…"), ...tokens.slice(0, token + 1).map((each, key) => new Option(plain(each), key)));
    this.line.options[0].disabled = true;
    if (line?.slice(0, 3).join() === [layer, view, token].join()) this.line.value = line[3];
  }

  /** The recording of a sentence, from the worker: of several, the last. */
  computed(sentence, change, line) {
    this.settle((wait) => wait.reject());
    return new Promise((resolve, reject) => {
      this.wait = { sentence, change, line, resolve, reject };
      this.work(true);
      this.say(this.loaded ? "Computing …" : "Loading eight layers of the model …");
      this.hire().then(
        (hired) => this.wait && hired.ask({ text: this.wait.sentence, change: this.wait.change, line: this.wait.line }),
        () => this.heard({ failed: "its worker could not be loaded" }),
      );
    });
  }

  /** Who computes: loaded when a sentence is first asked for. */
  async hire() {
    const { Hired } = await import("./hired.js");
    return (this.hired ??= new Hired("decoder-worker.js", this.getAttribute("decoder"), (answer) => this.heard(answer)));
  }

  /** End the waiting for a sentence; ``tell`` resolves or rejects its promise. */
  settle(tell) {
    const { wait } = this;
    this.wait = undefined;
    if (wait) tell(wait);
    this.work(false);
  }

  work(on) {
    this.stop.hidden = !on;
    this.bar.hidden = !on;
    this.bar.removeAttribute("value");
  }

  say(words) {
    say(this.note, words);
  }

  /** What the worker says: how much is here, what it found, or why it cannot. */
  heard({ here, whole, failed, text, change, line, tokens, cut, weights, lengths, vectors }) {
    if (here !== undefined) {
      if (whole) Object.assign(this.bar, { max: whole, value: here });
      if (here === whole) this.say("Computing …");
    } else if (failed) this.settle((wait) => wait.reject(new Error(`This did not work: ${failed}. Try again.`)));
    else if (text === this.wait?.sentence && change === this.wait.change && String(line) === String(this.wait.line)) {
      this.loaded = true;
      this.go.textContent = "Read it";
      const lost = cut ? ` The last ${cut} are left out.` : "";
      this.say(`${tokens.length} tokens, computed on this device.${lost}`);
      const data = { text: `${OWN} ${text}`, tokens, weights: packed(weights, tokens.length), lengths, vectors };
      this.settle((wait) => wait.resolve(data));
    }
  }

  keep() {
    super.keep();
    const mine = this.form.elements.text.value === OWN;
    this.address.set({ own: mine ? this.sentence : undefined });
  }

  /** Draw what the knobs say, once its recording is here. */
  async draw() {
    const { text, change } = this.values();
    const given = this.file(text, change);
    const another = () => this.values().text !== text || this.values().change !== change;
    let data;
    try {
      data = await given;
    } catch (error) {
      const name = `${text}-${change}`;
      if (this.files[name] === given) delete this.files[name]; // the next move of a knob tries again
      if (another() || this.files[name]) return;
      if (text === OWN) this.back(error?.message);
      else this.words.textContent = "This recording could not be loaded. Choose it again to try again.";
      return;
    }
    if (another()) return; // another one was chosen meanwhile
    const { token, layer } = this.form.elements;
    if (data.text !== this.data.text) {
      token.max = data.tokens.length - 1;
      token.value = token.max;
      layer.max = layersOf(data) - 1;
      this.keep();
    }
    Object.assign(this, { data, drawn: change });
    this.classList.toggle(OWN, text === OWN);
    super.draw();
    this.offerCut(this.values());
  }

  /** The sentence cannot be had with this change: the knobs say again what is drawn. */
  back(words) {
    this.form.elements.change.value = this.drawn;
    if (words) this.say(words);
    this.keep();
    super.draw();
  }

  show({ token, layer, view }) {
    const { tokens, likely } = this.data;
    const row = lookAt(this.data, token, layer, view);
    const who = `“${plain(tokens[token])}”`;
    const look = `Layer ${layer}, ${VIEWS[view]}: ${who} looks at ${strongest(tokens, row)}.`;
    const longer = `The first token's vector is ${times(timesLonger(this.data, layer + 1))} times as long as the others.`;
    let next = "The next token is decided in layers that are not computed here.";
    let [before, after] = ["", ""];
    if (likely) {
      const [[likeliest, chance]] = likelyAfter(this.data, token, layer + 1);
      next = `After it, the likeliest next token is “${plain(likeliest)}” (${told(chance)}).`;
      [before, after] = [this.likeliest(token, layer), this.losses(token)];
    }
    const heads = `<div class="token-side">${before}${this.heads(token, layer, view)}${after}</div>`;
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
    const { tokens, likely } = this.data;
    const rows = Array.from({ length: layersOf(this.data) }, (_, each) => {
      const row = lookAt(this.data, token, each, view);
      const kind = each === layer ? ` class="met"` : "";
      let next = "";
      if (likely) {
        const [[word, chance]] = likelyAfter(this.data, token, each + 1);
        next = `<td class="word"><span style="--share: ${chance.toFixed(3)}">${named(word)}</span></td>`;
      }
      return `<tr${kind} data-layer="${each}"><th scope="row">${each}</th><td>${cells(row, escaped(strongest(tokens, row)))}</td>
        ${next}<td>${times(timesLonger(this.data, each + 1))}</td></tr>`;
    });
    const which = likely ? "each layer" : `each of the first ${rows.length} of ${LAYERS} layers`;
    const also = likely ? "the likeliest next token, and " : "";
    const head = likely ? `<th scope="col">next</th>` : "";
    return `<table class="token-layers"><caption>In ${which}: where the token looks. After it: ${also}how many times longer the first token's vector is than the others.</caption><thead><tr><th scope="col">layer</th><th scope="col">looks at</th>
      ${head}<th scope="col">× first</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
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
