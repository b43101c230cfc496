"""How long until an exercise page has checked something? The parts of a first visit.

    python -m benchmarks.first_check [ASSIGNMENT]

With 00-puzzles the first puzzle is solved, and all other hosts are blocked.

Opens the page of the built site (`make book`) in headless Chromium with an empty cache
and presses its first Check at once, which is sooner than any reader does; then once
more, when the browser has kept everything, once more after the code has changed, and
once more after an endless loop was stopped.
"""

from __future__ import annotations

import json
import shutil
import sys
import time

from playwright.sync_api import Page, sync_playwright

from benchmarks.pages import ROOT, served

SITE = ROOT / "_build/html"
PUZZLE = "book/puzzles.html#softmax_row"
SOLVED = """def softmax_row(scores):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()"""
FORGET = "document.querySelector('.exercise-age')?.remove()"


def seconds_to_check(page: Page) -> float:
    """From the press to the verdict."""
    page.evaluate(FORGET)
    start = time.perf_counter()
    page.locator(".exercise-bar button").first.click()
    page.wait_for_selector(".exercise-age", timeout=300_000)
    return time.perf_counter() - start


def parts_of(page: Page) -> dict[str, float]:
    """What the start of Python took, by part, in seconds."""
    said = page.locator("#exercise-notebook").get_attribute("data-parts") or "[]"
    parts: dict[str, float] = {}
    for part, milliseconds in json.loads(said):
        parts[part] = parts.get(part, 0) + milliseconds / 1000
    return parts


def stop_what_never_ends(page: Page) -> None:
    """Run an endless loop for twelve seconds, and end it; the answer is as before."""
    area = page.locator(".code-editor .cm-content").first
    answer = area.evaluate("area => area.closest('.code-editor').editor.value")
    area.fill("while True:\n    pass")
    page.locator(".exercise-bar button").first.click()
    page.wait_for_timeout(12_000)
    page.get_by_role("button", name="Stop").click()
    area.fill(answer)


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("Chromium is not installed; on Debian: apt-get install chromium")
    assignment = (sys.argv[1:] or ["01-attention"])[0]
    if not (SITE / "_static/pyodide").exists():
        sys.exit("The built site has no Python of its own; run make vendor book.")
    solving = assignment == "00-puzzles"
    rows = {}
    with served(SITE) as home, sync_playwright() as engine:
        browser = engine.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        context = browser.new_context(base_url=home)
        context.route(lambda url: not url.startswith(home), lambda one: one.abort())
        page = context.new_page()
        for visit in "first visit", "second visit":
            start = time.perf_counter()
            page.goto(PUZZLE if solving else f"book/solve/{assignment}.html")
            if solving:
                page.locator(".code-editor .cm-content").first.fill(SOLVED)
            opened = time.perf_counter() - start
            total = seconds_to_check(page)
            rows[visit] = (total, {"page, and the answer": opened} | parts_of(page))
            if solving:  # it has to be a pass
                page.locator(".puzzle-board a.done").first.wait_for()
        rows["second check"] = (seconds_to_check(page), {})
        stop_what_never_ends(page)
        rows["after Stop"] = (seconds_to_check(page), {})
        browser.close()
    names = list(dict.fromkeys(name for _, parts in rows.values() for name in parts))
    print("| seconds | press to verdict | " + " | ".join(names) + " |")
    print("|---" * (2 + len(names)) + "|")
    for visit, (total, parts) in rows.items():
        told = [f"{parts[name]:.1f}" if name in parts else "" for name in names]
        print(f"| {visit} | {total:.1f} | " + " | ".join(told) + " |")


if __name__ == "__main__":
    main()
