// <cut-a-line>: what a published model says next, and what it says without one of its
// attention lines. cut_picture.py drew the lines; cutting.py computed every answer.
import { say } from "./elements.js";
import { recording } from "./recorded.js";
import { told } from "./toy.js";

const [LAYERS, HEADS] = [30, 9];
// cut_picture.py explains the numbers
const SHAPES = {
  wide: { along: [8, 496], across: [30, 210] },
  tall: { along: [5, 240], across: [84, 316] },
};
const ORDINALS = ["first", "second", "third", "fourth"];

/** The path of a line from a token to its head's place on the axis. */
export function curve(begin, layer, head, shape) {
  const { along: [start, length], across: [top, bottom] } = SHAPES[shape];
  const end = start + (length * (layer * HEADS + head + 0.5)) / (LAYERS * HEADS);
  const third = (bottom - top) / 3;
  const steps = [[begin, top], [begin, top + third], [end, bottom - third], [end, bottom]];
  const [first, ...others] = steps.map((step) => {
    const [x, y] = step.map((each) => each.toFixed(1));
    return shape === "wide" ? `${x} ${y}` : `${y} ${x}`;
  });
  return `M${first}C${others.join(" ")}`;
}

/** Bytes in hundredths, as numbers. */
const hundredths = (text) => Array.from(atob(text), (sign) => sign.charCodeAt(0) / 100);

const same = (a, b) => a !== undefined && b !== undefined && a.slice(0, 3).join() === b.slice(0, 3).join();
const lineOf = (group) => group?.dataset.line.split(".").map(Number);
const thousands = (count) => count.toLocaleString("en");

/** A prompt, what its lines weigh, and what each cut does. */
class Prompt {
  constructor(data) {
    Object.assign(this, data, { weights: hundredths(data.weights), after: hundredths(data.after) });
    for (const part of ["before", "together"]) this[part] = data[part].map((share) => share / 100);
    this.n = this.tokens.length;
    this.count = LAYERS * HEADS * this.n;
    this.tried = new Set();
    this.one = data.deciding[0].slice(0, 3);
    this.last = `“${data.tokens.at(-1).trim()}”`;
  }

  /** The line that is so many heads from another one, among those of its token. */
  beside([layer, head, key], heads) {
    const all = LAYERS * HEADS;
    const at = (layer * HEADS + head + heads + all) % all;
    return [Math.floor(at / HEADS), at % HEADS, key];
  }

  /** A token's name; of equal ones, which. */
  named(key) {
    const word = `“${this.tokens[key].trim()}”`;
    const equal = (token) => token.trim() === this.tokens[key].trim();
    if (this.tokens.filter(equal).length === 1) return word;
    return `the ${ORDINALS[this.tokens.slice(0, key).filter(equal).length]} ${word}`;
  }

  /** What stands at the axis of a line that is looked at. */
  short([layer, head, key]) {
    return `head ${layer}.${head} to “${this.tokens[key].trim()}”: ${told(this.weight([layer, head, key]))}`;
  }

  label(line) {
    const [layer, head, key] = line;
    return `head ${layer}.${head} to ${this.named(key)}, weight ${told(this.weight(line))}`;
  }

  /** What cuts do, in words. */
  told(lines, replaced) {
    const shares = this.without(lines);
    const now = shares.indexOf(Math.max(...shares));
    const [line, second] = lines;
    const from = new Set(lines.map(([, , key]) => key)).size === 1 ? `, all to ${this.named(line[2])}` : "";
    const named = second ? `the ${lines.length} thickest lines at once${from}` : this.label(line);
    const begin = `${replaced ? "Cut instead" : "Cut"}: ${named}. The answer`;
    const chance = `${told(shares[now])}, before ${told(this.before[now])}`;
    if (now === 0) return `${begin} stays “${this.words[0]}” (${chance}).`;
    const word = this.words[now];
    const down = this.tokens[line[2]].trim() === word ? ` It kept “${word}” down.` : "";
    const [, , , looks] = this.deciding.find((each) => same(each, line));
    const instead = looks.map(([key, share]) => `${this.named(key)} (${told(share)})`).join(" and ");
    const alone = this.deciding.length === 1 ? " No other line does this." : "";
    return `${begin} becomes “${word}” (${chance}).${down}${alone} Its head now looks at ${instead}.`;
  }

  place([layer, head, key]) {
    return (layer * HEADS + head) * this.n + key;
  }

  weight(line) {
    return this.weights[this.place(line)];
  }

  /** The shown words' probabilities without some lines: none, one, or all the thickest. */
  without([line, second]) {
    if (!line) return this.before;
    if (second) return this.together;
    const at = this.place(line) * this.words.length;
    return this.after.slice(at, at + this.words.length);
  }
}

