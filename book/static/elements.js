// What the scripts make a page's elements with.

/** An element with properties and children. */
export const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

export const button = (textContent, pressed) => {
  const made = make("button", { type: "button", textContent });
  made.addEventListener("click", pressed);
  return made;
};

/** An SVG element of lines; a table beside it says the same in numbers. */
export function lines(viewBox, count) {
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawing.ariaHidden = "true";
  drawing.setAttribute("viewBox", viewBox);
  drawing.setAttribute("preserveAspectRatio", "none");
  drawing.innerHTML = '<path vector-effect="non-scaling-stroke"/>'.repeat(count);
  return drawing;
}

/** Write other words into an element; screen readers say what is written. */
export const say = (element, words) => {
  if (element.textContent !== words) element.textContent = words;
};

/** Text that stands in HTML. */
export const escaped = (text) =>
  text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
