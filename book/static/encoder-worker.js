// A worker that loads the encoder once, and answers each sentence with its weights. Where
// the attention is somebody's own, it asks for it, layer by layer.
import { read, tokenize, weightsOf } from "./encoder.js";
import { unpacked } from "./unpacking.js";

let model, heard;

/** Attention from outside: weights and what is heard, or null for this worker's own. */
const asked = (layer) =>
  new Promise((resolve) => {
    heard = resolve;
    postMessage({ layer });
  });

addEventListener("message", async ({ data: { file, text, own, attended } }) => {
  if (attended !== undefined) return heard(attended);
  try {
    model = await (model ??= unpacked(file, postMessage).then(read));
    const all = tokenize(text, model);
    const longest = model.matrices["positions.weight"][0];
    const tokens = all.length > longest ? [...all.slice(0, longest - 1), "[SEP]"] : all;
    const weights = await weightsOf(model, tokens, own ? asked : undefined);
    postMessage({ tokens, cut: all.length - tokens.length, weights }, [weights.buffer]);
  } catch (error) {
    model = undefined; // the next sentence tries again
    postMessage({ failed: error.message });
  }
});
