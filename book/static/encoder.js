// MiniLM, the encoder of chapter 7, in plain JavaScript: word pieces, embeddings, layers.
// encoder_file.py writes what read() reads; test_encoder.py compares with PyTorch. The
// decoder of chapter 11 (decoder.js) computes with the same parts.

/** The model in a file: its tokens by number, vectors and matrices by name. */
export function read(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const sizes = Object.values(head.matrices).map(([rows, columns]) => rows * columns);
  const numbers = sizes.reduce((a, b) => a + b);
  const floats = Object.values(head.vectors).reduce((sum, [, size]) => sum + size, 0);
  let start = 4 + length;
  const vectors = {};
  for (const [name, [offset, size]] of Object.entries(head.vectors))
    vectors[name] = new Float32Array(buffer, start + 4 * offset, size);
  start += 4 * floats;
  const upper = new Int8Array(buffer, start, numbers);
  const lower = new Uint8Array(buffer, start + numbers, numbers / 2);
  const numberOf = new Map(head.tokens.map((token, number) => [token, number]));
  const model = { ...head, vectors, upper, lower, numberOf };
  for (const name of Object.keys(head.matrices))
    if (name.startsWith("layers.")) vectors[name] = rowsOf(model, name);
  return model;
}

/** Rows of a matrix as float32: multiples of the row's step, kept in two parts. */
function rowsOf({ matrices, vectors, upper, lower }, name, first = 0, count = Infinity) {
  const [rows, columns, offset] = matrices[name];
  const steps = vectors[`${name}.steps`];
  const end = Math.min(rows, first + count);
  const result = new Float32Array((end - first) * columns);
  let at = offset + first * columns;
  for (let row = first, i = 0; row < end; row++)
    for (let column = 0; column < columns; column++, i++, at++)
      result[i] = (upper[at] * 16 + ((lower[at >> 1] >> (4 * (at & 1))) & 15)) * steps[row];
  return result;
}

/** The longest known beginning of a word, then the longest known "##" pieces. */
function pieces(word, numberOf) {
  const letters = [...word];
  const found = [];
  for (let start = 0; start < letters.length; ) {
    let end = letters.length;
    const piece = () => (start ? "##" : "") + letters.slice(start, end).join("");
    while (end > start && !numberOf.has(piece())) end--;
    if (end === start) return ["[UNK]"];
    found.push(piece());
    start = end;
  }
  return found;
}

/** [CLS], the pieces of every lower-cased word and punctuation mark, [SEP]. */
export function tokenize(text, { numberOf }) {
  const plain = text.toLowerCase().normalize("NFD").replace(/\p{Mn}/gu, "");
  const words = plain.match(/[\p{L}\p{N}]+|[^\p{L}\p{N}\s]/gu) ?? [];
  return ["[CLS]", ...words.flatMap((word) => pieces(word, numberOf)), "[SEP]"];
}

/** Rows x (n, columns) times a matrix (rows, columns), transposed, plus a bias, if any. */
export function linear({ vectors, matrices }, name, x, n) {
  const [rows, columns] = matrices[`${name}.weight`];
  const [weight, bias] = [vectors[`${name}.weight`], vectors[`${name}.bias`]];
  const result = new Float32Array(n * rows);
  // four rows of x at once, so that each weight is read once for all of them; where
  // fewer are left, they begin earlier, and some are computed twice
  for (let i = 0; i < n; i += 4) {
    const first = Math.max(0, Math.min(i, n - 4));
    const a = first * columns;
    const b = a + columns;
    const c = b + columns;
    const d = c + columns;
    for (let row = 0; row < rows; row++) {
      let p = bias ? bias[row] : 0;
      let q = p;
      let r = p;
      let s = p;
      const start = row * columns;
      for (let j = 0; j < columns; j++) {
        const w = weight[start + j];
        p += w * x[a + j];
        q += w * x[b + j];
        r += w * x[c + j];
        s += w * x[d + j];
      }
      result[first * rows + row] = p;
      result[(first + 1) * rows + row] = q;
      result[(first + 2) * rows + row] = r;
      result[(first + 3) * rows + row] = s;
    }
  }
  return result;
}

