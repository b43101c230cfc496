"""Whose score it is: students of the gradebook and users of Moodle and Canvas."""

from __future__ import annotations

import json

import pytest
from shared import rows
from test_lti import FROM_MOODLE as MOODLE
from test_lti import LEARNER, TEACHER, said
from test_platforms import GRADEBOOK

from autograder.errors import CourseError
from autograder.intake.columns import same_count
from autograder.intake.roster import read_roster
from autograder.lti.people import People
from autograder.lti.sentences import TEXTS


def member(user, name="", email="", school="", **more):
    ids = {"name": name, "email": email, "lis_person_sourcedid": school}
    return {"user_id": user, "roles": [LEARNER], "status": "Active"} | ids | more


def from_moodle(sheet):
    """The members that two fresh installations of Moodle had."""
    if "kim" in sheet:
        rows = (MOODLE / "platform-users.txt").read_text("utf-8").splitlines()
        fields = (row.split("|") for row in rows)
        return [member(user, name, mail) for user, mail, name in fields]
    return json.loads((MOODLE / "memberships.json").read_text("utf-8"))["members"]


SHEETS = {
    "addresses": ("worksheet-one-kim.csv", {}),
    "names": ("worksheet-one-kim.csv", {"student": "Full name"}),
    "blind, then revealed": ("02-blind-revealed.csv", {}),
}


@pytest.mark.parametrize("case", SHEETS)
def test_a_participant_of_moodle_is_found_by_address_and_never_by_number(case):
    sheet, given = SHEETS[case]
    members = from_moodle(sheet)
    roster = read_roster(MOODLE / sheet, given)
    people = People(members, "moodle", roster)
    assert len({p.number for p in roster.people} & people.students.keys()) > 1
    users = {m["email"]: m["user_id"] for m in members}
    for person in roster.people:
        (address,) = {one for one in person.ids if "@" in one}
        for student in (person.student, f"participant-{person.number}"):
            assert people.user(student) == users[address]


def test_the_gradebook_of_canvas_has_the_numbers_of_its_users(tmp_path):
    (tmp_path / "grades.csv").write_text(GRADEBOOK)
    roster = read_roster(tmp_path / "grades.csv")
    members = [member("34", "Ada Lovelace"), member("35", "Chen_Li Wu")]
    people = People(members, "canvas", roster)
    assert people.matched(["ada", "35"]) == ({"ada": "34", "35": "35"}, {})
    members = [member("34", "Chen_Li Wu"), member("35", "Ada Lovelace")]
    people = People(members, "moodle", roster)  # of another platform they are not
    assert people.matched(["ada", "35"]) == ({"ada": "35", "35": "34"}, {})


def test_numbers_of_teams_and_participants_are_counted_apart():
    participant = ("moodle", "roster")
    assert same_count(*participant, "moodle", "file")
    assert not same_count(*participant, "moodle", "file of a team")
    assert not same_count(*participant, "canvas", "roster")
    assert not same_count("", "roster", "", "service")


