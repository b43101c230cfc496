// Attention in five steps, with three tokens whose numbers the reader edits.
import { button, make } from "./elements.js";
import { dot, softmax } from "./reader.js";

const TOKENS = ["animal", "street", "it"];
const START = {
  Q: [[1, 0], [0, 1], [2, 0]],
  K: [[2, 0], [0, 2], [1, 1]],
  V: [[1, 0], [0, 1], [0, 0]],
};
const MEANING = { Q: "queries: to look for", K: "keys: to be found by", V: "values: to pass on" };
const STEPS = [
  ["Q · Kᵀ", "Every query meets every key: a dot product for each pair."],
  ["÷ √dₖ", "Each is divided by √2, as queries and keys are 2 numbers wide."],
  ["mask", "With a causal mask, nobody looks at what comes later."],
  ["softmax", "Each row becomes weights: positive, with the sum 1."],
  ["· V", "Each token gets the weighted average of all values."],
];

/** A number for the eye. */
const told = (x) =>
  x === -Infinity ? "−∞" : `${Math.round(x * 100) / 100}`.replace("-", "−");

/** All five steps: scores, scaled, masked, weights, output. */
export function stages({ Q, K, V }, causal) {
  const scores = Q.map((q) => K.map((k) => dot(q, k)));
  const scaled = scores.map((row) => row.map((score) => score / Math.sqrt(Q[0].length)));
  const masked = scaled.map((row, i) => row.map((score, j) => (causal && j > i ? -Infinity : score)));
  const weights = masked.map(softmax);
  const output = weights.map((row) => V[0].map((_, c) => dot(row, V.map((v) => v[c]))));
  return [scores, scaled, masked, weights, output];
}

export class ThreeTokens {
  constructor(state) {
    this.state = state;
    this.numbers = this.recall();
    this.step = state.number("step", STEPS.length, 0);
    this.cell = (/^[0-2]\.[0-2]$/.exec(state.get("cell"))?.[0] ?? "2.0").split(".").map(Number);
    this.causal = make("input", { type: "checkbox", checked: state.get("mask") === "1" });
    this.causal.addEventListener("input", () => this.changed());
    this.inputs = {};
    const given = make("div", { className: "steps-given" }, ...Object.keys(START).map((name) => this.table(name)));
    this.tabs = STEPS.map(([words], index) => button(words, () => this.go(index)));
    this.next = button("", () => this.go((this.step + 1) % STEPS.length));
    this.next.className = "steps-next";
    const again = button("The first numbers", () => this.fill(START));
    this.words = make("p", { className: "steps-words" });
    this.result = make("div", { className: "steps-result" });
    this.formula = make("p", { className: "pair-formula", role: "status" });
    const mask = make("label", {}, this.causal, " causal mask");
    const steps = make("div", { className: "steps-tabs", role: "group", ariaLabel: "Steps" }, ...this.tabs);
    this.element = make(
      "div",
      { className: "steps" },
      given,
      steps,
      this.words,
      this.result,
      this.formula,
      make("div", { className: "lab-settings" }, this.next, mask, again),
    );
    this.result.addEventListener("keydown", (event) => this.move(event));
    this.draw();
  }

  recall() {
    const read = (name) => {
      const found = (this.state.get(name) ?? "").split(",").map(Number);
      const fits = found.length === 6 && found.every(Number.isFinite);
      return fits ? [found.slice(0, 2), found.slice(2, 4), found.slice(4)] : structuredClone(START[name]);
    };
    return Object.fromEntries(Object.keys(START).map((name) => [name, read(name)]));
  }

  /** The numbers of Q, K or V, to be edited. */
  table(name) {
    const rows = TOKENS.map((token, i) => {
      const fields = this.numbers[name][i].map((value, c) => {
        const field = make("input", { type: "number", step: 0.5, value, ariaLabel: `${name}, ${token}, number ${c + 1}` });
        field.addEventListener("input", () => {
          if (field.value !== "" && Number.isFinite(field.valueAsNumber)) {
            this.numbers[name][i][c] = field.valueAsNumber;
            this.changed();
          }
        });
        return make("td", {}, field);
      });
      return make("tr", {}, make("th", { scope: "row", textContent: token }), ...fields);
    });
    this.inputs[name] = rows;
    const caption = make("caption", {}, make("b", { className: name.toLowerCase(), textContent: name }), ` ${MEANING[name]}`);
    return make("table", {}, caption, make("tbody", {}, ...rows));
  }

