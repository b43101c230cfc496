"""Cells, exercises, puzzles and pictures in Firefox: tests that they have anyway."""

import shutil
import sys
from pathlib import Path

import pytest
import test_cut_a_line as cut_a_line
import test_editor as editor
import test_exercise_pages as exercise
import test_pictures as pictures
import test_puzzles as puzzles
import test_run_cells as cells
from test_cut_a_line import place as place
from test_editor import area as area
from test_exercise_pages import solution as solution

pytestmark = pytest.mark.long
SAME = {
    cells: ["a_visit_to_the_first_chapter", "a_whole_model_writes_in_its_page"],
    exercise: ["the_solution_holds"],
    editor: [
        "it_indents_closes_brackets_and_turns_lines_into_comments",
        "escape_then_tab_leaves_it_and_it_says_so",
        "keys_run_the_answer",
        "what_was_undone_before_a_reload_can_be_undone_after_it",
        "a_message_leads_to_its_line_which_is_marked_until_it_changes",
        "on_a_phone_the_letters_are_large_and_the_page_is_not_wider",
        "where_it_cannot_be_loaded_one_writes_in_a_text_area",
    ],
    puzzles: [
        "an_address_keys_and_the_board_lead_to_a_puzzle",
        "a_pass_is_kept_and_after_a_first_check_no_network_is_needed",
    ],
    pictures: [
        "cutting_the_first_head_blurs_the_second",
        "the_training_plays_to_its_end",
        "a_token_a_layer_and_a_change_can_be_chosen",
        "a_link_leads_to_the_same_picture",
        "a_picture_is_accessible_fits_a_phone_and_moves_no_text",
    ],
    cut_a_line: [
        "the_thickest_lines_leave_the_answer_and_one_line_changes_it",
        "each_sentence_has_its_own_lines",
        "lines_are_walked_and_cut_by_keyboard",
        "a_hair_is_cut_where_it_is_pressed",
        "it_is_seen_without_scrolling_and_nothing_moves",
        "it_is_accessible",
    ],
}
for module, names in SAME.items():
    globals().update({f"test_{name}": vars(module)[f"test_{name}"] for name in names})


@pytest.fixture(scope="session")
def browser(playwright, tmp_path_factory):
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    assert firefox, "Firefox is not there: apt-get install firefox-esr"
    start = tmp_path_factory.mktemp("firefox") / "start"
    between = Path(__file__).with_name("firefox.py")
    start.write_text(f'#!/bin/sh\nexec {sys.executable} {between} {firefox} "$@"\n')
    start.chmod(0o755)
    browser = playwright.firefox.launch(channel="moz-firefox", executable_path=start)
    yield browser
    browser.close()
