"""Regular expressions over what the theme writes, counted.

One that finds nothing in a whole book corrects nothing: the theme has changed, and the
build fails rather than publish what was meant to be corrected.
"""

import re
from collections import Counter
from collections.abc import Callable

from sphinx.errors import ExtensionError

Replacement = str | Callable[[re.Match], str]


class Rewriting:
    """Replaces in the pages of one build, and counts the hits of each pattern."""

    def __init__(self) -> None:
        self.hits: Counter[str] = Counter()

    def sub(self, pattern: str, new: Replacement, text: str, flags: int = 0) -> str:
        """``re.sub``, counted."""
        text, hits = re.subn(pattern, new, text, flags=flags)
        self.hits[pattern] += hits
        return text

    def require(self) -> None:
        """ExtensionError that names each pattern without a hit."""
        missing = [pattern for pattern, hits in self.hits.items() if not hits]
        if missing:
            raise ExtensionError(
                "The theme no longer writes what the book corrects; nothing matched "
                + " and ".join(missing)
            )
