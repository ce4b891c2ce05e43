"""The description of the built package: README.md, without links that only work inside this repository.

With `Source` under [project.urls], links and pictures point to the files of this version there. Without it, a link becomes its
text and a picture its caption.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!https?:|mailto:|#)(?P<path>[^)\s]+)\)")


class Description(MetadataHookInterface):
    """Sets the description of the package."""

    def update(self, metadata):
        """Fill in what pyproject.toml leaves dynamic."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source", "").rstrip("/")
        metadata["readme"] = {"content-type": "text/markdown", "text": standing_alone(text, source, metadata["version"])}


def standing_alone(text, source, version):
    """Return Markdown in which no link is relative; `source` is the address of the public repository, or empty."""

    def replaced(link):
        picture, words, path = link["picture"], link["text"], link["path"]
        if source:
            return f"{picture}[{words}]({source}/{'raw' if picture else 'blob'}/v{version}/{path})"
        return f"*{words}*" if picture else words

    return _LINK.sub(replaced, text)
