// <map-scale>: scores of four shapes, sharper or flatter, on either color scale.
import { Toy, check, choice, grid, range, told } from "./toy.js";
import { softmax } from "./reader.js";

const N = 6;
const SHAPES = {
  diagonal: (i, j) => Number(i === j),
  focused: (i, j) => Number(j === 1),
  local: (i, j) => -Math.abs(i - j),
  random: (i, j) => ((7 * i * i + 5 * j + 3 * i * j) % 11) / 5 - 1, // no pattern is meant
};

/** The weights (6, 6) of a shape whose scores are multiplied by a strength. */
export const weightsOf = (shape, strength) =>
  Array.from({ length: N }, (_, i) =>
    softmax(Array.from({ length: N }, (_, j) => strength * SHAPES[shape](i, j))),
  );

class MapScale extends Toy {
  knobs() {
    const names = { random: "random", diagonal: "diagonal", focused: "focused", local: "local" };
    return (
      choice("shape", "scores", names) +
      range("strength", "strength", { max: 4, step: 0.05, value: 0.1 }) +
      check("own", "a color scale of its own", true)
    );
  }

  show({ shape, strength, own }) {
    const weights = weightsOf(shape, strength);
    const [low, high] = [Math.min(...weights.flat()), Math.max(...weights.flat())];
    const share = (w) => (own ? (high > low ? (w - low) / (high - low) : 0) : w);
    const seen = `weights from ${told(low)} to ${told(high)}`;
    const scale = own ? `${told(low)} to ${told(high)}` : "0 to 1";
    const cells = weights.map((row) => row.map((weight) => [share(weight)]));
    const map = grid(cells, `Map of 6 by 6 weights, queries by keys, ${seen}, colors from ${scale}`);
    return {
      shown: { strength: told(strength) },
      picture: `<div class="map-axes"><span>query</span>${map}<span aria-hidden="true">key, colors from ${scale}</span></div>`,
      words: `${seen[0].toUpperCase()}${seen.slice(1)}; an even spread would be 0.17 everywhere.`,
    };
  }
}

customElements.define("map-scale", MapScale);