class CutALine extends HTMLElement {
  async connectedCallback() {
    let data;
    try {
      data = await recording("cut-a-line.json");
    } catch {
      return; // the picture stays as it is
    }
    this.prompts = Object.entries(data).map(([name, each]) => [name, new Prompt(each)]);
    this.picture = this.querySelector(".cut-picture");
    this.pictures = { [this.prompts[0][0]]: this.picture.innerHTML };
    for (const { dataset, innerHTML } of this.querySelectorAll("template")) this.pictures[dataset.prompt] = innerHTML;
    [this.thick, this.this, this.back] = this.querySelectorAll(".cut-press button");
    this.said = this.querySelector(".cut-said");
    this.begin = this.said.textContent;
    this.listen();
    this.choose(this.prompts[0][0]);
  }

  listen() {
    const cuts = [[this.thick, () => this.next()], [this.this, () => [this.prompt.one]]];
    for (const [button, lines] of cuts) {
      button.addEventListener("click", () => this.press(...lines()));
      for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => this.look(lines()[0]));
      for (const event of ["pointerleave", "blur"]) {
        button.addEventListener(event, ({ relatedTarget }) => {
          if (!this.picture.contains(relatedTarget)) this.look(); // else its line would go, and the focus
        });
      }
    }
    this.back.addEventListener("click", () => this.press());
    for (const pill of this.querySelectorAll("[data-name]")) {
      pill.addEventListener("click", () => {
        this.choose(pill.dataset.name);
        this.querySelector(".cut-lead").scrollIntoView({ block: "nearest" }); // a phone has scrolled
      });
    }
    const at = (event) => lineOf(event.target.closest("[data-line]")) ?? this.nearest(event);
    this.picture.addEventListener("click", (event) => {
      const line = at(event);
      if (line) this.turn(line);
    });
    this.picture.addEventListener("pointermove", (event) => this.look(at(event)));
    this.picture.addEventListener("pointerleave", () => this.look());
    this.picture.addEventListener("focusin", ({ target }) => this.look(lineOf(target)));
    this.picture.addEventListener("keydown", (event) => this.walk(event));
  }

  /** Arrows lead from line to line: to the sides those drawn, up and down every head. */
  walk(event) {
    const line = lineOf(event.target);
    const { key } = event;
    if (key === "Enter" || key === " ") this.turn(line);
    else if (key === "ArrowLeft" || key === "ArrowRight") {
      const { drawn } = this.prompt;
      const all = drawn.some((each) => same(each, line)) ? drawn : [...drawn, line].sort((a, b) => a[2] - b[2]);
      const place = all.findIndex((each) => same(each, line)) + (key === "ArrowLeft" ? -1 : 1);
      this.focusOn(all[(place + all.length) % all.length]);
    } else if (key === "ArrowUp" || key === "ArrowDown") this.focusOn(this.prompt.beside(line, key === "ArrowUp" ? -1 : 1));
    else return;
    event.preventDefault();
  }

  focusOn(line) {
    this.look(line);
    const groups = this.picture.querySelectorAll(`[data-line="${line.join(".")}"]`);
    for (const group of groups) group.focus(); // one of the two pictures is hidden
  }

  /** The thickest line that is not tried; after the third, all of them. */
  next() {
    const { thickest, tried } = this.prompt;
    const one = thickest.slice(0, 3).find((line) => !tried.has(line.join()));
    return one ? [one] : thickest;
  }

  choose(name) {
    [, this.prompt] = this.prompts.find(([each]) => each === name);
    this.picture.innerHTML = this.pictures[name];
    this.cuts = [];
    this.seen = undefined;
    for (const button of this.querySelectorAll("[data-name]")) button.ariaPressed = String(button.dataset.name === name);
    this.querySelector(".cut-lead b").textContent = `${thousands(this.prompt.count)} lines`;
    for (const svg of this.picture.children) {
      svg.setAttribute("role", "group");
      svg.setAttribute("aria-label", "Lines of attention. Arrow keys lead from line to line, Enter cuts one.");
      for (const words of svg.querySelectorAll(".cut-around, .cut-words")) words.ariaHidden = "true";
      this.addHair(svg);
    }
    this.update();
  }

  /** Where a picture's tokens are, along it. */
  begins(svg) {
    const wide = this.shape(svg) === "wide";
    const words = [...svg.querySelectorAll(".cut-words text")].slice(0, -1); // the last is the answer
    return words.map((word) => (wide ? Number(word.getAttribute("x")) : Number(word.getAttribute("y")) - 5));
  }

  shape(svg) {
    return svg.classList.contains("cut-wide") ? "wide" : "tall";
  }

  /** A hair stands for the nine heads of a layer. */
  addHair(svg) {
    const hair = svg.querySelector(".cut-hair");
    const layers = Array.from({ length: LAYERS }, (_, layer) => layer);
    const all = this.begins(svg).flatMap((begin) => layers.map((layer) => curve(begin, layer, (HEADS - 1) / 2, this.shape(svg))));
    hair.setAttribute("d", all.join(""));
  }

  /** The line under a pointer: one that is drawn, or else the thickest hair. */
  nearest({ target, clientX, clientY }) {
    const svg = target.closest("svg");
    if (!svg) return undefined;
    const shape = this.shape(svg);
    const { along: [start, length], across: [top, bottom] } = SHAPES[shape];
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
    const [u, v] = shape === "wide" ? [x, y] : [y, x];
    const t = (v - top) / (bottom - top);
    if (t < 0.02 || t > 1) return undefined;
    const share = t * t * (3 - 2 * t); // of its way along that a line has made here
    const all = LAYERS * HEADS;
    const found = this.begins(svg).map((begin, key) => {
      const end = begin + (u - begin) / share;
      const place = Math.min(all - 1, Math.max(0, Math.round(((end - start) / length) * all - 0.5)));
      const there = begin + (start + (length * (place + 0.5)) / all - begin) * share;
      return { line: [Math.floor(place / HEADS), place % HEADS, key], distance: Math.abs(there - u) };
    });
    const near = found.filter(({ distance }) => distance < 3).map(({ line }) => line);
    return near.sort((a, b) => this.prompt.weight(b) - this.prompt.weight(a))[0];
  }

  /** Cut these lines instead of those before. */
  press(...lines) {
    this.replaced = this.cuts.length > 0;
    this.cuts = lines;
    for (const line of lines) this.prompt.tried.add(line.join());
    this.update();
  }

  isCut(line) {
    return this.cuts.some((each) => same(each, line));
  }

  /** Cut a line, or put it back. */
  turn(line) {
    this.press(...(this.isCut(line) ? [] : [line]));
  }

  look(line) {
    if (line?.join() === this.seen?.join()) return;
    this.seen = line;
    this.update();
  }

  /** A line's place in a picture, drawn now if it is none of the dozen. */
  group(svg, line) {
    const lines = svg.querySelector(".cut-lines");
    const name = line.join(".");
    const found = lines.querySelector(`[data-line="${name}"]`);
    if (found) return found;
    const steps = curve(this.begins(svg)[line[2]], line[0], line[1], this.shape(svg));
    lines.insertAdjacentHTML("beforeend", `<g class="hair" data-line="${name}" style="--weight: ${this.prompt.weight(line)}"><path class="near" d="${steps}"/><path pathLength="100" d="${steps}"/></g>`);
    return lines.lastElementChild;
  }

  update() {
    const { prompt, cuts, seen } = this;
    const shares = prompt.without(cuts);
    const now = shares.indexOf(Math.max(...shares));
    for (const svg of this.picture.children) {
      svg.classList.toggle("quest", ![...cuts, seen].some((line) => same(line, prompt.one)));
      for (const line of [...cuts, seen]) if (line) this.group(svg, line);
      for (const group of svg.querySelectorAll("[data-line]")) {
        const line = lineOf(group);
        const tried = prompt.tried.has(line.join());
        if (group.matches(".hair") && !tried && !same(line, seen) && group !== document.activeElement) {
          group.remove();
          continue;
        }
        group.classList.toggle("one", same(line, prompt.one));
        group.classList.toggle("tried", tried);
        group.classList.toggle("cut", this.isCut(line));
        group.classList.toggle("seen", same(line, seen));
        group.setAttribute("role", "button");
        group.setAttribute("tabindex", same(line, seen ?? cuts[0] ?? prompt.drawn[0]) ? 0 : -1);
        group.setAttribute("aria-label", `line of ${prompt.label(line)}`);
        group.ariaPressed = String(this.isCut(line));
      }
      svg.querySelectorAll(".cut-bar").forEach((bar, i) => {
        bar.classList.toggle("first", i === now);
        bar.querySelector(".end").textContent = told(shares[i]);
        bar.querySelector(".now").style.setProperty("--share", shares[i]);
      });
      const answer = svg.querySelector(".cut-words text:last-child");
      answer.textContent = prompt.words[now];
      answer.classList.toggle("changed", now > 0);
      const named = svg.querySelector(".cut-around .middle");
      named.dataset.plain ??= named.textContent;
      named.textContent = seen ? prompt.short(seen) : named.dataset.plain;
    }
    const next = this.next();
    const pressed = document.activeElement;
    const begun = prompt.tried.has(prompt.thickest[0].join());
    const one = begun ? "next<i> thickest line</i>" : "thickest<i> line</i>";
    this.thick.querySelector("span").innerHTML = next.length === 1 ? one : `${prompt.thickest.length} thickest<i> at once</i>`;
    this.thick.disabled = cuts.length > 1;
    this.this.disabled = cuts.length === 1 && same(cuts[0], prompt.one);
    this.back.disabled = !cuts.length;
    // a disabled button would drop the focus
    if (pressed.disabled) (pressed === this.back ? this.this : this.back).focus();
    const words = cuts.length ? prompt.told(cuts, this.replaced) : this.begin.replace(this.prompts[0][1].last, prompt.last);
    say(this.said, words);
    say(this.querySelector("output"), `${prompt.tried.size} of ${thousands(prompt.count)} tried`);
  }
}

customElements.define("cut-a-line", CutALine);
