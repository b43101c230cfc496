"""Sentences of the book that were wrong once, each beside what it speaks of."""

import ast
import math
import re

import nbformat
import notebooks
import numpy as np
import pytest
from shared import outputs

BOOK = notebooks.BOOK
ROOT = BOOK.parent
NUMBERS = {3: "three", 4: "four", 5: "five"}


def text(name):
    """A page or chapter on one line, so that a sentence is found across line ends."""
    page = BOOK / f"{name}.md"
    path = page if page.exists() else notebooks.TEXT / f"{name}.md"
    return " ".join(path.read_text(encoding="utf-8").split())


def lines(chapter, part):
    """The lines of a chapter's outputs that hold ``part``."""
    return [ln for text in outputs(chapter) for ln in text.splitlines() if part in ln]


def printed(chapter, start):
    """The numbers of the one line of a chapter's outputs that begins with ``start``."""
    (line,) = (ln for ln in lines(chapter, start) if ln.startswith(start))
    return [float(number) for number in re.findall(r"\d+\.\d+", line)]


def test_the_index_counts_the_blanks_of_the_warm_up():
    code = [c.source for c in notebooks.read_text("warm-up").cells]
    blanks = sum(len(re.findall(r"^ *(?:\w+ =|return) \.\.\.", c, re.M)) for c in code)
    assert f"with {NUMBERS[blanks]} blanks to fill" in text("index")


def test_the_warm_up_counts_the_words_that_look_mostly_at_themselves():
    own = printed("warm-up", "weight of each word on itself:")
    assert len(own) == 5
    mostly = NUMBERS[sum(weight > 0.5 for weight in own)]
    assert f"{mostly} of the five words look mostly at themselves" in text("warm-up")


def test_how_often_a_single_head_gets_its_other_neighbor_right():
    pairs = np.reshape(printed("03-multi-head", "1 heads (left, right):"), (5, 2))
    other = pairs.min(axis=1).mean()
    times = f"gets the other right about one time in {NUMBERS[round(1 / other)]}"
    assert times in text("03-multi-head")


def test_no_scaled_draw_of_wide_keys_reaches_what_a_tutorial_prints():
    shares = lines("scaling-in-detail", "% of draws")
    rows = [re.findall(r"[\d.]+", ln) for ln in shares]
    wide = [(float(one), float(other)) for d_k, one, other in rows if int(d_k) >= 256]
    assert len(wide) == 2 and all(one > 50 and other == 0 for one, other in wide)
    claim = "none of 8,000 scaled draws reaches even 0.99, but most unscaled ones do"
    assert "At 256 and 1024, the tutorial's numbers" in text("scaling-in-detail")
    assert claim in text("scaling-in-detail")


def test_between_which_numbers_the_scaled_weights_of_chapter_2_stay():
    for page, column, n_rows in (("02-scaling", 2, 3), ("scaling-in-detail", 3, 5)):
        assert " between 0.44 and 0.47" in text(page)
        table = [ln for ln in lines(page, "") if re.match(r" *\d+ .*\.\d{3}$", ln)]
        scaled = [float(line.split()[column]) for line in table]
        assert len(scaled) == n_rows and min(scaled) > 0.44 and max(scaled) < 0.47


def test_what_the_luckiest_tenth_of_scaled_queries_carries():
    (line,) = lines("scaling-in-detail", "scaled  : median")
    said = "With scaling, the largest tenth carries a fifth"
    assert said in text("scaling-in-detail")
    assert round(100 / int(re.search(r"carries (\d+)%", line)[1])) == 5


def test_how_often_the_interlude_finds_the_word_that_is_rendered():
    (share,) = printed("the-decoder-of-2017", "aligned:")
    sentence = f"In {share:.2f} of the cases here"
    assert sentence in text("the-decoder-of-2017")


def test_only_the_last_row_of_weights_zeroed_afterwards_sums_to_1():
    assert "Only the last row still sums to 1" in text("04-masking")
    (line,) = lines("04-masking", "row sums: [0.374")
    *others, last = map(float, re.findall(r"\d\.\d*", line))
    assert len(others) == 5 and max(others) < 1 == last


def test_what_sharing_saves_is_more_than_ten_times_the_parameters_cost():
    said = "Llama 2 70B shares keys and values among heads, so it keeps fewer bytes "
    said += "per token than Llama 2 7B, which does not"
    assert said in text("10-generating")
    shared, alone = (
        printed("10-generating", name)[-1]
        for name in ("Llama 2 70B, 8 of 64 heads", "Llama 2 7B, 32 of 32")
    )
    assert shared < alone


SIX = ("story", "recipe", "light", "code", "Alice", "poem")


