"""Does every chapter print the same on other processors?

    python book/processors.py [NN-topic …]

Executes each chapter in memory, as if on processors with older vector instructions and
with two threads instead of one, and shows the first cell whose text differs from the
first run. Figures are not compared, nor are cells with the tag nbval-ignore-output.
"""

import argparse
import os
import sys
import time

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from notebooks import BOOK, TEXT, read_text

AVX512 = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
PROCESSORS = {  # for torch, for NumPy, and for the matrix products of both
    "best": {},  # whatever this machine has
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": AVX512,
    },
    "default": {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": f"{AVX512} AVX2 FMA3",
    },
}
SETTINGS = [("best", 1), ("best", 2), ("avx2", 1), ("default", 1), ("default", 2)]


def printed(cell: nbformat.NotebookNode) -> str:
    """The text of a cell's outputs, or nothing where it is not compared."""
    if "nbval-ignore-output" in cell.metadata.get("tags", []):
        return ""
    texts = (
        o.get("text") or o.get("data", {}).get("text/plain")
        for o in cell.get("outputs", [])
    )
    return "".join(t for t in texts if t and not t.startswith("<Figure"))


def run(stem: str, processor: str, threads: int) -> list[str]:
    """What each cell of a chapter prints on such a processor."""
    notebook = read_text(stem)
    resources = {"metadata": {"path": str(BOOK)}}
    client = NotebookClient(notebook, timeout=None, resources=resources)
    setting = PROCESSORS[processor] | {"OMP_NUM_THREADS": str(threads)}
    client.execute(env=os.environ | setting)
    return [printed(cell) for cell in notebook.cells]


def compare(stem: str) -> bool:
    """Report on a chapter; whether all settings print the same."""
    agree, first, start = True, None, time.monotonic()
    for processor, threads in SETTINGS:
        setting = f"{stem}, {processor}, {threads} threads"
        try:
            found = run(stem, processor, threads)
        except CellExecutionError as error:
            print(f"{setting}: failed\n{error}", flush=True)
            return False
        first = first or found
        different = [i for i, text in enumerate(found) if text != first[i]]
        if different:
            agree, i = False, different[0]
            print(f"{setting}: cells {different} differ, the first is", flush=True)
            print(f"{first[i]}\n  there, and here\n{found[i]}", flush=True)
    word, seconds = "" if agree else "NOT ", time.monotonic() - start
    print(f"{stem}: {word}the same on all ({seconds:.0f} s)", flush=True)
    return agree


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", metavar="NN-topic")
    stems = parser.parse_args().chapters or sorted(p.stem for p in TEXT.glob("*.md"))
    agreed = [compare(stem) for stem in stems]
    return 0 if all(agreed) else 1


if __name__ == "__main__":
    sys.exit(main())
