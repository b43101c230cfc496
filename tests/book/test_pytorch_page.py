"""PyTorch in one sitting, and the level of the chapter before it."""

import ast
import re
from pathlib import Path

import jupytext
import pytest
import torch

BOOK = Path(__file__).parents[2] / "book"
TEXT = BOOK / "text"


def cells(stem):
    return jupytext.read(TEXT / f"{stem}.md").cells


def imported(source):
    """The top-level modules that a cell imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


def test_chapter_1_needs_numpy_arrays_and_nothing_else_before_torch_is_introduced():
    found = set()
    for cell in cells("01-queries-keys-values"):
        if "## The same in torch" in cell.source:
            break
        if cell.cell_type == "code":
            found |= set(imported(cell.source))
    else:
        pytest.fail("chapter 1 has no section on torch")
    assert found == {"math", "matplotlib", "numpy"}


def test_no_chapter_before_the_page_trains():
    for stem in ("warm-up", "01-queries-keys-values"):
        code = [cell.source for cell in cells(stem) if cell.cell_type == "code"]
        assert not re.search(r"backward|optimizer|nn\.Module", "\n".join(code))


def test_every_loop_that_trains_has_the_lines_that_the_page_promises():
    (page,) = (c.source for c in cells("pytorch-in-one-sitting") if "# 1." in c.source)
    assert "will see wherever we train" in page
    steps = re.compile(
        r"optimizer\.zero_grad\(\).*\.backward\(\).*optimizer\.step\(\)", re.DOTALL
    )
    trains = []
    for path in sorted(TEXT.glob("*.md")):
        code = [c.source for c in cells(path.stem) if c.cell_type == "code"]
        loops = [source for source in code if "torch.optim." in source]
        assert [source for source in loops if not steps.search(source)] == []
        trains += [path.stem] if loops else []
    assert len(trains) >= 9


def test_every_name_that_the_page_introduces_is_in_the_glossary():
    prose = "\n".join(
        cell.source
        for cell in cells("pytorch-in-one-sitting")
        if cell.cell_type == "markdown"
    )
    names = re.findall(r"\*\*([\w -]+)\*\*", prose)
    glossary = (BOOK / "glossary.md").read_text(encoding="utf-8")
    entries = re.findall(r"^(\S.*)\n  ", glossary, re.M)
    known = {*entries, *(f"{entry}s" for entry in entries)}
    assert [name for name in names if name not in known] == []
    assert len(names) >= 10


@pytest.fixture(scope="module")
def page():
    """What the page defines, without its experiments."""
    names = {}
    for cell in cells("pytorch-in-one-sitting"):
        if cell.cell_type != "code":
            continue
        kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
        nodes = [node for node in ast.parse(cell.source).body if isinstance(node, kept)]
        exec(compile(ast.Module(nodes, []), "page", "exec"), names)
    return names


def test_the_answer_of_the_game_is_the_digit_of_the_next_child(page):
    torch.manual_seed(1)
    child, digit, answer = (part.tolist() for part in page["draw_game"](50))
    for children, digits, answers in zip(child, digit, answer, strict=True):
        held = dict(zip(children, digits, strict=True))
        assert answers == [held[(c + 1) % 6] for c in children]


def test_attention_of_the_page_is_that_of_torch(page):
    torch.manual_seed(0)
    layer, x = page["SelfAttention"](12, 5, 7), torch.randn(3, 4, 12)
    output, weights = layer(x)
    expected = torch.nn.functional.scaled_dot_product_attention(
        layer.W_q(x), layer.W_k(x), layer.W_v(x)
    )
    assert torch.allclose(output, expected, atol=1e-6)
    assert torch.allclose(weights.sum(-1), torch.ones(3, 4))


def test_a_player_without_projections_has_no_matrices_to_learn(page):
    def sizes(projected):
        return {name for name, _ in page["Player"](projected).named_parameters()}

    learned = {f"attend.W_{role}.weight" for role in "qkv"}
    assert sizes(True) - sizes(False) == learned
