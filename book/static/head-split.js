// <head-split>: the columns of Q and K, cut into heads, and the map of each head.
import { Toy, choice, grid, told } from "./toy.js";
import { dot, softmax } from "./reader.js";

const TOKENS = ["the", "cat", "sat", "down"];
// made by hand: what one looks for, and what one offers, in eight columns
const Q = [
  [0, 2, 0, 0, 1, 0, 2, 0],
  [1, 0, 0, 2, 0, 0, 2, 1],
  [0, 3, 1, 0, 3, 0, 0, 0],
  [0, 0, 3, 0, 0, 1, 0, 3],
];
const K = [
  [0, 0, 0, 1, 0, 0, 2, 0],
  [0, 3, 0, 0, 0, 0, 2, 0],
  [0, 0, 3, 0, 1, 0, 0, 0],
  [2, 0, 0, 0, 3, 0, 0, 2],
];

/** The weights (n_heads, n, n): head h has the columns h·d_k to (h + 1)·d_k − 1. */
export function mapsOf(queries, keys, heads) {
  const dK = queries[0].length / heads;
  return Array.from({ length: heads }, (_, h) => {
    const own = (row) => row.slice(h * dK, (h + 1) * dK);
    return queries.map((query) =>
      softmax(keys.map((key) => dot(own(query), own(key)) / Math.sqrt(dK))),
    );
  });
}

class HeadSplit extends Toy {
  knobs() {
    const queries = Object.fromEntries(TOKENS.map((token) => [token, token]));
    const heads = { 1: "1", 2: "2", 4: "4", 8: "8" };
    return choice("heads", "heads", heads, "2") + choice("token", "query", queries, "sat");
  }

  /** Rows of Q or K, their columns colored by head. */
  columns(name, rows, dK, asked) {
    const cell = (value, c) => `<td class="head${Math.floor(c / dK) % 3}${c % dK ? "" : " first"}">${value}</td>`;
    const line = (row, i) =>
      `<tr${i === asked ? ' class="met"' : ""}><th scope="row">${TOKENS[i]}</th>${row.map(cell).join("")}</tr>`;
    return `<table class="toy-columns"><caption>${name}, by head</caption><tbody>${rows.map(line).join("")}</tbody></table>`;
  }

  show({ heads, token }) {
    const count = Number(heads);
    const dK = Q[0].length / count;
    const asked = TOKENS.indexOf(token);
    const maps = mapsOf(Q, K, count);
    const strongest = (row) => row.indexOf(Math.max(...row));
    const best = maps.map((rows) => `${TOKENS[strongest(rows[asked])]} ${told(Math.max(...rows[asked]))}`);
    const pictures = maps.map((rows, h) => {
      const cells = rows.map((row, i) => row.map((weight) => [weight, i === asked ? "asked" : ""]));
      return grid(cells, `Head ${h}: “${token}” looks most at ${best[h]}`, `head ${h}<br>${best[h]}`);
    });
    const wide = `${count} × ${dK} columns`;
    return {
      picture: `<div>${this.columns("Q", Q, dK, asked)}${this.columns("K", K, dK, -1)}</div><div class="toy-maps">${pictures.join("")}</div>`,
      words: `${wide}: “${token}” asks ${count === 1 ? "one question" : `${count} questions`}. Weights: ${count} × 4 × 4 = ${16 * count}. The four matrices have 4 × 8 × 8 = 256 numbers, for any number of heads.`,
    };
  }
}

customElements.define("head-split", HeadSplit);
