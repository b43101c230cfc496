"""In place of the package of this name, in all processes of make and of tests.

jsonschema imports it to judge one kind of address, which no notebook has. It compiles
its grammars on import, for a second or two in every process that reads notebooks.
"""

raise ImportError("not wanted here")
