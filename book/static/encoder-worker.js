// A worker that loads the encoder once, and answers each sentence with its weights. Where
// the attention is somebody's own, it asks for it, layer by layer.
import { read, tokenize, weightsOf } from "./encoder.js";

let model, heard;

/** Attention from outside: weights and what is heard, or null for this worker's own. */
const asked = (layer) =>
  new Promise((resolve) => {
    heard = resolve;
    postMessage({ layer });
  });

/** Fetch and unpack the file, and tell how much of it is here. */
async function load(file) {
  const answer = await fetch(file);
  if (!answer.ok) throw new Error(`the site answered ${answer.status}`);
  const whole = Number(answer.headers.get("Content-Length"));
  let here = 0;
  const count = new TransformStream({
    transform(chunk, controller) {
      here += chunk.length;
      postMessage({ here, whole });
      controller.enqueue(chunk);
    },
  });
  const unpacked = answer.body.pipeThrough(count).pipeThrough(new DecompressionStream("gzip"));
  return read(await new Response(unpacked).arrayBuffer());
}

addEventListener("message", async ({ data: { file, text, own, attended } }) => {
  if (attended !== undefined) return heard(attended);
  try {
    model = await (model ??= load(file));
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