/** Each row of x + y: mean 0, variance 1, then scaled and shifted. */
function normalize({ vectors }, name, x, y) {
  const [scale, shift] = [vectors[`${name}.weight`], vectors[`${name}.bias`]];
  const d = scale.length;
  const result = x.map((value, i) => value + y[i]);
  for (let start = 0; start < x.length; start += d) {
    const row = result.subarray(start, start + d);
    const mean = row.reduce((sum, value) => sum + value, 0) / d;
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / d;
    const size = Math.sqrt(variance + 1e-12);
    for (let j = 0; j < d; j++) row[j] = ((row[j] - mean) / size) * scale[j] + shift[j];
  }
  return result;
}

/** The error function, to seven digits (Abramowitz and Stegun, 7.1.26). */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series =
    ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - series * Math.exp(-x * x));
}

const gelu = (x) => (x * (1 + erf(x / Math.SQRT2))) / 2;

/**
 * Write the weights (heads, n, n) of a layer into ``weights``. So many heads in a row
 * share their keys; a query i may look at the keys j that are allowed in its head.
 */
export function attend(queries, keys, n, heads, weights, { share = 1, allowed = () => true } = {}) {
  const d = queries.length / n;
  const dK = d / heads;
  const row = new Float64Array(n);
  for (let head = 0, at = 0; head < heads; head++) {
    const first = Math.floor(head / share) * dK;
    for (let i = 0; i < n; i++, at += n) {
      for (let j = 0; j < n; j++) {
        row[j] = 0;
        for (let c = 0; c < dK; c++) row[j] += queries[i * d + head * dK + c] * keys[(j * d) / share + first + c];
        if (!allowed(i, j, head)) row[j] = -Infinity;
      }
      const top = row.reduce((a, b) => Math.max(a, b));
      const powers = row.map((score) => Math.exp((score - top) / Math.sqrt(dK)));
      const sum = powers.reduce((a, b) => a + b);
      powers.forEach((power, j) => (weights[at + j] = power / sum));
    }
  }
}

/** Each head's mean of the values (n, d), of which so many heads share each part. */
export function gather(weights, values, n, heads, share = 1) {
  const dV = (values.length / n / heads) * share;
  const result = new Float32Array(n * heads * dV);
  for (let head = 0, at = 0; head < heads; head++)
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++, at++) {
        const from = (j * heads) / share * dV + Math.floor(head / share) * dV;
        const to = (i * heads + head) * dV;
        for (let c = 0; c < dV; c++) result[to + c] += weights[at] * values[from + c];
      }
  return result;
}

/** Weights (heads, n, n) of a layer, and what its heads hear (n, d). */
function attended({ queries, keys, values, n, heads }) {
  const weights = new Float32Array(heads * n * n);
  attend(queries, keys, n, heads, weights);
  return { weights, heard: gather(weights, values, n, heads) };
}

/** The weights (layers, heads, n, n) of all heads on a sentence; attention(layer's
 *  queries, keys, values) may be another way to compute what attended() does. */
export async function weightsOf(model, tokens, attention = attended) {
  const n = tokens.length;
  const words = tokens.map((token) => [...rowsOf(model, "words.weight", model.numberOf.get(token), 1)]);
  const places = rowsOf(model, "positions.weight", 0, n);
  let x = normalize(model, "norm", Float32Array.from(words.flat()), places);
  const size = model.heads * n * n;
  const weights = new Float32Array(model.layers * size);
  for (let layer = 0; layer < model.layers; layer++) {
    const part = (name, input) => linear(model, `layers.${layer}.${name}`, input, n);
    const last = layer === model.layers - 1; // nobody reads what it would say
    const [queries, keys] = [part("self_attn.W_q", x), part("self_attn.W_k", x)];
    const given = { queries, keys, values: last ? keys : part("self_attn.W_v", x), n, heads: model.heads };
    const found = (await attention(given)) ?? attended(given);
    weights.set(found.weights, layer * size);
    if (last) break;
    x = normalize(model, `layers.${layer}.norm1`, x, part("self_attn.W_o", found.heard));
    const thought = part("ffn.linear2", part("ffn.linear1", x).map(gelu));
    x = normalize(model, `layers.${layer}.norm2`, x, thought);
  }
  return weights;
}
