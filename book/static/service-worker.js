// Keeps what a reader has loaded: Python and the two models for good, pages and their
// files for times without a network. solving.py names the version and puts this file
// at the root of the site.

const CACHE = "python-VERSION";
// the version says when Python changes, and its name when a model does
const FIXED = ["/_static/pyodide/", "/_static/minilm-", "/_static/smollm2-"];

addEventListener("install", () => skipWaiting());

addEventListener("activate", (event) =>
  event.waitUntil(
    caches
      .keys()
      .then((names) =>
        Promise.all(
          names
            .filter((name) => name.startsWith("python-") && name !== CACHE)
            .map((name) => caches.delete(name)),
        ),
      )
      .then(() => clients.claim()),
  ),
);

const mine = (address) => new URL(address).origin === location.origin;

async function keep(request, answer) {
  if (answer.ok && answer.status === 200) {
    const copy = answer.clone();
    await (await caches.open(CACHE)).put(request, copy).catch(() => {}); // no room
  }
  return answer;
}

async function answer(request) {
  const kept = () => caches.match(request, { ignoreVary: true });
  if (FIXED.some((part) => request.url.includes(part))) return (await kept()) ?? keep(request, await fetch(request));
  try {
    return await keep(request, await fetch(request));
  } catch (error) {
    const copy = await kept();
    if (copy) return copy;
    throw error;
  }
}

addEventListener("fetch", (event) => {
  if (event.request.method === "GET" && mine(event.request.url))
    event.respondWith(answer(event.request));
});

// what a page loaded before this worker was there
addEventListener("message", (event) =>
  event.waitUntil(
    Promise.all(
      event.data.keep
        .filter(mine)
        .map((address) => fetch(address).then((found) => keep(address, found)).catch(() => {})),
    ),
  ),
);
