// <guess-price>: what a guess costs on average, by how sure and how often right.
import { Toy, bars, range, told } from "./toy.js";

const OTHERS = 64; // of 65 characters, those that are not the favorite

/** Mean loss in nats: the favorite gets p and comes with a share of s. */
export const lossOf = (p, s) => -s * Math.log(p) - (1 - s) * Math.log((1 - p) / OTHERS);

class GuessPrice extends Toy {
  knobs() {
    const knob = (value) => ({ min: 0.01, max: 0.99, step: 0.01, value });
    return range("p", "probability given to “e”", knob(0.9)) + range("s", "how often “e” comes", knob(0.5));
  }

  show({ p, s }) {
    const [right, wrong] = [-Math.log(p), -Math.log((1 - p) / OTHERS)];
    const [loss, least] = [lossOf(p, s), lossOf(s, s)];
    const row = (name, nats) => [name, [told(nats), nats / 9]];
    const rows = [
      row("“e” comes", right),
      row("another comes", wrong),
      row("on average", loss),
      row("the least there is", least),
      row("nothing known", Math.log(OTHERS + 1)),
    ];
    const off = loss - least < 0.005 ? "It cannot be less" : `${told(loss - least)} more than needed`;
    return {
      shown: { p: told(p), s: told(s) },
      picture: bars("What it costs", ["", "nats"], rows),
      words: `On average ${told(loss)} nats. ${off}: the least is paid where both knobs agree.`,
    };
  }
}

customElements.define("guess-price", GuessPrice);
