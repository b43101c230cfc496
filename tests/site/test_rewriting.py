"""What corrects the theme's pages notices when the theme has changed."""

from pathlib import Path

import publishing
import pytest
from rewriting import Rewriting
from sphinx.errors import ExtensionError


def test_a_correction_that_finds_nothing_in_any_page_fails_the_build(tmp_path):
    for name, text in (("a", '<link rel="index" href="#">'), ("b", "nothing of it")):
        Path(tmp_path, f"{name}.html").write_text(text)
    rewriting = Rewriting()
    publishing.correct_pages(tmp_path, rewriting)
    assert Path(tmp_path, "a.html").read_text() == ""
    with pytest.raises(ExtensionError) as raised:
        rewriting.require()
    pattern, *others = (pattern for pattern, _ in publishing.CORRECTIONS)
    assert pattern not in str(raised.value)
    assert all(other in str(raised.value) for other in others)
