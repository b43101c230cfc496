// Python in a worker: the page stays alive, and an endless loop can be ended.

let engine;

// what is loaded is counted, for a bar; compressed or not, these are the bytes that arrive
let loaded = 0;
const plain = fetch.bind(self);
self.fetch = async (...request) => {
  const answer = await plain(...request);
  if (self.ready || !answer.body) return answer;
  const counting = new TransformStream({
    transform(piece, onward) {
      loaded += piece.byteLength;
      postMessage({ loaded });
      onward.enqueue(piece);
    },
  });
  return new Response(answer.body.pipeThrough(counting), answer);
};

function told(part, work) {
  postMessage({ state: "loading", part });
  return work;
}

/** Load Pyodide from home, NumPy, the students' wheels and the runner. */
async function start({ home, wheels, runner }) {
  const course = Promise.all([runner, ...wheels].map((file) => fetch(file)));
  const { loadPyodide } = await told("Python", import(`${home}pyodide.mjs`));
  const pyodide = await told("Python and NumPy", loadPyodide({ indexURL: home, packages: ["numpy"] }));
  const [code, ...archives] = await told("the checks", course);
  for (const archive of archives) pyodide.unpackArchive(await archive.arrayBuffer(), "wheel");
  const text = await code.text();
  await told("the checks", pyodide.runPythonAsync(text));
  return pyodide;
}

async function add(pyodide, packages) {
  const missing = packages.filter((name) => !pyodide.loadedPackages[name]);
  const quiet = { messageCallback: () => {} };
  if (missing.length) await told(missing.join(", "), pyodide.loadPackage(missing, quiet));
  for (const name of packages)
    if (!pyodide.loadedPackages[name]) throw new Error(`${name} could not be loaded`);
}

onmessage = async ({ data: { files, packages, job } }) => {
  try {
    engine ??= start(files);
    const pyodide = await engine;
    await add(pyodide, packages);
    self.ready = true;
    const fetched = performance.getEntriesByType("resource").map(({ name }) => name);
    postMessage({ state: "ready", fetched });
    if (!job) return;
    postMessage({ state: "running" });
    postMessage({ outcomes: JSON.parse(pyodide.globals.get("run")(JSON.stringify(job))) });
  } catch (error) {
    engine = undefined; // the next press tries again
    if (job) postMessage({ failed: String(error?.message ?? error).trim().split("\n").at(-1) });
  }
};