def in_six_texts(start):
    """The numbers that chapter 11 prints for each text, below a line with ``start``."""
    (found,) = (text for text in outputs("11-a-real-llm") if start in text)
    rows = [line for line in found.splitlines() if line.startswith(SIX)]
    assert len(rows) == len(SIX)
    return np.array([list(map(float, re.findall(r"-?\d+\.?\d*", r))) for r in rows])


def test_what_forbidding_the_first_token_costs_in_six_texts():
    chapter = text("11-a-real-llm")
    rises = in_six_texts("without key 0")[:, -1]
    assert f"costs {rises.min():.2f} to {rises.max():.1f} nats: next to" in chapter
    assert f"costs {rises.min():.2f} to {rises.max():.1f} nats in six texts" in chapter
    assert "no other token costs more than 0.3" in chapter
    assert printed("11-a-real-llm", "without key 21")[0] <= 0.3
    median = printed("11-a-real-llm", "median of all")[0]
    assert f"and half of them cost {median:.2f} or less" in chapter


def test_how_much_of_the_damage_of_a_window_its_sinks_undo():
    rows = in_six_texts("window of 8:")
    undone = rows[:, 3]
    chapter = text("11-a-real-llm")
    assert (
        f"undoes {undone.min():.0f} to {undone.max():.0f} % of the damage done"
        in chapter
    )
    assert f"one sink undoes {undone.min():.0f} to {undone.max():.0f} %" in chapter
    more = rows[:, 1] - rows[:, 2]
    assert f"{more.min():.2f} to {more.max():.1f} nats" in chapter


def test_how_many_layers_rest_on_the_first_token():
    chapter, rows = text("11-a-real-llm"), in_six_texts("resting on token 0")
    assert f"In the story, {rows[0, 0]:.0f} of 30 layers" in chapter
    assert f"12 of 30 layers and {rows[0, 2]:.0f} of 270 heads" in chapter
    others = np.delete(rows[:, 0], SIX.index("code"))
    assert f"{others.min():.0f} to {others.max():.0f} of the 30 layers" in chapter
    assert (
        f"shorter piece of Python, {rows[SIX.index('code'), 0]:.0f} layers do"
        in chapter
    )


def test_the_right_layout_is_far_ahead_in_each_of_the_six_texts():
    assert "the right layout is more than 2 nats better" in text("11-a-real-llm")
    right, halves, none = in_six_texts("last quarter:  pairs").T
    assert (np.minimum(halves, none) - right > 2).all()
    assert "differs from no rotation by 0.1 at most" in text("11-a-real-llm")
    assert abs(halves - none).max() <= 0.1


def test_what_the_wrong_layout_costs_from_the_second_quarter_on():
    halves, pairs = (
        [float(n) for n in re.findall(r"\d+\.\d+", ln)]
        for name in ("halves", "pairs")
        for ln in lines("11-a-real-llm", f"{name} ")
        if "[" in ln
    )
    more = np.array(halves) - pairs
    assert [round(each) for each in more] == [0, 2, 2, 2]
    title = "From the second quarter on, halves cost 2 nats more"
    assert title in text("11-a-real-llm")


def test_chapter_11_cuts_and_merges_as_chapter_9_does():
    parts = []
    for name in ("09-language-model", "11-a-real-llm"):
        code = "\n".join(
            c.source for c in notebooks.code_cells(notebooks.read_text(name))
        )
        nodes = {getattr(node, "name", ""): node for node in ast.parse(code).body}
        parts.append([ast.unparse(nodes[each]) for each in ("words_of", "merge")])
    assert parts[0] == parts[1]


@pytest.mark.parametrize("chapter", sorted(p.stem for p in notebooks.TEXT.glob("*.md")))
def test_a_link_that_looks_like_a_title_is_the_title(chapter):
    titles = {
        path.stem: re.search(r"^# (.+?)(?::.*)?$", path.read_text("utf-8"), re.M)[1]
        for path in notebooks.TEXT.glob("*.md")
    }
    links = re.findall(r"\[([A-Z][^\]]+)\]\(([\w-]+)\.ipynb\)", text(chapter))
    plain = re.compile(r"(The next )?[Cc]hapters? ?\d*|Positions")
    named = [(words, to) for words, to in links if not plain.fullmatch(words)]
    assert [(words, to) for words, to in named if words != titles[to]] == []


OF_CHAPTERS = [
    path
    for path in sorted(ROOT.glob("exercises/*/*.ipynb"))
    if path.parent.name != "00-puzzles"  # which belong to all of them
]


@pytest.mark.parametrize("path", OF_CHAPTERS, ids=lambda p: p.stem)
def test_an_exercise_names_its_chapter_by_its_title(path):
    head = nbformat.read(path, as_version=4).cells[0].source
    number, title = re.search(r"after chapter (\d+), ([^*]+)\*\*", head).groups()
    (chapter,) = notebooks.TEXT.glob(f"{int(number):02}-*.md")
    assert f"# {title}\n" in chapter.read_text("utf-8")


