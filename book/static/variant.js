// A student's variant of the exercises: other examples on the cards. Its code comes with
// a link or in a notebook, once; from then on this browser keeps it.

const KEY = "exercise-variant";
const CODE = /^[0-9a-f]{12}$/;
const CALL = /^check\.\w+\(\w+, variant="([0-9a-f]{12})"\)/m;

/** The code in the page's address, or the one that is kept; an empty one ends it. */
export function variantHere() {
  const given = new URL(location.href).searchParams.get("variant");
  try {
    if (CODE.test(given ?? "")) localStorage.setItem(KEY, given);
    if (given === "") localStorage.removeItem(KEY);
    const kept = localStorage.getItem(KEY);
    return CODE.test(kept ?? "") ? kept : null;
  } catch {
    return CODE.test(given ?? "") ? given : null; // this browser keeps nothing
  }
}

/** Keep the code that came with a notebook. */
export function keepVariant(code) {
  try {
    localStorage.setItem(KEY, code);
  } catch {
    // then it is for this visit
  }
}

/** The code in the sources of a notebook's cells, or undefined. */
export const variantIn = (sources) => sources.map((text) => CALL.exec(text)?.[1]).find(Boolean);

/** Show an example where the card has the one for everybody. */
export function showExample(place, text) {
  const parts = text.split("`").map((part, number) => {
    if (number % 2 === 0) return part;
    const code = document.createElement("code");
    code.className = place.querySelector("code")?.className ?? "";
    code.textContent = part;
    return code;
  });
  place.replaceChildren(...parts);
}