ADA = member("3", "Ada Test", "ada@x.org", "S3")
EVA = member("4", "Eva Late", "eva@x.org")
LISTED = {
    "ada": ADA,
    "eva": EVA,
    "sio": member("5", "Sio O'Neil", "o'neil@X.org"),
    "lee": member("6", "", "annlee@x.org"),
    "other ada": member("9", "Ada Test"),
    "ada maria": member("9", "Ada Maria Test"),
    "ada b": member("9", "Ada Test", "b@x.org"),
    "second account": member("9", "Ada Test", "ada@x.org"),
    "old account": member("9", "Ada Test", "ada@x.org", status="Inactive"),
    "left": member("9", "Ada Test", "a@x.org", status="Inactive"),
    "ada, school 4": member("3", "Ada Test", "", "4"),
    "eva, school 4": member("9", "Eva Late", "", "4"),
    "ada, address alone": member("3", "", "ada@x.org"),
    "number alone": member("3"),
    "teacher": ADA | {"roles": [TEACHER]},
}
# what is odd | the roster | who is listed there | student | the user or the sentence
ODD = rows("""
names in another order | student_id,name; a1,Test Ada | ada | a1 | 3
last name first | student_id,name; a1,"Test, Ada" | ada | a1 | 3
a middle name | student_id,name; a1,Ada Maria Test | ada | a1 | not-there
a middle name, school id | student_id,name; S3,Ada Maria Test | ada | S3 | 3
names alike | student_id,name; a1,Ada Test | ada + ada maria | a1 | several
twins there | student_id,name; a1,Ada Test | ada + other ada | a1 | several
twins here | student_id,name; a1,Ada Test; a2,Ada Test | ada | a1 | several
twins | email,name; ada@x.org,Ada Test; b@x.org,Ada Test | ada + ada b | b@x.org | 9
address in another case | | ada | ADA@x.org | 3
an apostrophe | email,name; O'Neil@x.org,Sio O'Neil | sio | O-Neil@x.org-06e363 | 5
address without its dot | | lee | ann.lee@x.org | not-there
two accounts | | ada + second account | ada@x.org | several
an old account | | old account + ada | ada@x.org | 3
listed twice | | ada + ada | ada@x.org | 3
ids of two | student_id,email; S3,eva@x.org | ada + eva | S3 | several
a number that is a user's | | ada + eva | 3 | number
a number of a blind assignment | | ada + eva | participant-3 | number
our number is a user's | student_id,name; 4,Ada Test | ada + eva | 4 | 3
school id is a number | student_id,name; 4,Ada Test | ada, school 4 + eva | 4 | 3
or another's | student_id,name; 4,Ada Test | ada + eva, school 4 | 4 | other-name
a number beside the id | student_id,number; a1,4 | ada + eva, school 4 | a1 | not-there
as lti roster writes it | | number alone | user-3 | 3
a login that reads so too | | number alone | user3 | not-there
another name | email,name; ada@x.org,Eva Late | ada + eva | ada@x.org | other-name
no names there | email,name; ada@x.org,Ada Test | ada, address alone | ada@x.org | 3
no names here | email; ada@x.org | ada | ada@x.org | 3
left, and a namesake | email,name; a@x.org,Ada Test | left + ada | a@x.org | no-student
not listed, and a namesake | email,name; a@x.org,Ada Test | ada | a@x.org | address
an instructor | | teacher | ada@x.org | no-student
an instructor's name | student_id,name; a1,Ada Test | teacher + eva | a1 | not-there
""")


@pytest.mark.parametrize("case", ODD)
def test_one_person_for_sure_or_a_sentence(tmp_path, case):
    table, listed, student, expected = ODD[case]
    (tmp_path / "list.csv").write_text(table.replace("; ", "\n"))
    roster = read_roster(tmp_path / "list.csv") if table else None
    members = [LISTED[name] for name in listed.split(" + ")]
    people = People(members, "moodle", roster)
    try:
        found = people.user(student)
    except CourseError as why:
        assert expected in TEXTS, why
        assert said(expected, str(why)), why
    else:
        assert found == expected


def test_of_two_students_who_are_one_user_neither_is_sent(tmp_path):
    users, refused = People([ADA, EVA], "moodle").matched(
        ["ada@x.org", "S3", "eva@x.org"]
    )
    assert users == {"eva@x.org": "4"}
    assert refused.keys() == {"ada@x.org", "S3"}
    assert said("twin", str(refused["S3"]))


def test_a_number_in_a_list_of_teams_is_no_participants_in_moodle(tmp_path):
    (tmp_path / "teams.csv").write_text("student_id,id,team\nrea@example.org,18,Red\n")
    roster = read_roster(MOODLE / "02-blind-revealed.csv")
    people = roster.with_teams(tmp_path / "teams.csv").team("Red")
    assert [person.student for person in people] == ["rea@example.org"]
