"""What a wrong result is to the right one is told, where all inputs agree."""

import numpy as np
import pytest
import torch

from autograder.checks import (
    attention,
    circuits,
    cost,
    encoder_layer,
    fingerprints,
    generating,
    masking,
    puzzles,
    real_llm,
    real_model,
    relations,
)
from autograder.checks.failures import CheckFailed
from autograder.checks.trials import RESULTS, calls_of
from autograder.release.mistakes import WORD, changes, merged
from autograder.tools.judging import catalog_of, judge
from benchmarks.feedback import defined


def scores_of(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])


def shares(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def attend(Q, K, V):
    weights = shares(scores_of(Q, K))
    return weights @ V, weights


def divided(by):
    return lambda Q, K: scores_of(Q, K) / by(Q, K)


def in_place(x, axis=-1):
    result = shares(x, axis)
    x += 1
    return result


def mean_loss(logits, tokens):
    return torch.nn.functional.cross_entropy(logits[:-1], tokens[1:]).item()


SEEN = {
    "the right one times the square root of `Q.shape[-1]`": divided(
        lambda Q, K: Q.shape[-1] ** -0.5
    ),
    "the right one divided by `K.shape[-2]`": divided(lambda Q, K: K.shape[-2]),
    "the right one times 2": divided(lambda Q, K: 0.5),
    "the right one with the opposite sign": divided(lambda Q, K: -1),
    "the right one in reverse order along its last axis": lambda Q, K: scores_of(Q, K)[
        ..., ::-1
    ],
    "right in your result: all columns but the first": lambda Q, K: np.concatenate(
        [0 * scores_of(Q, K)[..., :1], scores_of(Q, K)[..., 1:]], axis=-1
    ),
    "right where `Q` and `K` are exchanged": lambda Q, K: scores_of(K, Q),
    "right for each part of a batch alone": lambda Q, K: (
        np.dot(Q, K.swapaxes(-1, -2)) / Q.shape[-1] ** 0.5
    ),
    "If `Q` is doubled, a right result is doubled, too; this is not always so": divided(
        lambda Q, K: np.exp(Q[..., :1])
    ),
}


@pytest.mark.parametrize("says", SEEN)
def test_a_relation_that_every_input_shows_is_said(says):
    found = attention.assignment.relate("attention_scores", SEEN[says])
    assert says in found


def test_an_array_may_stand_for_another_one():
    name = "rms_norm"
    right = defined(real_llm, name, catalog_of(real_llm).references[name].code)

    def one_more(x, weight, eps=1e-5):
        return right(x, 1 + weight, eps)

    said = real_llm.assignment.relate(name, one_more)
    assert said == "Your result is right where `weight` is smaller by 1."


def test_a_single_number_keeps_its_type_when_it_is_repaired():
    said = real_llm.assignment.relate("perplexity", mean_loss)
    assert said == "Your result is the logarithm of the right one."


def test_a_step_is_never_changed_since_a_loop_could_become_endless():
    steps = set()

    def stepping(Q, K, V, block):
        steps.add(block)
        return 2 * V[..., :1, :] + 0 * Q

    tried = cost.assignment.questions["tiled_attention"].steady
    due = [call.args[3] for call in calls_of(stepping, tried, False)]
    cost.assignment.relate("tiled_attention", stepping)
    assert min(steps) >= min(due) > 0


def test_parts_of_a_pair_have_relations_of_their_own():
    relate = attention.assignment.relate
    name = "scaled_dot_product_attention"
    assert "other order" in relate(name, lambda *a: attend(*a)[::-1])
    said = relate(name, lambda Q, K, V: (attend(Q, K, V)[0], scores_of(Q, K)))
    assert "the first of what you return is right; not so the second." in said
    said = relate(name, lambda Q, K, V: attend(Q, K, np.ones_like(V)))
    assert said == "Your first result does not depend on `Q`."


def test_parameters_of_a_module_are_tried_and_sums_that_lack_a_product():
    relate = encoder_layer.assignment.relate
    catalog = catalog_of(encoder_layer)
    wrong = {entry.id: catalog.answer(entry) for entry in catalog.misconceptions}
    said = relate("EncoderLayer", wrong["EncoderLayer-pre-norm"])
    assert said.startswith("If `ffn.linear2.bias` is larger by 1, a right result stays")
    said = relate("count_parameters", lambda m, f: 4 * m * m + 2 * m * f + f + 5 * m)
    assert said == "Your result is the right one minus 4 times `d_model`."


def test_weights_that_only_seem_not_to_depend_on_scores_are_not_said_to():
    """One score is left where the mask hides the others; else the result is NaN."""

    def inverted(scores, mask):
        e = np.where(mask, 0, np.exp(scores))
        return e / e.sum()

    with np.errstate(all="ignore"):
        said = puzzles.assignment.relate("masked_row", inverted)
    assert "depend" not in said


def test_what_does_not_depend_on_an_argument_is_said():
    def equal(scores, mask):
        return mask / np.maximum(mask.sum(), 1)

    said = puzzles.assignment.relate("masked_row", equal)
    assert said == "Your result does not depend on `scores`."


def test_the_other_checks_that_pass_are_told_where_no_name_is_known():
    def halved(x, axis=-1):
        return shares(x, axis) ** 1.7 / (shares(x, axis) ** 1.7).sum(
            axis, keepdims=True
        )

    with pytest.raises(CheckFailed) as failed:
        attention.softmax(halved)
    assert failed.value.misconception is None
    assert "besides:" in str(failed.value) and "These hold:" in str(failed.value)


def test_an_argument_that_is_changed_is_all_that_is_wrong():
    said = attention.assignment.relate("softmax", in_place)
    assert said == "Your result is right, except that an argument was changed."


@pytest.mark.parametrize("answer", [lambda n: 0, lambda n: np.arange(n) > 1])
def test_nothing_is_said_where_no_relation_holds(answer):
    assert masking.assignment.relate("causal_mask", answer) == ""


@pytest.mark.parametrize("package", [attention, puzzles, masking])
def test_a_right_answer_has_no_relation_that_makes_it_wrong(package):
    catalog = catalog_of(package)
    for style in catalog.styles:
        if "right" in package.assignment.table["questions"][style.question]:
            said = package.assignment.relate(style.question, catalog.answer(style))
            assert "does not depend" not in said and "wrong" not in said


# ----------------------------------------------------------------- two mistakes


def joined(old, *new):
    words = WORD.findall(old)
    return merged(words, *(changes(words, WORD.findall(text)) for text in new))


def test_changes_in_two_places_are_made_together():
    assert joined("a = b + c", "a = b - c", "a = b + d") == "a = b - d"
    assert joined("a = b + c", "a = b - c", "a = b * c") is None
    assert joined("f(a)", "f(a", "g(a)") is None


def test_two_mistakes_are_named_and_the_first_to_mend_comes_first():
    def keys_first(Q, K):
        return np.einsum("...kd,...qd->...kq", K, Q)

    with pytest.raises(CheckFailed) as failed:
        attention.attention_scores(keys_first)
    named = failed.value.misconception
    assert named.id == "attention_scores-keys-by-queries"
    assert named.diagnosis.startswith("There are two mistakes. First: The result has a")
    assert "Then: The dot products are not divided by √d_k." in named.diagnosis


def test_a_single_mistake_keeps_its_name_and_a_pair_never_takes_it():
    for package in (attention, masking, puzzles):
        for known in package.assignment.table["questions"].values():
            assert not known.get("pairs", {}).keys() & known["mistakes"].keys()


def test_nan_is_neither_below_0_nor_above_1_and_only_squares_are_symmetric():
    nan = np.array([[np.nan, 0.5]])
    assert RESULTS["has no number below 0"](nan).all()
    assert RESULTS["has no number above 1"](nan).all()
    with pytest.raises(ValueError):
        RESULTS["is symmetric"](nan)


def test_a_part_is_right_only_where_every_result_has_it():
    line, table = np.arange(3.0), np.arange(6.0).reshape(2, 3)
    assert relations.hash_of("all entries but the first", [line, line])
    assert not relations.hash_of("all entries but the first", [line, table])


@pytest.mark.parametrize(
    "package, name",
    [(real_model, "load_layer"), (real_llm, "load_decoder_layer")],
)
def test_of_a_loaded_layer_the_wrong_parameters_are_counted(package, name):
    right = defined(package, name, catalog_of(package).references[name].code)

    def shifted(*args):
        right(*args)
        with torch.no_grad():
            args[0].norm2.weight += 1

    points, message, _ = judge(package, name, shifted)
    assert points < package.assignment.questions[name].points
    assert "parameters are wrong: norm2.weight" in message


@pytest.mark.parametrize("name", ["causal_mask", "entropy", "rotate_pair"])
def test_answers_are_tried_on_inputs_that_never_change(name):
    """Else a table of mistakes would be another one each time that it is made."""
    asked = puzzles.assignment.questions[name]
    answer = catalog_of(puzzles).answer(catalog_of(puzzles).references[name])
    one, other = (
        [
            fingerprints.rounded(call.args)
            for call in calls_of(answer, asked.steady, False)
        ]
        for _ in range(2)
    )
    assert one == other and len(one) > 3


def test_what_a_cache_gets_is_not_called_by_the_names_of_its_constructor():
    code = catalog_of(generating).references["KVCache"].code

    class Backwards(defined(generating, "KVCache", code)):
        def append(self, K, V):
            return tuple(np.flip(part, -2) for part in super().append(K, V))

    said = generating.assignment.relate("KVCache", Backwards)
    assert said and "window" not in said


def test_what_the_inputs_of_wrong_results_share_is_told_before_their_shapes():
    def floored(x, axis=-1):
        e = np.exp(x - np.max(x))
        return e / np.maximum(e.sum(axis=axis, keepdims=True), 1e-300)

    said = attention.assignment.relate("softmax", floored)
    assert "wrong only where numbers are far apart, but not always" in said


def test_an_answer_that_raises_is_not_told_what_holds_of_its_few_results():
    def square(K, V, k, v):
        found = np.zeros((2, len(K) + 1, K.shape[1]))
        found[0] = [*K, k]
        found[1] = [*V, v]
        return tuple(found)

    said = puzzles.assignment.relate("append_cache", square)
    assert "`K` of shape (3, 2)" in said and "whole numbers" not in said


def test_numbers_that_cancel_differ_by_no_more_than_rounding():
    def all_of_them(weights, period):
        at = torch.arange(period, weights.shape[-1])
        return weights[..., at, at - period + 2].mean()

    assert "larger by 1" not in circuits.assignment.relate(
        "induction_score", all_of_them
    )
