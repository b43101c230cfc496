"""What the wheel has besides files of the repository: the chapters' prose, in one."""

import json
import runpy
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Prose(BuildHookInterface):
    """`autograder tutor` quotes it. An editable installation reads the chapters."""

    def initialize(self, version, build_data):
        if version == "editable":
            return
        module = Path(self.root, "autograder/notebook/chapters.py")
        self.folder = tempfile.TemporaryDirectory()  # it goes when the hook does
        path = Path(self.folder.name, "prose.json")
        sections = runpy.run_path(str(module))["chapters"]()
        path.write_text(json.dumps(sections, ensure_ascii=False), "utf-8")
        build_data["force_include"][str(path)] = "autograder/prose.json"
