// <norm-compare>: four numbers, shifted and stretched, and what two norms make of them.
import { Toy, bars, range, told } from "./toy.js";
import { dot } from "./reader.js";

const X = [3, 4, -1, 2];
const mean = (values) => values.reduce((a, b) => a + b) / values.length;
const rms = (values) => Math.sqrt(mean(values.map((value) => value ** 2)) + 1e-5);

export const rmsNorm = (x) => x.map((value) => value / rms(x));
export const layerNorm = (x) => rmsNorm(x.map((value) => value - mean(x)));
export const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

class NormCompare extends Toy {
  knobs() {
    return (
      range("stretch", "multiply by", { min: -2, max: 4, step: 0.5, value: 0 }) +
      range("shift", "then add", { min: -5, max: 5, step: 0.5, value: 0 })
    );
  }

  show({ stretch, shift }) {
    const factor = 2 ** stretch;
    const x = X.map((value) => factor * value + shift);
    const made = [x, rmsNorm(x), layerNorm(x)];
    const largest = made.map((values) => Math.max(1, ...values.map(Math.abs)));
    const rows = x.map((_, i) => [i, ...made.map((values, k) => [told(values[i]), Math.abs(values[i]) / largest[k]])]);
    const [kept, turned] = [rmsNorm(x), layerNorm(x)].map((values) => told(cosine(x, values)));
    return {
      shown: { stretch: told(factor), shift: told(shift, 1) },
      picture: bars("Four numbers", ["", "x", "RMSNorm", "LayerNorm"], rows),
      words: `Cosine with x: RMSNorm ${kept}, LayerNorm ${turned}. Mean afterwards: RMSNorm ${told(mean(rmsNorm(x)))}, LayerNorm ${told(mean(layerNorm(x)))}.`,
    };
  }
}

customElements.define("norm-compare", NormCompare);
