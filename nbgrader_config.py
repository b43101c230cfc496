"""Tells nbgrader's own tools, formgrader included, how this course is laid out."""

from pathlib import Path

c = get_config()  # noqa: F821

c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = "paying-attention"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
# checks go nowhere with a notebook
c.CourseDirectory.ignore = [
    *(".ipynb_checkpoints", "*.pyc", "__pycache__"),
    *("visible", "hidden"),
]

c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # your answer here"}
c.ClearSolutions.text_stub = "Your answer here."

# formgrader's button Autograde, and `nbgrader autograde`, grade behind our wall;
# without these two lines they would run students' code as whoever clicks
c.Autograde.sanitize_preprocessors = ["autograder.grading.formgrader.BehindTheWall"]
c.Autograde.autograde_preprocessors = []

# its button Generate feedback, and `nbgrader generate_feedback`, write our pages
c.GenerateFeedback.exporter_class = "autograder.results.nbgrader_exporter.FeedbackPage"

# where these are taken out, nbgrader skips cells that carry this tag, test cells too,
# and takes tags from the submission: so no student can know the word "skip-execution"
c.Execute.skip_cells_with_tag = "no-cell-carries-this-tag"

# formgrader and feedback show what students wrote: no HTML or script of theirs runs
c.HTMLExporter.filters = {"markdown2html": "autograder.results.feedback.safe_markdown"}
# formgrader shows the rubric of the solution notebook before each written answer, and
# whether work came late; texts have a limit
c.HTMLExporter.preprocessors = [
    "autograder.results.page_size.CutTexts",
    "autograder.release.rubric.ShowRubric",
    "autograder.results.standing.ShowStanding",
]

# when work is due, in the time zone of c.Exchange.timezone (UTC unless you set it):
# c.Autograder.due = {"01-attention": "2026-03-09 23:59"}
