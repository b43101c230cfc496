// A worker that loads the first layers of the decoder once, and the parts of its table
// that a text needs, and answers each text with what its tokens look at.
import { follow, read, rowsOf, tokenize, wordOf } from "./decoder.js";
import { unpacked } from "./unpacking.js";

let model;
const parts = new Map();

addEventListener("message", async ({ data: { file, text, change, line } }) => {
  try {
    model = await (model ??= unpacked(file, postMessage).then(read));
    const all = tokenize(text, model);
    const ids = all.slice(0, model.longest);
    if (!ids.length) throw new Error("there is no token in it");
    const needed = new Set(ids.map((id) => Math.floor(id / model.rows)));
    const get = async (part) =>
      parts.set(part, new Uint8Array(await unpacked(new URL(`words-${part}.bin`, file))));
    await Promise.all([...needed].filter((part) => !parts.has(part)).map(get));
    const found = follow(model, rowsOf(model, ids, parts), change, line);
    const tokens = ids.map((id) => wordOf(id, model));
    postMessage({ text, change, line, ids, tokens, cut: all.length - ids.length, ...found }, [found.weights.buffer]);
  } catch (error) {
    if (model instanceof Promise) model = undefined; // the next text tries again
    postMessage({ failed: error.message });
  }
});
