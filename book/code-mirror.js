// CodeMirror as exercise pages use it; editor.py bundles this file with the packages.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyField, historyKeymap, indentWithTab, isolateHistory, redoDepth, undoDepth } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { closeSearchPanel, search, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, gutterLineClass, keymap, lineNumbers } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

// the classes of the book's own code cells
const COLORS = tagHighlighter([
  { tag: [tags.keyword, tags.bool, tags.null], class: "k" },
  { tag: tags.comment, class: "c1" },
  { tag: [tags.string, tags.special(tags.string)], class: "s2" },
  { tag: tags.number, class: "mi" },
]);
// phones type quotes that Python does not know
const PLAIN = { "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'" };
const LEAVING = 600_000; // milliseconds after Escape in which Tab leaves the editor

const given = Annotation.define(); // the page has set the text, and nobody typed it
const setWrong = StateEffect.define();
const wrongLine = Decoration.line({ class: "wrong-line" });
const wrongNumber = new (class extends GutterMarker {
  elementClass = "wrong-line";
})();
const wrong = StateField.define({
  create: () => null, // or where the line with the error begins
  update(at, { docChanged, effects }) {
    const set = effects.find((effect) => effect.is(setWrong));
    return set ? set.value : docChanged ? null : at;
  },
  provide: (field) => [
    EditorView.decorations.from(field, (at) => (at === null ? Decoration.none : Decoration.set(wrongLine.range(at)))),
    gutterLineClass.from(field, (at) => (at === null ? RangeSet.empty : RangeSet.of(wrongNumber.range(at)))),
  ],
});

const quotes = EditorView.inputHandler.of((view, from, to, text) => {
  if (!(text in PLAIN)) return false;
  view.dispatch({ ...view.state.replaceSelection(PLAIN[text]), userEvent: "input.type" });
  return true;
});
const leave = (view) => {
  view.setTabFocusMode(LEAVING);
  closeSearchPanel(view);
  return true; // what CodeMirror does by itself ends after two seconds
};

/** An editor that is handled as a text area is: value, readOnly, focus(). */
export class CodeMirror {
  /** kept: what an earlier one had in `kept`, its history. */
  constructor(value, { attributes, changed, run, kept }) {
    this.access = new Compartment();
    const pressed = () => (run(), true);
    const extensions = [
      keymap.of([
        ...["Shift-Enter", "Ctrl-Enter", "Mod-Enter"].map((key) => ({ key, run: pressed })),
        { key: "Escape", run: leave },
        indentWithTab,
        ...closeBracketsKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...defaultKeymap,
      ]),
      pythonLanguage,
      indentUnit.of("    "),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      quotes,
      history(),
      search({ top: true }),
      lineNumbers(),
      wrong,
      syntaxHighlighting(COLORS),
      EditorView.contentAttributes.of({ tabindex: "0", ...attributes }),
      this.access.of([]),
      EditorView.updateListener.of(({ docChanged, transactions }) => {
        if (docChanged && !transactions.some((each) => each.annotation(given))) changed(this.value);
      }),
    ];
    this.view = new EditorView({ state: restored(kept, value, extensions) ?? EditorState.create({ doc: value, extensions }) });
    this.element = this.view.dom;
  }

  get value() {
    return this.view.state.doc.toString();
  }

  set value(insert) {
    if (insert === this.value) return;
    const { length } = this.view.state.doc;
    this.view.dispatch({ changes: { from: 0, to: length, insert }, annotations: [given.of(true), isolateHistory.of("full")] });
  }

  get readOnly() {
    return this.view.state.readOnly;
  }

  set readOnly(yes) {
    const parts = yes ? [EditorState.readOnly.of(true), EditorView.contentAttributes.of({ "aria-readonly": "true" })] : [];
    this.view.dispatch({ effects: this.access.reconfigure(parts) });
  }

  /** The text with all that can be undone, for a later visit. */
  get kept() {
    const { state } = this.view;
    return undoDepth(state) + redoDepth(state) ? state.toJSON({ history: historyField }) : undefined;
  }

  focus() {
    this.view.focus();
  }

  setSelectionRange(anchor, head) {
    this.view.dispatch({ selection: { anchor, head }, scrollIntoView: true });
  }

  /** Mark a line as the one that failed; none: no line. */
  mark(line) {
    const { doc } = this.view.state;
    this.view.dispatch({ effects: setWrong.of(line >= 1 && line <= doc.lines ? doc.line(line).from : null) });
  }
}

/** The state of an earlier visit, if the text is still the same. */
function restored(kept, value, extensions) {
  if (kept?.doc !== value) return null;
  try {
    return EditorState.fromJSON(kept, { extensions }, { history: historyField });
  } catch {
    return null; // of another version
  }
}
