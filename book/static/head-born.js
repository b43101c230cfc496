// <head-born>: three trainings of chapter 12, step by step, as they were recorded: the
// loss, the maps of two heads, and all of it with the first head cut.
import { Recorded, recording, rowOf } from "./recorded.js";
import { bars, check, choice, grid, range, told } from "./toy.js";

const [WIDTH, HEIGHT, TOP] = [300, 96, 4]; // of the curves; nats at their upper edge
const LAST = 1200;
const START = { seed: "1", step: 600 };
const SEEDS = { 0: "seed 0", 1: "seed 1", 2: "seed 2" };

/** Numbers and maps (n, n) of a training at a step. */
export function momentOf({ text, every, trainings }, seed, step) {
  const { numbers, maps } = trainings[seed];
  const at = step / every;
  const n = text.length;
  const size = (n * (n + 1)) / 2;
  const map = (which) =>
    Array.from({ length: n }, (_, query) => rowOf(maps[at], which * size, query, n));
  const [loss, lossCut, oneBack, induction, inductionCut] = numbers[at];
  return { loss, lossCut, oneBack, induction, inductionCut, first: map(0), second: map(1), secondCut: map(2) };
}

/** The loss over all steps, with all heads and with the first one cut. */
function curves({ every, trainings }, seed, step, cut) {
  const x = (each) => ((each / LAST) * WIDTH).toFixed(1);
  const y = (loss) => (HEIGHT * (1 - loss / TOP)).toFixed(1);
  const line = (which) =>
    trainings[seed].numbers.map((row, at) => `${x(at * every)},${y(row[which])}`).join(" ");
  const kind = (shown) => (shown ? "shown" : "");
  const now = trainings[seed].numbers[step / every][cut ? 1 : 0];
  const marks = [0, 2, 4].map((nats) => `<text x="-6" y="${Number(y(nats)) + 4}" class="end">${nats}</text>`);
  const steps = [0, 600, 1200].map((each) => `<text x="${x(each)}" y="${HEIGHT + 16}">${each}</text>`);
  return `<figure class="born-curve"><figcaption>loss in nats, by training step</figcaption>
    <svg viewBox="-22 -6 ${WIDTH + 44} ${HEIGHT + 26}" role="img" aria-label="Loss over ${LAST} steps of ${SEEDS[seed]}, with all heads and, dashed, with the first head cut">
    <path d="M0 0V${HEIGHT}H${WIDTH}"/>${marks.join("")}${steps.join("")}
    <polyline class="cut ${kind(cut)}" points="${line(1)}"/><polyline class="${kind(!cut)}" points="${line(0)}"/>
    <path class="now" d="M${x(step)} 0V${HEIGHT}"/><circle r="4" cx="${x(step)}" cy="${y(now)}"/></svg></figure>`;
}

class HeadBorn extends Recorded {
  async load() {
    this.data = await recording("head-born.json");
  }

  knobs() {
    const { every } = this.data;
    const step = this.address.number("step", LAST + 1, START.step);
    return `${choice("seed", "training", SEEDS, this.chosen("seed", Object.keys(SEEDS), START.seed))}
      ${range("step", "step", { max: LAST, step: every, value: step })}
      <button type="button">Play</button>
      ${check("cut", "cut the head of layer 0", this.address.get("cut") === "1")}`;
  }

  async connectedCallback() {
    await super.connectedCallback();
    this.button = this.form?.querySelector("button");
    this.button?.addEventListener("click", () => (this.timer ? this.stop() : this.play()));
  }

  disconnectedCallback() {
    if (this.timer) this.stop();
  }

  play() {
    const { step } = this.form.elements;
    if (step.valueAsNumber === LAST) step.value = 0;
    this.button.textContent = "Stop";
    this.words.ariaLive = "off"; // what runs is not read out at every step
    this.timer = setInterval(() => {
      step.stepUp();
      this.draw();
      if (step.valueAsNumber === LAST) this.stop();
    }, 350);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.button.textContent = "Play";
    this.words.ariaLive = "polite";
    this.keep();
  }

  show({ seed, step, cut }) {
    const { loss, lossCut, oneBack, induction, inductionCut, ...maps } = momentOf(this.data, seed, step);
    const { first, second } = this.data.trainings[seed];
    const share = (weight) => [told(weight), weight];
    const nats = (value) => [told(value), value / TOP];
    const table = bars("on 64 held-out texts", ["", "all heads", "first head cut"], [
      ["loss in nats", nats(loss), nats(lossCut)],
      [`one back, layer 0`, share(oneBack), ["cut"]],
      [`induction, layer 1`, share(induction), share(inductionCut)],
    ]);
    const shown = cut ? maps.secondCut : maps.second;
    const cellsOf = (map) => map.map((row) => row.map((weight) => [weight, cut && map === maps.first ? "gone" : ""]));
    const one = grid(
      cellsOf(maps.first),
      `Map of head ${first} of layer 0: ${told(oneBack)} one back`,
      `layer 0, head ${first}${cut ? ": cut" : ""}`,
    );
    const two = grid(
      cellsOf(shown),
      `Map of head ${second} of layer 1: ${told(cut ? inductionCut : induction)} on the token to copy`,
      `layer 1, head ${second}`,
    );
    const begun = `Step ${step}: the head of layer 0 puts ${told(oneBack)} of its weight one back.`;
    const whole = `The head of layer 1 puts ${told(induction)} on the token to copy; the loss is ${told(loss)} nats.`;
    const less = `Without its output, the head of layer 1 puts ${told(inductionCut)} on the token to copy, not ${told(induction)}; the loss is ${told(lossCut)} nats, not ${told(loss)}.`;
    return {
      picture: `${curves(this.data, seed, step, cut)}${table}<div class="born-maps">${one}${two}</div>`,
      words: `${begun} ${cut ? less : whole}`,
    };
  }
}

customElements.define("head-born", HeadBorn);