  fill(numbers) {
    this.numbers = structuredClone(numbers);
    for (const [name, rows] of Object.entries(this.inputs))
      rows.forEach((row, i) =>
        row.querySelectorAll("input").forEach((field, c) => (field.value = numbers[name][i][c])),
      );
    this.changed();
  }

  changed() {
    const kept = { step: this.step, cell: this.cell.join("."), mask: Number(this.causal.checked) };
    for (const [name, rows] of Object.entries(this.numbers)) kept[name] = rows.flat().join(",");
    this.state.set(kept);
    this.draw();
  }

  go(step) {
    this.step = step;
    this.changed();
  }

  choose(i, j) {
    if (this.cell[0] === i && this.cell[1] === j) return;
    this.cell = [i, j];
    this.changed();
  }

  move(event) {
    const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [0, 0];
    if (!down && !right) return;
    event.preventDefault();
    const { length } = this.values[0];
    this.choose((this.cell[0] + down + 3) % 3, (this.cell[1] + right + length) % length);
    this.result.querySelector("[tabindex='0']").focus();
  }

  draw() {
    const all = stages(this.numbers, this.causal.checked);
    this.values = all[this.step];
    const last = this.step === 4;
    const columns = last ? ["number 1", "number 2"] : TOKENS;
    const [i, j] = [this.cell[0], Math.min(columns.length - 1, this.cell[1])];
    this.tabs.forEach((tab, index) => (tab.ariaCurrent = index === this.step ? "step" : "false"));
    this.next.textContent = last ? "From the start" : `Next: ${STEPS[this.step + 1][0]}`;
    this.words.textContent = STEPS[this.step][1];
    const head = columns.map((words) => make("th", { scope: "col", textContent: words }));
    const rows = this.values.map((row, r) => {
      const cells = row.map((value, c) => {
        const press = button(told(value), () => this.choose(r, c));
        press.tabIndex = r === i && c === j ? 0 : -1;
        press.ariaPressed = String(r === i && c === j);
        press.addEventListener("focus", () => this.choose(r, c));
        const cell = make("td", {}, press);
        cell.addEventListener("pointerenter", () => this.choose(r, c));
        if (this.step === 3) cell.style.setProperty("--weight", value.toFixed(3));
        return cell;
      });
      return make("tr", {}, make("th", { scope: "row", textContent: TOKENS[r] }), ...cells);
    });
    const corner = make("td", { textContent: last ? "output" : "query ↓ key →" });
    const focused = this.result.contains(document.activeElement);
    this.result.replaceChildren(
      make("table", {}, make("thead", {}, make("tr", {}, corner, ...head)), make("tbody", {}, ...rows)),
    );
    if (focused) this.result.querySelector("[tabindex='0']").focus();
    const meets = { Q: this.step === 0 ? i : -1, K: this.step === 0 ? j : -1, V: -1 };
    for (const [name, lines] of Object.entries(this.inputs))
      lines.forEach((line, r) => line.classList.toggle("met", r === meets[name] || (last && name === "V")));
    this.explain(all, i, j);
  }

  /** The formula of one number, with the numbers that go into it. */
  explain([scores, scaled, masked, weights, output], i, j) {
    const { Q, K, V } = this.numbers;
    const part = (kind, value) => `<span class="${kind}">${told(value)}</span>`;
    const products = (left, right, kinds) =>
      left.map((value, n) => `${part(kinds[0], value)} × ${part(kinds[1], right[n])}`).join(" + ");
    const lines = [
      () => `<b class="q">${TOKENS[i]}</b> · <b class="k">${TOKENS[j]}</b>: ${products(Q[i], K[j], "qk")} = <b>${told(scores[i][j])}</b>`,
      () => `${told(scores[i][j])} / √2 = <b>${told(scaled[i][j])}</b>`,
      () =>
        masked[i][j] === -Infinity
          ? `“${TOKENS[j]}” comes after “${TOKENS[i]}”: its score becomes <b>−∞</b>`
          : `“${TOKENS[i]}” may look at “${TOKENS[j]}”: the score stays <b>${told(masked[i][j])}</b>`,
      () => {
        const powers = masked[i].map((score) => (score === -Infinity ? "0" : `e<sup>${told(score)}</sup>`));
        return `${powers[j]} / (${powers.join(" + ")}) = <b>${told(weights[i][j])}</b>`;
      },
      () => `${products(weights[i], V.map((v) => v[j]), ["soft", "v"])} = <b>${told(output[i][j])}</b>`,
    ];
    this.formula.innerHTML = lines[this.step]();
  }
}
