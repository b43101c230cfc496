// <cost-counter>: operations and bytes of one layer, by length, width and heads.
import { Toy, bars, range, told } from "./toy.js";

/** Operations of the three parts of a layer, and bytes of its weights (4 a number). */
export const costOf = (n, d, heads) => ({
  core: 4 * n ** 2 * d,
  projections: 8 * n * d ** 2,
  ffn: 16 * n * d ** 2,
  bytes: 4 * heads * n ** 2,
});

/** 12 000 000 as "12 M". */
export function short(value) {
  const sizes = [[1e15, " P"], [1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]];
  const [size, unit] = sizes.find(([least]) => value >= least) ?? [1, " "];
  return `${Number((value / size).toPrecision(3))}${unit}`;
}

class CostCounter extends Toy {
  knobs() {
    return (
      range("length", "tokens n", { min: 4, max: 18, value: 9 }) +
      range("width", "width d", { min: 6, max: 14, value: 10 }) +
      range("split", "heads", { max: 6, value: 4 })
    );
  }

  show({ length, width, split }) {
    const [n, d, heads] = [length, width, split].map((power) => 2 ** power);
    const { core, projections, ffn, bytes } = costOf(n, d, heads);
    const whole = core + projections + ffn;
    const row = (name, count) => [name, [`${short(count)} (${told((100 * count) / whole, 0)} %)`, count / whole]];
    const rows = [row("core, 4n²d", core), row("projections, 8nd²", projections), row("FFN, 16nd²", ffn)];
    const side = n < 6 * d ? "below" : n > 6 * d ? "above" : "at";
    return {
      shown: { length: n, width: d, split: heads },
      picture: bars("Operations of one layer", ["", "operations"], rows),
      words: `The core is half of the work at n = 6d = ${6 * d}; ${n} is ${side} that. All weights of the layer, ${heads} × ${n}² numbers of 4 bytes, take ${short(bytes)}B.`,
    };
  }
}

customElements.define("cost-counter", CostCounter);
