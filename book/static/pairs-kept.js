// <pairs-kept>: what chapter 13 measures of seven layers: which pairs are found again, and
// how many numbers are kept for that.
import { Toy, bars, check, range, told } from "./toy.js";

const LENGTHS = [4, 8, 16, 32, 64];
const D = 32;

/** Shares of right answers by number of pairs, as the chapter prints them. */
export const SHARES = {
  Softmax: { new: [1, 1, 1, 1, 1], update: [0.49, 0.51, 0.49, 0.5, 0.51] },
  Recent: { new: [1, 1, 1, 1, 0.82], update: [0.64, 0.76, 0.92, 1, 1] },
  Window: { new: [1, 1, 1, 0.52, 0.28], update: [0.5, 0.49, 0.5, 1, 0.52] },
  Latent: { new: [1, 1, 1, 1, 1], update: [0.4, 0.45, 0.42, 0.44, 0.46] },
  Linear: { new: [1, 0.99, 0.92, 0.7, 0.44], update: [0.51, 0.51, 0.46, 0.42, 0.32] },
  Delta: { new: [1, 0.99, 0.93, 0.7, 0.41], update: [0.99, 0.98, 0.95, 0.83, 0.62] },
  Hybrid: { new: [1, 1, 0.77, 0.57, 0.39], update: [0.53, 0.51, 0.96, 0.61, 0.39] },
};
const SAYS = {
  Softmax: "all keys and values",
  Recent: "the same, in order",
  Window: "the last 16 pairs",
  Latent: "16 numbers a pair",
  Linear: "one sum",
  Delta: "one sum, corrected",
  Hybrid: "8 pairs and half a sum",
};

/** How many numbers a layer keeps of n pairs. */
export const keptBy = (n) => ({
  Softmax: 2 * n * D,
  Recent: 2 * n * D,
  Window: 2 * Math.min(n, 16) * D,
  Latent: 16 * n,
  Linear: D * D,
  Delta: D * D,
  Hybrid: 2 * Math.min(n, 8) * D + 16 * D,
});

class PairsKept extends Toy {
  knobs() {
    return range("length", "pairs", { max: LENGTHS.length - 1, value: 3 }) + check("update", "updates: half of the keys come twice");
  }

  show({ length, update }) {
    const n = LENGTHS[length];
    const kept = keptBy(n);
    const most = 2 * LENGTHS.at(-1) * D;
    const kind = update ? "update" : "new";
    const share = (name) => SHARES[name][kind][length];
    const rows = Object.keys(SHARES).map((name) => [
      SAYS[name],
      [told(share(name)), share(name)],
      [kept[name].toLocaleString("en"), kept[name] / most],
    ]);
    const right = Object.keys(SHARES).filter((name) => share(name) >= 0.95);
    const fewest = Math.min(...right.map((name) => kept[name]));
    const best = right.filter((name) => kept[name] === fewest).map((name) => SAYS[name]);
    const found = right.length
      ? `The smallest memory that is right in 0.95 or more keeps ${fewest.toLocaleString("en")} numbers: ${best.join("; or ")}.`
      : "No layer is right in 0.95 of the cases.";
    return {
      shown: { length: n },
      picture: bars("seven layers, mean of three trainings", ["keeps", "right", "numbers kept"], rows),
      words: `${n} pairs${update ? ", the second half with the keys of the first" : ", each with a key of its own"}. ${found}`,
    };
  }
}

customElements.define("pairs-kept", PairsKept);
