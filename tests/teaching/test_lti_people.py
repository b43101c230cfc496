"""Whose score it is: students of the gradebook and users of Moodle and Canvas."""

from __future__ import annotations

import json

import pytest
from test_lti import FROM_MOODLE as MOODLE
from test_lti import LEARNER, TEACHER, said
from test_platforms import GRADEBOOK

from autograder.errors import CourseError
from autograder.intake.columns import same_count
from autograder.intake.roster import read_roster
from autograder.lti.people import People


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


ADA, EVA = (
    member("3", "Ada Test", "ada@x.org", "S3"),
    member("4", "Eva Late", "eva@x.org"),
)
OWN = "student_id,name\n"
# roster, members, student, user or the sentence
ODD = {
    "names in another order": (OWN + "a1,Test Ada\n", [ADA], "a1", "3"),
    "last name first": (OWN + 'a1,"Test, Ada"\n', [ADA], "a1", "3"),
    "a middle name": (OWN + "a1,Ada Maria Test\n", [ADA], "a1", "not-there"),
    "a middle name, and the school id": (OWN + "S3,Ada Maria Test\n", [ADA], "S3", "3"),
    "names in part the same": (
        OWN + "a1,Ada Test\n",
        [ADA, member("9", "Ada Maria Test")],
        "a1",
        "several",
    ),
    "address in another case": ("", [ADA], "ADA@x.org", "3"),
    "address with an apostrophe, in another case": (
        "email,name\nO'Neil@x.org,Sio O'Neil\n",
        [member("5", "Sio O'Neil", "o'neil@X.org")],
        "O-Neil@x.org-06e363",
        "5",
    ),
    "address with and without a dot": (
        "",
        [member("5", "", "annlee@x.org")],
        "ann.lee@x.org",
        "not-there",
    ),
    "twins there": (
        OWN + "a1,Ada Test\n",
        [ADA, member("9", "Ada Test")],
        "a1",
        "several",
    ),
    "twins in the roster": (OWN + "a1,Ada Test\na2,Ada Test\n", [ADA], "a1", "several"),
    "twins with addresses": (
        "student_id,email,name\na1,ada@x.org,Ada Test\na2,b@x.org,Ada Test\n",
        [ADA, member("9", "Ada Test", "b@x.org")],
        "a2",
        "9",
    ),
    "two accounts with one address": (
        "",
        [ADA, member("9", "Ada Test", "ada@x.org")],
        "ada@x.org",
        "several",
    ),
    "an old account is inactive": (
        "",
        [member("9", "Ada Test", "ada@x.org", status="Inactive"), ADA],
        "ada@x.org",
        "3",
    ),
    "listed twice": ("", [ADA, ADA], "ada@x.org", "3"),
    "address of one, school id of another": (
        "student_id,email\nS3,eva@x.org\n",
        [ADA, EVA],
        "S3",
        "several",
    ),
    "a number that is a user's": ("", [ADA, EVA], "3", "number"),
    "a number of a blind assignment": ("", [ADA, EVA], "participant-3", "number"),
    "the list's own number is a user's": (OWN + "4,Ada Test\n", [ADA, EVA], "4", "3"),
    "a school id is a number": (
        OWN + "4,Ada Test\n",
        [member("3", "Ada Test", "", "4"), EVA],
        "4",
        "3",
    ),
    "a school id is another's number": (
        OWN + "4,Ada Test\n",
        [ADA, member("9", "Eva Late", "", "4")],
        "4",
        "other-name",
    ),
    "a number of some other table is a school id": (
        "student_id,number\na1,4\n",
        [ADA, member("9", "Eva Late", "", "4")],
        "a1",
        "not-there",
    ),
    "a user as lti roster writes it": ("", [member("3")], "user-3", "3"),
    "a login that reads so too": ("", [member("3")], "user3", "not-there"),
    "another name": (
        "email,name\nada@x.org,Eva Late\n",
        [ADA, EVA],
        "ada@x.org",
        "other-name",
    ),
    "no names there": (
        "email,name\nada@x.org,Ada Test\n",
        [member("3", "", "ada@x.org")],
        "ada@x.org",
        "3",
    ),
    "no names in the list": ("email\nada@x.org\n", [ADA], "ada@x.org", "3"),
    "a namesake joins when the student has left": (
        "email,name\na@x.org,Ada Test\n",
        [member("9", "Ada Test", "a@x.org", status="Inactive"), ADA],
        "a@x.org",
        "no-student",
    ),
    "a namesake joins, and the student is not listed": (
        "email,name\na@x.org,Ada Test\n",
        [ADA],
        "a@x.org",
        "address",
    ),
    "an instructor": ("", [ADA | {"roles": [TEACHER]}], "ada@x.org", "no-student"),
    "an instructor of the student's name": (
        OWN + "a1,Ada Test\n",
        [ADA | {"roles": [TEACHER]}, EVA],
        "a1",
        "not-there",
    ),
}


@pytest.mark.parametrize("case", ODD)
def test_one_person_for_sure_or_a_sentence(tmp_path, case):
    table, members, student, expected = ODD[case]
    (tmp_path / "list.csv").write_text(table)
    roster = read_roster(tmp_path / "list.csv") if table else None
    people = People(members, "moodle", roster)
    try:
        found = people.user(student)
    except CourseError as why:
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
