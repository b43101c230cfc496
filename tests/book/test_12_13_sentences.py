"""What chapters 12 and 13 say of their experiments, beside what these printed."""

import re

import pytest
from test_sentences import lines, text

HEADS, AFTER = "12-a-head-is-born", "13-what-came-after"


def numbers(line):
    return [float(number) for number in re.findall(r"\d+\.\d+", line)]


@pytest.fixture(scope="module")
def seeds():
    """The rows that begin with a seed, by the number of decimals in them."""
    rows = [numbers(ln) for ln in lines(HEADS, "seed ") if ln.startswith("seed")]
    fives = [row for row in rows if len(row) == 5]
    return fives[:3], fives[3:]  # cut head by head, path by path


def test_one_column_of_paths_carries_the_effect(seeds):
    paths = seeds[1]
    assert len(paths) == 3
    for none, queries, keys, values, logits in paths:
        assert keys > none + 0.5
        assert max(abs(other - none) for other in (queries, values, logits)) <= 0.071
    assert "each of these paths changes the loss by 0.07 at most" in text(HEADS)


def test_in_two_seeds_one_head_carries_nearly_all_and_in_one_both_do(seeds):
    cuts = seeds[0]
    worst = [max(row[1:3]) for row in cuts]
    assert [loss > 2.9 for loss in worst] == [False, True, True]
    shared = [loss - cuts[0][0] for loss in cuts[0][1:3]]
    assert all(0.6 < price < 0.9 for price in shared)
    prices = [loss - row[0] for row in cuts for loss in row[3:]]
    assert min(prices) > 0.05 and max(prices) < 1.45
    assert "Cutting one costs between 0.1 and 1.4" in text(HEADS)


def test_one_head_of_the_published_model_carries_its_copying():
    nothing = numbers(lines(HEADS, "nothing cut: loss")[0])
    cuts = [numbers(ln) for ln in lines(HEADS, "cut (") if "loss" in ln]
    (first, *others), strongest = cuts[:4], cuts[4]
    assert first[0] > nothing[0] + 5 and first[1] < nothing[1] / 3
    assert all(abs(loss - nothing[0]) < 0.33 for loss, _ in others)
    assert 1.8 < strongest[0] - nothing[0] < 2.1


def test_what_cutting_heads_costs_when_a_text_is_said_again():
    nothing, one, four = (
        numbers(lines(HEADS, f"cut {name}")[0])
        for name in ("nothing", "one back", "four induction heads")
    )
    assert max(one[0], four[0]) - nothing[0] < 0.04
    assert 1.9 < one[1] / nothing[1] < 2 and 2.8 < four[1] / nothing[1] < 3
    said = "nearly doubles the loss, and cutting the four best induction heads nearly"
    assert said in text(HEADS)
    assert f"{four[1]:.1f} nats are far below {four[0]:.1f}" in text(HEADS)


def test_how_fast_the_loss_falls_and_which_stripes_go():
    """Of the falls, the largest and the least; the stripe halves in one seed."""
    found = lines(HEADS, "below 2.5")
    steps = [re.findall(r"step (\d+).* at (\d+)", line) for line in found]
    falls = [int(below) - int(above) for ((above, below),) in steps]
    assert len(falls) == 3
    sentence = f"for hundreds of steps and falls within {min(falls)} to {max(falls)},"
    assert sentence in text(HEADS)
    left = [b / a for a, b in map(numbers, lines(HEADS, "with the first head cut"))]
    assert [share < 0.2 for share in left] == [False, True, True] and left[0] < 0.5
    assert "of the second head all but disappears in seeds 1 and 2" in text(HEADS)


def row(kind, which):
    found = [ln for ln in lines(AFTER, kind) if re.match(rf"{kind} +{which}", ln)]
    return numbers(found[0])


def test_a_state_confuses_and_the_delta_rule_overwrites():
    assert min(row("Softmax", "new")) > 0.99
    assert max(row("Softmax", "update")) < 0.55
    linear, delta = row("Linear", "new"), row("Delta", "new")
    assert all(abs(a - b) < 0.05 for a, b in zip(linear, delta, strict=True))
    overwritten = zip(delta, row("Delta", "update"), strict=True)
    assert all(update > new - 0.02 for new, update in overwritten)
    assert all(share < 0.55 for share in row("Linear", "update"))


def test_how_many_answers_of_a_state_are_wrong():
    wrong = [1 / (1 - share) for share in row("Linear", "new")[1:3]]
    assert round(wrong[0]) == 100 and 12 <= wrong[1] < 13
    said = "with 8 pairs, one answer in a hundred is wrong; with 16, one in twelve"
    assert said in text(AFTER)


def test_a_window_is_perfect_at_one_length_of_updates():
    assert [share > 0.99 for share in row("Window", "update")] == [
        *(False, False, False, True, False)
    ]


def test_half_the_numbers_of_each_token_are_enough():
    assert min(row("Latent", "new")) > 0.98
    assert lines(AFTER, "numbers a pair") == ["numbers a pair: expanded 64, latent 16"]


def test_keys_by_channel_and_values_by_token_need_the_fewest_bits():
    whole = [numbers(ln)[0] for ln in lines(AFTER, "bits: loss")]
    exact, eight, four, three = whole
    assert abs(eight - exact) < 0.02 and 0.95 < four - exact < 1.05
    assert "the loss is 1.0 higher" in text(AFTER) and f"is {three:.2f};" in text(AFTER)
    tokens, channels, mixed = (
        numbers(lines(AFTER, f"{way}  ")[0])
        for way in ("both by token", "both by channel", "keys by channel")
    )
    assert all(way[0] - exact < 0.15 for way in (tokens, channels, mixed))
    assert f"grouping keys by token costs {tokens[1] - exact:.2f}" in text(AFTER)
    most = max(channels[1], mixed[1]) - exact
    assert f"and grouping by channel {most:.2f} or less" in text(AFTER)
    said = f"the loss is {mixed[2]:.2f} in the third way and above 6.7 in the others"
    assert said in text(AFTER)
    assert min(tokens[2], channels[2]) > 6.7
    keys, values = numbers(lines(AFTER, "largest channel, times")[0])
    assert f"reaches {keys} times as far" in text(AFTER)
    assert f"the largest value channel {values} times" in text(AFTER)


def test_only_what_is_missing_gives_a_text_of_the_target():
    wrong = [numbers(ln)[0] for ln in lines(AFTER, "from the target:")]
    others = [ln for ln in lines(AFTER, "deviations") if "from the target:" not in ln]
    right = [numbers(ln)[-1] for ln in others]
    assert len(wrong) == 3 and min(wrong) > 15
    assert len(right) == 7 and max(right) < 4


def test_four_guesses_bring_as_many_letters_as_the_chapter_says():
    rates = [numbers(ln)[0] for ln in lines(AFTER, "letters a call")]
    assert f"called once for every {rates[2]:.1f} letters" in text(AFTER)
    assert f"Four more guesses add only {rates[3] - rates[2]:.1f} letters" in text(
        AFTER
    )


def test_a_search_guesses_well_where_a_text_repeats_itself():
    found = lines(AFTER, "of them as without guesses")
    rows = [[int(n) for n in re.findall(r"\d+", line)] for line in found]
    (new, calls, same), (plain, asked, alike) = rows
    assert same == new and alike == plain
    assert f"so {calls} calls give {new} tokens" in text(AFTER)
    assert asked == plain and f"each of the {plain} tokens costs a call" in text(AFTER)
