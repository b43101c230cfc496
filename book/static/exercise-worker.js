// Python in a worker: the page stays alive, and an endless loop can be ended.

let engine;

/** Load Pyodide from home, the packages, the students' wheel and the runner. */
async function start({ home, packages, wheel, runner }) {
  const { loadPyodide } = await import(`${home}pyodide.mjs`);
  const pyodide = await loadPyodide({ indexURL: home });
  const quiet = { messageCallback: () => {} };
  await pyodide.loadPackage(packages, quiet);
  for (const name of packages)
    if (!pyodide.loadedPackages[name]) throw new Error(`${name} could not be loaded`);
  const [archive, code] = await Promise.all([wheel, runner].map((file) => fetch(file)));
  pyodide.unpackArchive(await archive.arrayBuffer(), "wheel");
  pyodide.runPython(await code.text());
  return pyodide.globals.get("run");
}

onmessage = async ({ data: { setup, job } }) => {
  try {
    engine ??= start(setup);
    const run = await engine;
    postMessage({ state: "running" });
    postMessage({ outcomes: JSON.parse(run(JSON.stringify(job))) });
  } catch (error) {
    engine = undefined; // the next press tries again
    postMessage({ failed: String(error?.message ?? error).trim().split("\n").at(-1) });
  }
};
