"""Print the oldest version of every direct dependency that pyproject.toml allows, as constraints for pip."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
for requirement in project["dependencies"] + extras["test"] + extras["studio"]:
    name, _, oldest = requirement.partition(">=")
    if not oldest:
        raise SystemExit(f"{requirement}: expected a lower bound")
    print(f"{name}=={oldest}")
