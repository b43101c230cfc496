// <score-scale>: eight scores of a width d_k, divided or not, and their weights.
import { Toy, bars, choice, range, told } from "./toy.js";
import { softmax } from "./reader.js";

const DRAWN = [1.3, -0.4, 0.6, -1.5, 0.1, 2.0, -0.9, 0.3]; // of variance 1
const DIVISORS = { none: () => 1, root: Math.sqrt, width: (dK) => dK };

/** Scores with the variance of a dot product of width d_k, divided; and their weights. */
export function weightsAt(dK, divisor) {
  const scores = DRAWN.map((value) => (value * Math.sqrt(dK)) / DIVISORS[divisor](dK));
  return { scores, weights: softmax(scores) };
}

class ScoreScale extends Toy {
  knobs() {
    const names = { none: "nothing", root: "√d_k", width: "d_k" };
    return range("width", "d<sub>k</sub>", { max: 10, value: 6 }) + choice("divisor", "divide by", names);
  }

  show({ width, divisor }) {
    const dK = 2 ** width;
    const { scores, weights } = weightsAt(dK, divisor);
    const largest = Math.max(...weights);
    const rows = scores.map((score, i) => [`key ${i}`, [told(score, 1)], [told(weights[i]), weights[i]]]);
    return {
      shown: { width: dK },
      picture: bars("One query, eight keys", ["", "score", "weight"], rows),
      words: `The largest weight is ${told(largest)}; its slope, p(1 − p), is ${told(largest * (1 - largest), 3)}.`,
    };
  }
}

customElements.define("score-scale", ScoreScale);
