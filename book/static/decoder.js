// SmolLM2, the decoder of chapter 11, in plain JavaScript: tokens, and its first layers.
// decoder_file.py writes what read() and rowsOf() read, in the blocks of the published
// file; test_decoder.py compares with PyTorch.
import { attend, gather, linear } from "./encoder.js";

const BLOCK = 32; // numbers that share a scale
const WIDE = 20; // bytes of a block of four-bit numbers: scale, offset, pairs of numbers
const ROUND = 34; // bytes of a block of eight-bit numbers: scale, numbers

/** What a half-precision number is; the file has no infinite ones. */
const half = (bits) => {
  const size = bits & 0x7c00 ? 2 ** (((bits >> 10) & 31) - 25) * (1024 + (bits & 1023)) : 2 ** -24 * (bits & 1023);
  return bits & 0x8000 ? -size : size;
};

/** The model in a file: its tokens by number, its norms, and the blocks of its matrices. */
export function read(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const numberOf = new Map(head.tokens.map((token, number) => [token, number]));
  return { ...head, numberOf, blocks: new Uint8Array(buffer, 4 + length) };
}

/** A matrix as float32: in each block, numbers from 0 to 15, times a scale, plus an offset. */
function matrixOf({ matrices, blocks }, name) {
  const [rows, columns, start] = matrices[name];
  const result = new Float32Array(rows * columns);
  for (let at = start, i = 0; i < result.length; at += WIDE, i += BLOCK) {
    const scale = half(blocks[at] | (blocks[at + 1] << 8));
    const offset = half(blocks[at + 2] | (blocks[at + 3] << 8));
    for (let j = 0; j < BLOCK / 2; j++) {
      const pair = blocks[at + 4 + j];
      result[i + j] = Math.fround(scale * (pair & 15)) + offset;
      result[i + j + BLOCK / 2] = Math.fround(scale * (pair >> 4)) + offset;
    }
  }
  return result;
}

/** The vectors (n, columns) of tokens, from the parts of the table in which they are. */
export function rowsOf({ columns, rows }, ids, parts) {
  const result = new Float32Array(ids.length * columns);
  ids.forEach((id, row) => {
    const bytes = parts.get(Math.floor(id / rows));
    let at = (((id % rows) * columns) / BLOCK) * ROUND;
    for (let i = row * columns; i < (row + 1) * columns; i += BLOCK, at += ROUND) {
      const scale = half(bytes[at] | (bytes[at + 1] << 8));
      for (let j = 0; j < BLOCK; j++) result[i + j] = scale * ((bytes[at + 2 + j] << 24) >> 24);
    }
  });
  return result;
}

// a digit, a contraction, a word, signs, spaces; a space sticks to what follows
const PIECES =
  /\p{Nd}|'(?:s|t|re|ve|m|ll|d)| ?[\p{L}\p{Nl}\p{No}]+| ?[^\p{L}\p{N}\s]+|\s+(?![^\s\p{Nd}])|\s+/gu;

/** GPT-2's alphabet: for each of the 256 bytes a character that can be seen. */
function byteLetters() {
  const seen = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  let others = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(seen(byte) ? byte : others++));
}
const LETTERS = byteLetters();
const BYTES = new Map(LETTERS.map((letter, byte) => [letter, byte]));

/** The tokens of one piece: merges that were learned early come first. */
function merged(piece, { numberOf, cuts }) {
  const letters = [...new TextEncoder().encode(piece)].map((byte) => LETTERS[byte]);
  const parts = letters.filter((letter) => numberOf.has(letter)); // a few control signs are not
  for (;;) {
    let best = Infinity;
    let place;
    for (let i = 0; i + 1 < parts.length; i++) {
      const number = numberOf.get(parts[i] + parts[i + 1]);
      // a token is made by one merge only, which cuts it there
      if (number < best && cuts[number] === parts[i].length) [best, place] = [number, i];
    }
    if (best === Infinity) return parts;
    parts.splice(place, 2, parts[place] + parts[place + 1]);
  }
}

