// <layer-stack>: vectors on their way through 24 layers, with and without two parts.
import { Toy, bars, check, choice, told } from "./toy.js";
import { dot, multiply as times, softmax } from "./reader.js";

const [N, D, DEPTH] = [12, 16, 24];

const length = (row) => Math.sqrt(dot(row, row));
const mean = (values) => values.reduce((a, b) => a + b) / values.length;
const normalized = (rows) =>
  rows.map((row) => {
    const middle = mean(row);
    const size = Math.sqrt(mean(row.map((value) => (value - middle) ** 2)) + 1e-5);
    return row.map((value) => (value - middle) / size);
  });

/** Mean length of the tokens' vectors, and their mean cosine with each other. */
export function measure(rows) {
  const sizes = rows.map(length);
  const cosines = rows.flatMap((a, i) => rows.map((b, j) => dot(a, b) / (sizes[i] * sizes[j])));
  return { size: mean(sizes), alike: mean(cosines) };
}

const attend = (x, { W_q, W_k, W_v, W_o }) => {
  const [q, k, v] = [W_q, W_k, W_v].map((matrix) => times(x, matrix));
  const weights = q.map((query) => softmax(k.map((key) => dot(query, key) / Math.sqrt(query.length))));
  return times(times(weights, v), W_o);
};
const think = (x, { W_1, W_2 }) =>
  times(times(x, W_1).map((row) => row.map((value) => Math.max(0, value))), W_2);

/** What is measured before the first layer and after each. norm: none, after, before. */
export function climb(x, layers, { residual, norm }) {
  const found = [measure(x)];
  for (const layer of layers) {
    for (const part of [attend, think]) {
      const made = part(norm === "before" ? normalized(x) : x, layer);
      x = residual ? x.map((row, i) => row.map((value, j) => value + made[i][j])) : made;
      if (norm === "after") x = normalized(x);
    }
    found.push(measure(x));
  }
  return found;
}

/** Normal numbers of a given size, the same in every browser (mulberry32, Box-Muller). */
function source(seed) {
  const uniform = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return (rows, width, size) => Array.from({ length: rows }, () => Array.from({ length: width }, () => size * normal()));
}

class LayerStack extends Toy {
  knobs() {
    const draw = source(6); // cosines as in the chapter's cell, whose vectors are four times as wide
    this.x = draw(N, D, 1);
    // as large as torch draws them: a variance of 1 / (3 inputs)
    const linear = (inputs, outputs) => draw(inputs, outputs, (3 * inputs) ** -0.5);
    this.layers = Array.from({ length: DEPTH }, () => {
      const [W_q, W_k, W_v, W_o] = [0, 0, 0, 0].map(() => linear(D, D));
      return { W_q, W_k, W_v, W_o, W_1: linear(D, 4 * D), W_2: linear(4 * D, D) };
    });
    const norms = { none: "nowhere", after: "after each part (post-norm)", before: "before each part (pre-norm)" };
    return check("residual", "add the input (residual)") + choice("norm", "normalize", norms);
  }

  show(settings) {
    const found = climb(this.x, this.layers, settings);
    const sizes = found.map(({ size }) => Math.log10(size));
    const [low, high] = [Math.min(-1, ...sizes), Math.max(2, ...sizes)];
    const written = (size) => (size < 0.01 || size >= 1000 ? size.toExponential(0).replace("-", "−") : size.toFixed(size < 10 ? 2 : 0));
    const rows = [0, 1, 2, 4, 8, 16, 24].map((depth) => {
      const { size, alike } = found[depth];
      return [depth, [written(size), (sizes[depth] - low) / (high - low)], [told(alike), alike]];
    });
    const { size, alike } = found[DEPTH];
    const same = alike > 0.99 ? "all tokens have become one" : "the tokens are still told apart";
    return {
      picture: bars(`${N} tokens in ${DEPTH} layers, not trained`, ["layer", "length (log)", "mean cosine"], rows),
      words: `After ${DEPTH} layers the vectors have length ${written(size)} and mean cosine ${told(alike)}: ${same}.`,
    };
  }
}

customElements.define("layer-stack", LayerStack);
