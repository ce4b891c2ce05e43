"""What pyproject.toml leaves dynamic: the links of the package, and its description, README.md without links that only work here.

With `source` under [tool.hatch.metadata.hooks.custom], links and pictures point to the files of this version there. Without it a
link becomes its text and a picture its caption, also one of a `<picture>` that differs by the reader's screen.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!https?:|mailto:|#)(?P<path>[^)\s]+)\)")
_PICTURE = re.compile(r'<picture>.*?alt="(?P<text>[^"]*)".*?</picture>', flags=re.DOTALL)
_FILE = re.compile(r'\b(?P<name>src|srcset)="(?!https?:)(?P<path>[^"]+)"')


class Description(MetadataHookInterface):
    """Sets the description and the links of the package."""

    def update(self, metadata):
        """Fill in what pyproject.toml leaves dynamic."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = self.config["source"].rstrip("/")
        metadata["readme"] = {"content-type": "text/markdown", "text": standing_alone(text, source, metadata["version"])}
        metadata["urls"] = links(source, metadata["version"])


def links(source, version):
    """Return the links of the package by name; none without a public repository."""
    if not source:
        return {}
    files = f"{source}/blob/v{version}"
    return {
        "Source": source,
        "Documentation": f"{files}/docs/index.md",
        "Changelog": f"{files}/CHANGELOG.md",
        "Issues": f"{source}/issues",
    }


def standing_alone(text, source, version):
    """Return Markdown in which no link is relative; `source` is the address of the public repository, or empty."""

    def replaced(link):
        picture, words, path = link["picture"], link["text"], link["path"]
        if source:
            return f"{picture}[{words}]({source}/{'raw' if picture else 'blob'}/v{version}/{path})"
        return f"*{words}*" if picture else words

    def moved(picture):
        raw = f"{source}/raw/v{version}"
        return _FILE.sub(rf'\g<name>="{raw}/\g<path>"', picture[0]) if source else f"*{picture['text']}*"

    return _LINK.sub(replaced, _PICTURE.sub(moved, text))
