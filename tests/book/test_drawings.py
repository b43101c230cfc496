"""The drawings: made by the script, with the numbers that the chapters print."""

import re
from xml.etree import ElementTree

import drawings
import notebooks
import pytest
from shared import outputs

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def words(name):
    """What stands in a drawing, in the order in which it is drawn."""
    root = ElementTree.fromstring((drawings.IMAGES / f"{name}.svg").read_text("utf-8"))
    return [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]


def printed(chapter, start):
    """The lines of a chapter's outputs that begin with ``start``."""
    lines = [line for text in outputs(chapter) for line in text.splitlines()]
    found = [line for line in lines if line.startswith(start)]
    assert found, f"{chapter} prints no line that starts with {start}"
    return found


def numbers(line):
    return [float(number) for number in NUMBER.findall(line)]


@pytest.mark.parametrize("name", drawings.DRAWINGS)
def test_a_drawing_is_what_the_script_draws(name):
    file = drawings.IMAGES / f"{name}.svg"
    assert file.read_text("utf-8") == drawings.svg(name), "run make drawings"


def test_every_drawing_is_shown_with_words_that_say_what_it_shows():
    pages = [*notebooks.TEXT.glob("*.md"), *notebooks.BOOK.glob("*.md")]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    images = re.findall(r"!\[([^\]]*)\]\(images/([\w-]+)\.svg\)", text)
    alts = {name: alt for alt, name in images}
    assert set(alts) == set(drawings.DRAWINGS)
    assert {name for name, alt in alts.items() if len(alt.split()) < 12} == set()


def test_the_query_of_sat_has_the_scores_and_weights_that_chapter_1_prints():
    lines = printed("01-queries-keys-values", "sat:")
    (line,) = (line for line in lines if "->" in line)
    scores, weights, output = map(numbers, line.split("->"))
    drawn = words("one-query")
    assert [f"{score:.1f}" for score in scores] == [
        word for word in drawn if re.fullmatch(r"\d\.\d", word)
    ]
    assert [f"{number:.2f}" for number in weights + output] == [
        word for word in drawn if re.fullmatch(r"\d\.\d\d", word)
    ]


def test_the_columns_become_the_heads_that_chapter_3_prints():
    lines = [line for line in printed("03-multi-head", "head ") if "[[" in line]
    heads = [number for line in lines for number in numbers(line)[1:]]
    drawn = [int(word) for word in words("split-merge") if word.isdigit()]
    assert drawn[24:] == heads  # after the two tokens: split, then reshaped alone


def test_the_arcs_are_as_many_as_chapter_4_counts():
    counts = {
        part: re.search(r"\d+ of \d+", line)[0]
        for part in ("BERT, T5 encoder", "GPT, T5 decoder", "T5 cross-attention")
        for line in printed("04-masking", part)
        if " of " in line
    }
    titles = " ".join(words("mask-arcs"))
    assert re.findall(r"\d+ of \d+", titles) == list(counts.values())


def test_the_arcs_that_padding_asks_are_faint():
    """In the encoder four real tokens look back and ahead, two of padding look back."""
    root = ElementTree.fromstring(
        (drawings.IMAGES / "mask-arcs.svg").read_text("utf-8")
    )
    arcs = [each.get("class") for each in root.iter("{http://www.w3.org/2000/svg}path")]
    assert arcs.count("soft thin") == 2 * 4
    assert arcs.count("head0 dashed") == 4 * 3 / 2
    assert arcs.count("q") == 4 * 3 / 2 + 6 * 5 / 2 + 4 * 4  # the last are straight


def test_the_shared_heads_keep_the_bytes_that_chapter_10_prints():
    kept = {
        line[:3]: numbers(line)[0]
        for name in ("MHA:", "GQA:", "MQA:")
        for line in printed("10-generating", name)
    }
    drawn = words("cache-heads")
    for name, count in kept.items():
        assert f"{count:.0f} bytes a token" in drawn[drawn.index(name) :][:2]


def test_the_model_of_chapter_11_has_the_parameters_that_the_chapter_counts():
    (line,) = printed("11-a-real-llm", "counted")
    counted = int(line.split()[1].replace(",", ""))
    drawn = " ".join(words("smollm2"))
    assert f"{counted / 1e6:.1f} million in all" in drawn
    parts = {}
    for start, name in [
        ("block_count", "{:g} layers of"),
        ("attention.head_count ", "{:g} heads of 64"),
        ("attention.head_count_kv", "{:g} shared"),
        ("feed_forward_length", "→ {:g} →"),
    ]:
        (line,) = printed("11-a-real-llm", start)
        parts[start] = name.format(numbers(line)[-1])
    assert [part for part in parts.values() if part not in drawn] == []
