"""What an editable installation, the instructor's, has besides modules: a template of
formgrader's."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# nbconvert looks there before it takes its own
TEMPLATES = "share/jupyter/nbconvert/templates/formgrade"


class Formgrader(BuildHookInterface):
    def initialize(self, version, build_data):
        if version == "editable":
            source = str(Path(self.root, "autograder/results/formgrader"))
            build_data["shared_data"][source] = TEMPLATES
