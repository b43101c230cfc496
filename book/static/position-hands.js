// <position-hands>: two positions as hands of four clocks, and their dot product.
import { Toy, range, told } from "./toy.js";
import { dot, positions } from "./reader.js";

const D = 8;

/** The encodings of positions p and p + k, and their dot product. */
export function pairAt(p, k) {
  const rows = positions(p + k + 1, D);
  const [here, there] = [rows[p], rows[p + k]];
  return { here, there, product: dot(here, there) };
}

class PositionHands extends Toy {
  knobs() {
    return range("p", "position p", { max: 100, value: 1 }) + range("k", "offset k", { max: 100, value: 1 });
  }

  /** One clock with its two hands, and the numbers of both. */
  dial(i, hands) {
    const lines = hands.map(
      ([sine, cosine], n) => `<path class="${"qk"[n]}" d="M0 0 L${(40 * sine).toFixed(1)} ${(-40 * cosine).toFixed(1)}"/>`,
    );
    const numbers = hands.map((hand, n) => `<span class="${"qk"[n]}">${hand.map((value) => told(value)).join(", ")}</span>`);
    return `<figure><svg viewBox="-46 -46 92 92" aria-hidden="true"><circle r="44"/>${lines.join("")}</svg><figcaption>dims ${2 * i}, ${2 * i + 1}${numbers.join("")}</figcaption></figure>`;
  }

  show({ p, k }) {
    const { here, there, product } = pairAt(p, k);
    const dials = Array.from({ length: D / 2 }, (_, i) =>
      this.dial(i, [here, there].map((row) => row.slice(2 * i, 2 * i + 2))),
    );
    return {
      picture: `<div class="toy-dials">${dials.join("")}</div>`,
      words: `Positions ${p} (solid, upper numbers) and ${p + k} (dashed, lower numbers): dot product ${told(product)}, of at most ${D / 2}.`,
    };
  }
}

customElements.define("position-hands", PositionHands);
