"""Check the R package: releases are made by this Python, then `R CMD check` runs its tests, examples and vignette on them.

Run it with the Python that sfumato is installed in. Where there is no R it says so and ends with 0.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED, WANTED = ("jsonlite",), ("mice", "survey", "mitools")


def main():
    """Build, check, and run the vignette; the first thing that fails ends the run."""
    if shutil.which("R") is None:
        print("no R on this machine (Debian: r-base-core r-cran-jsonlite r-cran-mice r-cran-survey r-cran-mitools)")
        return 0
    missing = [name for name in (*NEEDED, *WANTED) if not has(name)]
    if missing:
        print(f"R lacks {', '.join(missing)} (Debian: {' '.join(f'r-cran-{name}' for name in missing)})")
    if set(missing) & set(NEEDED):
        return 0
    with tempfile.TemporaryDirectory(prefix="sfumato-r-") as directory:
        place = Path(directory)
        package = place / "sfumato"
        shutil.copytree(ROOT / "r", package)
        run(sys.executable, ROOT / ".ci" / "r_releases.py", package / "inst" / "extdata", cwd=ROOT)
        latex = shutil.which("pdflatex") is not None
        run("R", "CMD", "build", *([] if latex else ["--no-build-vignettes"]), package, cwd=place)
        built = next(place.glob("sfumato_*.tar.gz"))
        run("R", "CMD", "check", "--no-manual", *([] if latex else ["--ignore-vignettes"]), built, cwd=place)
        checked = place / "sfumato.Rcheck"
        told = (checked / "00check.log").read_text(encoding="utf-8")
        compared = (checked / "tests" / "same_numbers.Rout").read_text(encoding="utf-8")
        print(*[line for line in compared.splitlines() if "largest difference" in line and line[0] not in ">+"], sep="\n")
        if not latex:  # its code and its picture, though nobody typesets them here
            (place / "library").mkdir()
            run("R", "CMD", "INSTALL", "-l", place / "library", built, cwd=place)
            run("R", "CMD", "Sweave", package / "vignettes" / "release.Rnw", cwd=place, R_LIBS=str(place / "library"))
        print(
            *[line for line in told.splitlines() if line.endswith(("NOTE", "WARNING", "ERROR"))],
            told[told.rindex("* DONE") :],
            sep="\n",
        )
        return 1 if "WARNING" in told else 0


def has(name):
    """Return whether R has a package."""
    code = f"quit('no', if (requireNamespace('{name}', quietly = TRUE)) 0 else 1)"
    return subprocess.run(["Rscript", "-e", code], capture_output=True, check=False).returncode == 0


def run(*words, cwd, **settings):
    """Run a command; show what it says only where it fails."""
    environment = {**os.environ, "_R_CHECK_FORCE_SUGGESTS_": "false", "SFUMATO_RECEIPTS": str(cwd), **settings}
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout[-6000:], done.stderr[-6000:])
        for log in Path(cwd).glob("*.Rcheck/tests/*.fail"):
            print(log.read_text(encoding="utf-8")[-3000:])
        sys.exit(f"{words[0]} {words[1] if len(words) > 1 else ''} failed")


if __name__ == "__main__":
    sys.exit(main())
