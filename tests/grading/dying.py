"""A job that ends its process; workers import it without what tests import."""

import os
import signal
from pathlib import Path

from autograder.grading import jobs


def dies_on_eve(marker, release, submission, *rest):
    """A job that ends its process for one submission: once, or whenever it sees it."""
    path = Path(marker)
    if b"eve was here" in submission and path.read_text() != "done":
        if path.read_text() == "once":
            path.write_text("done")
        os.kill(os.getpid(), signal.SIGKILL)
    return jobs.work(release, submission, *rest)
