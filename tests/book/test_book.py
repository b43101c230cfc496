"""What the book says of itself holds: each sentence is compared with the files."""

import ast
import re
import tomllib
from pathlib import Path

import minutes
import notebooks
import yaml

BOOK = notebooks.BOOK
ROOT = BOOK.parent
NUMBERS = {4: "four", 5: "five", 6: "six", 7: "seven", 9: "nine", 10: "ten"}
NUMBERS |= {11: "eleven", 12: "twelve", 13: "thirteen", 14: "fourteen"}


def page(name):
    """A page's text on one line, so that a sentence is found across line ends."""
    return " ".join((BOOK / f"{name}.md").read_text(encoding="utf-8").split())


def contents():
    """All pages in the order of the contents."""

    def files(entries):
        for entry in entries:
            yield Path(entry["file"]).relative_to("book").as_posix()
            yield from files(entry.get("sections", []))

    parts = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]
    return [file for part in parts for file in files(part["chapters"])]


def chapters():
    """The notebooks among them, with the warm-up first: so the index reads."""
    found = [name for name in contents() if name in minutes.chapters()]
    return sorted(found, key=lambda name: name != "warm-up")


def code(name):
    cells = notebooks.read_text(name).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def imports(source):
    """The modules that a cell imports, each with the names it takes from it."""
    plain = re.sub(r"^\s*[%!].*$", "", source, flags=re.M)
    for node in ast.walk(ast.parse(plain)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module, [alias.name for alias in node.names]


def modules(name):
    return {module.split(".")[0] for cell in code(name) for module, _ in imports(cell)}


def chapter_minutes():
    return {name: minutes.named(notebooks.read_text(name)) for name in chapters()}


def rows(name):
    """The rows of a page's tables, without heads and lines."""
    lines = (BOOK / f"{name}.md").read_text("utf-8").splitlines()
    cells = [line.strip("|").split(" | ") for line in lines if line.startswith("| ")]
    return [[cell.strip(" |") for cell in row] for row in cells]


def linked(text):
    return re.findall(r"\(([\w-]+)\.ipynb\)", text)


# ---- order


def test_nothing_is_imported_from_the_library_before_it_is_derived():
    assert "derived in a chapter before another page uses it" in page("index")
    assert "Most chapters use one small library" in page("index")
    users = [name for name in chapters() if "attention" in modules(name)]
    assert len(users) > len(chapters()) / 2
    derived, early = set(), []
    for name in chapters():
        for cell in code(name):
            for module, names in imports(cell):
                if module == "attention":
                    early += [(name, each) for each in set(names) - derived]
            derived |= set(re.findall(r"^(?:def|class) (\w+)", cell, re.M))
    assert early == []


def test_the_index_says_which_pages_use_pytorch():
    sentence = (
        "The warm-up needs no PyTorch. Chapter 1 uses PyTorch near its end for a "
        "comparison, and every later chapter trains or runs models with it."
    )
    assert sentence in page("index")
    assert [name for name in chapters() if "torch" not in modules(name)] == ["warm-up"]
    text = (BOOK / "text/01-queries-keys-values.md").read_text("utf-8")
    assert text.index("import torch") > text.index("### Batches")


def test_the_index_lists_every_chapter_in_order_under_its_title():
    listed = re.findall(
        r"^\[(?:\d+\. )?([^\]]+)\]\(([\w-]+)\.ipynb\)\n: ",
        (BOOK / "index.md").read_text("utf-8"),
        re.M,
    )
    assert [name for _, name in listed] == chapters()
    for title, name in listed:
        head = notebooks.read_text(name).cells[0].source.split("\n")[0]
        assert head.removeprefix("# ").split(":")[0] == title


# ---- what is checked, and what runs


def test_what_a_downloaded_chapter_imports_is_on_its_readers_machine():
    """Its own modules come in the wheel, the rest from the line that installs it."""
    students = page("for-students")
    about = tomllib.loads((ROOT / "course.toml").read_text("utf-8"))
    wheel = [*about["library"], *about["wheel"]["modules"]]
    own = {path.stem for path in BOOK.glob("*.py")}
    for name in chapters():
        for module in modules(name) & own:
            assert f"book/{module}.py" in wheel, (name, module)
        for file in re.findall(r'Path\("([\w./-]+)"\)', "\n".join(code(name))):
            assert f'href="../_static/{Path(file).name}"' in students, (name, file)
            assert (BOOK / file).is_file()
    assert "paying_attention-1.0.0-py3-none-any.whl" in students
    assert "for-students.md#get-an-exercise" in page("index")


# ---- exercises


def test_the_index_says_which_chapters_have_an_exercise_and_how_many_are_in_the_site():
    text = page("index")
    assignments = list(minutes.exercise_minutes())
    with_card = [
        name[:2]
        for name in chapters()
        if f"](../exercises/{name[:2]}-"
        in (BOOK / f"text/{name}.md").read_text("utf-8")
    ]
    assert with_card == [name[:2] for name in assignments]
    assert "Chapters 1 to 12 end with a graded exercise" in text
    assert [int(number) for number in with_card] == [*range(1, 13)]
    solved_here = len(list((BOOK / "solve").glob("*.md")))
    words = f"You can solve {NUMBERS[solved_here]} of the {NUMBERS[len(assignments)]} "
    assert words in text


def test_the_page_for_students_names_what_each_exercise_needs():
    students = page("for-students")
    assert "Chapters 1 to 12 end with a graded exercise" in students
    solved_here = {path.stem for path in (BOOK / "solve").glob("*.md")}
    assert set(re.findall(r"\(solve/([\w-]+)\.md\)", students)) == solved_here
    with_torch = [
        path.parent.name[:2]
        for path in sorted((ROOT / "exercises").glob("*/*.ipynb"))
        if re.search(r'"(import|from) torch', path.read_text("utf-8"))
    ]
    numbers = f"{', '.join(with_torch[:-1])} and {with_torch[-1]}"
    assert f"Exercises {numbers} need PyTorch as well" in students


# ---- time


def test_the_minutes_stand_where_readers_look(monkeypatch):
    """In heads, plans and totals: `make minutes` has nothing to write."""
    written = {}
    keep = lambda path, text, *_, **__: written.update({path: text})  # noqa: E731
    monkeypatch.setattr(Path, "write_text", keep)
    minutes.write()
    other = [path for path, text in written.items() if path.read_text("utf-8") != text]
    assert len(written) > 14 and other == []


def test_the_term_has_every_chapter_once_and_adds_up():
    read, solve = chapter_minutes(), minutes.exercise_minutes()
    plan = [row for row in rows("a-term") if len(row) > 1 and linked(row[1])]
    assert [name for row in plan for name in linked(row[1])] == list(read)
    assert [row[2].strip("`") for row in plan if row[2].startswith("`")] == list(solve)
    for _, chapter, exercise, total in plan:
        sum_of_both = sum(read[name] for name in linked(chapter))
        assert int(total) == sum_of_both + solve.get(exercise.strip("`"), 0), chapter


# ---- glossary


def entries():
    """Each term of the glossary, with its text."""
    text = (BOOK / "glossary.md").read_text("utf-8")
    (block,) = re.findall(r"^```\{glossary\}\n(.*?)\n```", text, re.M | re.S)
    return dict(entry.split("\n", 1) for entry in re.split(r"\n\n(?=\S)", block))


def test_the_glossary_is_in_alphabetical_order():
    assert list(entries()) == sorted(entries(), key=str.lower)


def test_a_term_stands_in_the_chapter_that_the_glossary_names():
    texts = {path.stem: path.read_text("utf-8") for path in BOOK.glob("text/*.md")}
    words = {name: " ".join(text.split()).lower() for name, text in texts.items()}
    for term, entry in entries().items():
        for name in linked(entry):
            assert term.lower() in words[name], (term, name)


def test_a_term_is_set_in_bold_in_no_chapter_before_those_that_the_glossary_names():
    early = []
    order = [name for name in chapters() if name != "warm-up"]
    texts = {n: (BOOK / f"text/{n}.md").read_text("utf-8") for n in order}
    for term, entry in entries().items():
        bold = re.compile(rf"\*\*{re.escape(term)}s?\*\*", re.I)
        found = [name for name in order if bold.search(" ".join(texts[name].split()))]
        named = [
            name for name in re.findall(r"\(([\w-]+)\.ipynb\)", entry) if name in order
        ]
        if found and (not named or order.index(found[0]) < order.index(named[0])):
            early.append((term, found[0], named))
    assert early == []


# ---- references


def test_every_reference_is_annotated_once_and_nothing_else_is_cited():
    bibliography = (BOOK / "references.bib").read_text("utf-8")
    keys = re.findall(r"^@\w+\{([^,]+),$", bibliography, re.M)
    pages = [*BOOK.glob("*.md"), *notebooks.TEXT.glob("*.md")]
    cited = {
        key
        for page in pages
        for group in re.findall(r"\{cite:\w+\}`([^`]+)`", page.read_text("utf-8"))
        for key in group.split(",")
    }
    assert sorted(keys) == sorted(cited)
    assert [key for key in keys if f"`{key}`" not in page("references")] == []


def test_no_work_is_listed_under_two_keys():
    bibliography = (BOOK / "references.bib").read_text("utf-8").lower()
    titles = [
        re.sub(r"\W", "", title)
        for title in re.findall(r"^  title = \{(.*)\},?$", bibliography, re.M)
    ]
    assert len(titles) == len(set(titles))


# ---- claims

CLAIMS = (BOOK / "what-tutorials-get-wrong.md").read_text("utf-8")


def test_the_page_of_claims_links_to_every_claim_that_a_chapter_settles():
    pages = [*BOOK.glob("*.md"), *BOOK.glob("text/*.md")]
    text = "\n".join(each.read_text("utf-8") for each in pages)
    labels = sorted(re.findall(r"^\((claim-[\w-]+)\)=$", text, re.M))
    assert labels == sorted(set(re.findall(r"\(#(claim-[\w-]+)\)", CLAIMS)))


def test_every_claim_leads_to_where_the_book_settles_it():
    claims = re.split(r"^- ", CLAIMS, flags=re.M)[1:]
    dumb = [c for c in claims if not re.search(r"\]\((#claim|[\w-]+\.\w+#)", c)]
    assert dumb == []
