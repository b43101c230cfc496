// <cache-steps>: which scores a step computes, with a cache and without.
import { Toy, check, grid, range } from "./toy.js";

const N = 12;

/** Scores and projected keys up to token t, with a cache or anew in each step. */
export function countsOf(t, cached) {
  const steps = Array.from({ length: t }, (_, i) => i + 1);
  const sum = (each) => steps.map(each).reduce((a, b) => a + b, 0);
  return { scores: sum((s) => (cached ? s : (s * (s + 1)) / 2)), keys: sum((s) => (cached ? 1 : s)) };
}

class CacheSteps extends Toy {
  knobs() {
    return range("t", "token", { min: 1, max: N, value: 5 }) + check("cached", "keep keys and values");
  }

  show({ t, cached }) {
    const kind = (i, j) => {
      if (j > i || i >= t) return [0];
      return i === t - 1 ? [1] : cached ? [0.2] : [1, "again"];
    };
    const cells = Array.from({ length: N }, (_, i) => Array.from({ length: N }, (_, j) => kind(i, j)));
    const now = cached ? t : (t * (t + 1)) / 2;
    const { scores, keys } = countsOf(t, cached);
    const both = [true, false].map((kept) => countsOf(1000, kept));
    const ratio = Math.round(both[1].scores / both[0].scores);
    const rest = cached ? "the pale ones are not needed again" : `${now - t} of them for the second time or more often`;
    return {
      picture: grid(cells, `Queries down, keys across: step ${t} computes ${now} scores`, "query ↓ key →"),
      words: `Step ${t} computes ${now} scores, ${rest}. Up to here: ${scores} scores and ${keys} keys. After 1000 tokens, without a cache: ${ratio} times the scores.`,
    };
  }
}

customElements.define("cache-steps", CacheSteps);
