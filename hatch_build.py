"""What an installation has besides modules: for students the chapters' prose, in one
file; for instructors, whose installation is editable, a template of formgrader's."""

import json
import runpy
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# nbconvert looks there before it takes its own
TEMPLATES = "share/jupyter/nbconvert/templates/formgrade"


class Extras(BuildHookInterface):
    """`autograder tutor` quotes the prose; where the chapters are, it reads these."""

    def initialize(self, version, build_data):
        if version == "editable":
            source = str(Path(self.root, "autograder/results/formgrader"))
            build_data["shared_data"][source] = TEMPLATES
            return
        module = Path(self.root, "autograder/notebook/chapters.py")
        self.folder = tempfile.TemporaryDirectory()  # it goes when the hook does
        path = Path(self.folder.name, "prose.json")
        sections = runpy.run_path(str(module))["chapters"]()
        path.write_text(json.dumps(sections, ensure_ascii=False), "utf-8")
        build_data["force_include"][str(path)] = "autograder/prose.json"
