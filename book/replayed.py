"""List the chapters that were not replayed as they are: `make test` replays them.

    python book/replayed.py

A chapter's key changes with its code, its outputs, the modules and files of the book
that it uses and the versions of the libraries. `replayed.txt` has the key with which
each was last replayed without a difference; a replay that passes writes it.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

BOOK = Path(__file__).resolve().parent
NOTED = BOOK / "replayed.txt"
ROOT = BOOK.parent
PINS = ("requirements.txt", "requirements-model.txt")


def code_cells(stem: str) -> list[dict]:
    """The code cells of the published notebook, with their outputs."""
    text = (BOOK / f"{stem}.ipynb").read_text(encoding="utf-8")
    return [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


def used(code: str) -> list[Path]:
    """The book's modules that code imports, the files that it names, and theirs."""
    modules = {path.stem: path for path in BOOK.glob("*.py")}
    found: list[Path] = []
    texts = [code]
    for text in texts:  # grows while we go
        names = re.findall(r"^\s*(?:from|import) +(\w+)", text, re.M)
        new = [modules[name] for name in names if name in modules]
        strings = re.findall(r"""["']([\w./-]+\.\w+)["']""", text)
        new += [BOOK / name for name in strings if (BOOK / name).is_file()]
        for path in new:
            if path not in found:
                found.append(path)
                if path.suffix == ".py":
                    texts.append(path.read_text(encoding="utf-8"))
    return sorted(found)


def pins(texts: Iterable[str]) -> list[str]:
    """The lines of the requirements whose package is named in the texts."""
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    lines = [line for name in PINS for line in (ROOT / name).read_text().splitlines()]
    pairs = [(line.partition("==")[0].replace("-", "_"), line) for line in lines]
    return [line for name, line in pairs if name in words]


def key(stem: str) -> str:
    """Another one when a replay of the chapter could give another result."""
    cells = code_cells(stem)
    code = "\n".join("".join(cell["source"]) for cell in cells)
    files = used(code)
    modules = [path.read_text("utf-8") for path in files if path.suffix == ".py"]
    parts = [json.dumps([cells, pins([code, *modules])], sort_keys=True).encode()]
    parts += [path.read_bytes() for path in files]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:24]


def noted() -> set[tuple[str, ...]]:
    """Pairs of chapter and key; a merge of two branches may keep both of a chapter."""
    if not NOTED.exists():
        return set()
    return {tuple(line.split()) for line in NOTED.read_text().splitlines()}


def stale() -> list[str]:
    """The chapters that were not replayed as they are."""
    known = noted()
    stems = sorted(path.stem for path in BOOK.glob("*.ipynb"))
    return [stem for stem in stems if (stem, key(stem)) not in known]


def note(replayed: Iterable[str]) -> None:
    """Write down that these chapters were replayed without a difference."""
    new = {stem: key(stem) for stem in replayed}
    lines = {pair for pair in noted() if pair[0] not in new} | set(new.items())
    NOTED.write_text("".join(f"{stem} {key}\n" for stem, key in sorted(lines)))


if __name__ == "__main__":
    print(*(BOOK / f"{stem}.ipynb" for stem in stale()))