/** Text to token ids; markers such as <|im_start|> are one token each. */
export function tokenize(text, model) {
  const escaped = model.special.map((name) => name.replace(/[|]/g, "\\$&"));
  const parts = text.split(new RegExp(`(${escaped.join("|")})`));
  const found = parts.flatMap((part, i) =>
    i % 2 ? [part] : (part.match(PIECES) ?? []).flatMap((piece) => merged(piece, model)),
  );
  return found.map((token) => model.numberOf.get(token));
}

/** A token as text. */
export function wordOf(id, { tokens }) {
  const bytes = [...tokens[id]].map((letter) => BYTES.get(letter));
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

/** Each row of x divided by its root mean square, then scaled. */
function normalize(x, weight, eps) {
  const d = weight.length;
  const result = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += d) {
    const row = x.subarray(start, start + d);
    const size = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0) / d + eps);
    for (let j = 0; j < d; j++) result[start + j] = (row[j] / size) * weight[j];
  }
  return result;
}

/** Turn the pairs of numbers of each head (n, heads of d) by the angles of the position. */
function rotate(x, n, d, base, layout) {
  if (layout === "none") return;
  const [step, apart] = layout === "halves" ? [1, d / 2] : [2, 1];
  const width = x.length / n;
  for (let i = 0; i < n; i++)
    for (let pair = 0; pair < d / 2; pair++) {
      const angle = i * base ** ((-2 * pair) / d);
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      for (let at = i * width + pair * step; at < (i + 1) * width; at += d) {
        const [a, b] = [x[at], x[at + apart]];
        x[at] = a * cos - b * sin;
        x[at + apart] = a * sin + b * cos;
      }
    }
}

const silu = (z) => z / (1 + Math.exp(-z));
const CHANGES = {
  // which keys j a query i may look at; chapter 11 forbids the first from the fifth query on
  "no-sink": (i, j) => j > 0 || i < 4,
  window: (i, j) => i - j < 8,
};

/**
 * Vectors (n, d) on their way through the first layers, with something changed, and
 * perhaps one line [layer, head, query, key] cut: the weights (layers, heads, n, n),
 * before the first layer and after each the length of the first token's vector and the
 * lower median of the others', and the vectors after the last layer.
 */
export function follow(model, vectors, change, line) {
  const { layers, heads, share, base, eps, norms } = model;
  const n = vectors.length / model.columns;
  const may = CHANGES[change] ?? (() => true);
  const isCut = (...place) => line?.every((each, at) => each === place[at]);
  const layout = ["halves", "none"].includes(change) ? change : "pairs";
  const size = heads * n * n;
  const weights = new Float32Array(layers * size);
  const lengths = [[], []];
  const measure = (x) => {
    const all = Array.from({ length: n }, (_, i) => Math.hypot(...x.subarray(i * model.columns, (i + 1) * model.columns)));
    const others = all.slice(1).sort((a, b) => a - b);
    lengths[0].push(all[0]);
    lengths[1].push(others[Math.floor((n - 2) / 2)] ?? all[0]);
  };
  const sum = (x, y) => x.map((value, i) => value + y[i]);
  let x = vectors;
  measure(x);
  for (let layer = 0; layer < layers; layer++) {
    const part = (name, input) => {
      const matrix = { [`${name}.weight`]: matrixOf(model, `${layer}.${name}`) };
      return linear({ vectors: matrix, matrices: { [`${name}.weight`]: model.matrices[`${layer}.${name}`] } }, name, input, n);
    };
    const mine = weights.subarray(layer * size, (layer + 1) * size);
    let h = normalize(x, norms[`${layer}.attn_norm`], eps);
    const [q, k, v] = ["attn_q", "attn_k", "attn_v"].map((name) => part(name, h));
    for (const turned of [q, k]) rotate(turned, n, model.columns / heads, base, layout);
    const allowed = (i, j, head) => j <= i && may(i, j) && !isCut(layer, head, i, j);
    attend(q, k, n, heads, mine, { share, allowed });
    x = sum(x, part("attn_output", gather(mine, v, n, heads, share)));
    h = normalize(x, norms[`${layer}.ffn_norm`], eps);
    const up = part("ffn_up", h);
    x = sum(x, part("ffn_down", part("ffn_gate", h).map((z, i) => silu(z) * up[i])));
    measure(x);
  }
  return { weights, lengths, vectors: x };
}
