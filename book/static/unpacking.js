// A large file of the site, on its way: fetched, unpacked by gzip, and counted.

/** The content of a file; ``told`` hears how many bytes are here, of how many, if known. */
export async function unpacked(file, told = () => {}) {
  const answer = await fetch(file);
  if (!answer.ok) throw new Error(`the site answered ${answer.status}`);
  const whole = Number(answer.headers.get("Content-Length"));
  let here = 0;
  const count = new TransformStream({
    transform(chunk, controller) {
      here += chunk.length;
      told({ here, whole });
      controller.enqueue(chunk);
    },
  });
  const plain = answer.body.pipeThrough(count).pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).arrayBuffer();
}
