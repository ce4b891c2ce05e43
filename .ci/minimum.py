"""Print the oldest version of every direct dependency that pyproject.toml allows, as constraints for pip.

Those of the package and of its tests; or, named, of one extra alone.
"""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
for requirement in extras[sys.argv[1]] if len(sys.argv) > 1 else project["dependencies"] + extras["test"]:
    name, _, oldest = requirement.partition(">=")
    if not oldest:
        raise SystemExit(f"{requirement}: expected a lower bound")
    print(f"{name}=={oldest}")
