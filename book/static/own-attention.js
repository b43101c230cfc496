// Attention by a reader's own functions, for the encoder in the page: answers that this
// browser keeps, run by Python layer by layer. Where one is wrong or slow, it is said why.
import { gradeId, isCheck, source } from "./answers.js";
import { answersTo, resultsOf } from "./progress.js";
import { Python } from "./python.js";
import { holds, intact } from "./verdicts.js";

const PATIENCE = 10_000; // milliseconds for a layer, once Python is there
const WAYS = {
  "01-attention": ["scaled_dot_product_attention"],
  "00-puzzles": ["scores", "softmax_row", "weighted_average"],
};

/** The ways of this browser, by assignment: the answers that passed, and their code. */
export const ways = () =>
  Object.entries(WAYS).flatMap(([name, needs]) => {
    const results = intact(resultsOf(name));
    const code = answersTo(name)?.notebook?.cells?.filter((cell) => cell.cell_type === "code" && !isCheck(cell));
    if (!code || !needs.every((id) => results[id] && holds(results[id]))) return [];
    const last = code.findLastIndex((cell) => needs.includes(gradeId(cell)));
    return [{ name, needs, sources: code.slice(0, last + 1).map(source) }];
  });

export class OwnAttention {
  /** way: one of ways(); place: the element that says where Python is; say: tells. */
  constructor(way, place, say) {
    Object.assign(this, { ...way, say });
    const runner = new URL("own_attention.py", import.meta.url).href;
    this.python = new Python({ ...place.dataset, runner });
  }

  /** Begin a sentence. */
  begin() {
    Object.assign(this, { problem: "", off: 0 });
    return this;
  }

  /** A layer's {weights, heard}; null when something is wrong, and from then on. */
  attend({ queries, keys, values, n, heads }) {
    if (this.problem) return null;
    const numbers = [queries, keys, values].map((all) => Array.from(all));
    const job = { numbers, n, heads, sources: this.sources, needs: this.needs };
    return new Promise((resolve) => {
      let slow;
      const end = (problem, found = null) => {
        clearTimeout(slow);
        this.problem = problem;
        this.off = Math.max(this.off, found?.off ?? 0);
        resolve(found);
      };
      this.python.run(job, ["numpy"], ({ state, part, failed, outcomes }) => {
        if (state === "loading") this.say(`Loading ${part} …`);
        if (state === "running") {
          clearTimeout(slow);
          slow = setTimeout(() => {
            this.python.end();
            end(`a layer took more than ${PATIENCE / 1000} seconds`);
          }, PATIENCE);
        }
        if (failed) end(`Python could not be loaded here (${failed})`);
        if (outcomes?.problem) end(outcomes.problem);
        else if (outcomes) end("", outcomes);
      });
    });
  }

  /** What came of it, in a sentence. */
  get told() {
    const names = `Your ${this.needs.join(", ")}`;
    if (this.problem) return `${names} did not compute this: ${this.problem}. The page's own attention did.`;
    return `${names} computed the attention of all layers, within ${this.off.toExponential(0)} of the page's own.`;
  }
}
