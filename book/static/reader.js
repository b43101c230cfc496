// The small reader of chapter 7: its arithmetic, and its numbers in lab.json.
import { make } from "./elements.js";

/** softmax of one row of scores; -Infinity gets the weight 0. */
export function softmax(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}

export const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const columns = (matrix) => matrix[0].map((_, j) => matrix.map((row) => row[j]));
export const multiply = (rows, matrix) => {
  const across = columns(matrix);
  return rows.map((row) => across.map((column) => dot(row, column)));
};
const add = (a, b) => a.map((row, i) => row.map((value, j) => value + b[i][j]));

/** The scores (n, n) of queries (n, d_k) and keys (n, d_k); -Infinity behind a mask. */
export const compare = (queries, keys, { divisor, causal }) =>
  queries.map((query, i) =>
    keys.map((key, j) => (causal && j > i ? -Infinity : dot(query, key) / divisor)),
  );

/** The weights (n, n) of queries (n, d_k) on keys (n, d_k). */
export const weigh = (...given) => compare(...given).map(softmax);

/** Sinusoidal positions (n, d), as in chapter 5. */
export const positions = (n, d) =>
  Array.from({ length: n }, (_, position) =>
    Array.from({ length: d }, (_, i) => {
      const angle = position / 10000 ** ((i - (i % 2)) / d);
      return i % 2 ? Math.cos(angle) : Math.sin(angle);
    }),
  );

/** Normalize each row to mean 0 and variance 1, then scale and shift it. */
function normalize(rows, [scale, shift]) {
  return rows.map((row) => {
    const mean = row.reduce((a, b) => a + b) / row.length;
    const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length;
    return row.map((x, j) => ((x - mean) / Math.sqrt(variance + 1e-5)) * scale[j] + shift[j]);
  });
}

/** Has the reader a vector for this word? "constructor" is in every object. */
export const knows = (model, word) => Object.hasOwn(model.words, word);

/**
 * The scores (n, n) of the reader's second step; their softmax are its weights.
 *
 * Its first step lets the tokens exchange what they know; then queries and keys of
 * width dK are compared, made by the trained or by fresh random projections. A word
 * that the reader does not know has the vector 0.
 */
export function scoresOf(model, tokens, { dK, temperature, trained, scaled, causal }) {
  const d = model.look_q.length;
  const unknown = Array(d).fill(0);
  const words = tokens.map((token) => (knows(model, token) ? model.words[token] : unknown));
  let x = add(words, positions(tokens.length, d));
  const [q, k, v] = ["W_q", "W_k", "W_v"].map((name) => multiply(x, model[name]));
  const context = multiply(weigh(q, k, { divisor: Math.sqrt(d), causal }), v);
  x = normalize(add(x, multiply(context, model.W_o)), model.norm);
  const kind = trained ? "look" : "fresh";
  const [queries, keys] = [`${kind}_q`, `${kind}_k`].map((name) =>
    multiply(x, model[name].map((row) => row.slice(0, dK))),
  ); // (n, dK)
  const divisor = temperature * (scaled ? Math.sqrt(dK) : 1);
  return compare(queries, keys, { divisor, causal });
}

/** The weights (n, n) of the reader's second step. */
export const attend = (...given) => scoresOf(...given).map(softmax);

export const LONGEST = 16; // words of a sentence

/** The words of a sentence, as the reader takes them. */
export const tokensOf = (sentence) => sentence.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? [];

/** All words that the reader knows, in a fold. */
export function wordsOf(model) {
  const known = Object.keys(model.words).sort();
  const summary = make("summary", {}, `The ${known.length} words that this small reader knows`);
  return make("details", { className: "lab-words" }, summary, make("p", {}, known.join(", ")));
}

let model; // loaded once per page, when the first element needs it
export const load = () =>
  (model ??= fetch(new URL("lab.json", import.meta.url)).then((answer) => answer.json()));