# ---- chapter 6


@pytest.mark.long
def test_at_the_default_scale_most_readers_stay_on_the_plateau():
    said = (
        "most of our runs with a feed-forward network got stuck at an accuracy of 0.75"
    )
    assert f"at the default, {said}" in text("06-encoder-layer")
    starts = "import itertools", "rows = [", "class Reader", "inputs, labels"
    names = {}
    for cell in notebooks.read_text("06-encoder-layer").cells:
        if cell.cell_type == "code" and cell.source.startswith(starts):
            exec(cell.source.replace("weight *= 3", "weight *= 1"), names)
    shares = [names["accuracy_after_training"](seed, True) for seed in range(6)]
    assert sum(share < 0.8 for share in shares) > 3


# ---- chapter 7


def test_how_many_heads_rest_on_the_first_token_of_the_sentence():
    (resting,) = lines("07-reading-attention", "first    ")
    count, heads = map(int, re.findall(r"\d+", resting))
    said = f"In this sentence, {count} of {heads} heads put most of their weight on"
    assert said in text("07-reading-attention")


# ---- chapter 8


def test_attention_without_positions_is_a_little_better_than_a_guess():
    (right,) = printed("08-cost", "attention without positions")
    said = "but otherwise unchanged, does little better than guessing"
    assert said in text("08-cost")
    assert 1 / 8 + 0.02 < right < 1 / 8 + 0.08  # over 1000 sequences


# ---- chapter 9


def test_how_many_characters_a_token_of_the_pairs_holds():
    (line,) = lines("09-language-model", "characters, 15")
    characters, tokens = (
        int(n.replace(",", "")) for n in re.findall(r"[\d,]+\d", line)
    )
    said = f"a token holds {characters / tokens:.1f} characters on average"
    assert said in text("09-language-model")


def test_what_the_head_that_looks_one_back_costs_in_each_training():
    chapter = text("09-language-model")
    silent, _, back = np.array(
        [
            [float(n) for n in re.findall(r"[+-]\d\.\d\d", line)]
            for line in lines("09-language-model", "one back")
        ]
    ).T
    assert f"costs {silent.min():.2f} to {silent.max():.2f} nats" in chapter
    assert f"rises by {back.max():.2f} at most" in " ".join(chapter.split())
    learned = math.log(65) - printed("09-language-model", "seed 0: 1.")[0]
    assert f"the {learned:.2f} nats by which the models beat" in " ".join(
        chapter.split()
    )
    assert silent.max() / learned < 0.27


def test_only_the_longer_training_is_past_the_trigram_of_pairs():
    bar = printed("09-language-model", "trigram of pairs")[0]
    short, long = (
        float(re.findall(r"\d+\.\d+", line)[0])
        for line in lines("09-language-model", "nats a token")
    )
    assert long < bar < short
    assert f"below that of the trigram of pairs, {bar:.2f}" in text("09-language-model")


def test_which_of_the_widths_is_the_smallest_that_finds_a_likelier_text():
    rows = lines("09-language-model", "ln p = ")
    widths = [int(re.findall(r"width +(\d+)", row)[0]) for row in rows]
    found = [float(re.findall(r"-\d+\.\d+", row)[0]) for row in rows]
    better = [w for w, p in zip(widths, found, strict=True) if p > found[0]]
    said = f"Of the widths we tried, {min(better)} is the smallest that finds one"
    assert said in text("09-language-model")
    same = [w for w, p in zip(widths, found, strict=True) if p == found[0]]
    assert f"Widths {same[1]} and {same[2]} find the text" in text("09-language-model")


# ---- chapter 10


def test_how_much_the_loss_rises_beyond_the_trained_length():
    """By half a nat at twice the length, by a whole one at 8 times."""
    losses = printed("10-generating", "full  ")
    frequency = printed("10-generating", "by frequency")[0]
    assert "by half a nat at twice the length, and by a whole" in text("10-generating")
    assert losses[1] - losses[0] == pytest.approx(0.5, abs=0.11)
    assert losses[3] - losses[0] == pytest.approx(1.0, abs=0.11)
    assert losses[4] <= frequency
    window = printed("10-generating", "window 32 ")
    assert set(window) == {losses[0]}  # repairs all of it


# ---- chapter 11


def test_the_lines_at_the_head_of_chapter_9_are_those_that_it_writes():
    head = text("09-language-model").partition("About ")[0]
    shown = dict(re.findall(r"> \*\*([\d.]+)\*\* (The Queen [^>]+?) …", head))
    for temperature, start in shown.items():
        (line,) = lines("09-language-model", f"[temperature {temperature}] The Queen")
        assert line.startswith(f"[temperature {temperature}] {start}")
    assert list(shown) == ["0.2", "0.7", "1.5"]
