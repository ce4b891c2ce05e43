"""A policy that is edited by pages: the file itself, whose comments stay, with every change made as a person would make it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.table.schema import Role

ROLES: tuple[Role, ...] = ("identifier", "quasi", "sensitive", "other")


class PolicyText:
    """The text of a policy file. Every change of a role or a rule makes it a draft again."""

    def __init__(self, text: str) -> None:
        import tomlkit

        self._document = tomlkit.parse(text)

    @property
    def text(self) -> str:
        """The file."""
        return self._document.as_string()

    @property
    def reviewed(self) -> bool:
        """Whether somebody said that every role was looked at."""
        return bool(self._document.get("reviewed", True))

    def review(self, looked: bool) -> None:
        """Say that every role was looked at, or that it was not."""
        self._document["reviewed"] = looked

    def roles(self) -> dict[str, Role]:
        """Return the role of every column."""
        columns = self._document["columns"]
        return {str(name): role for role in ROLES for name in columns.get(role, [])}

    def give(self, column: str, role: Role) -> None:
        """Give a column a role."""
        columns = self._document["columns"]
        for one in ROLES:
            columns[one] = [str(name) for name in columns.get(one, []) if name != column] + ([column] if one == role else [])
        self._settle_secrets()
        self.review(False)

    def recoding(self, column: str) -> dict[str, Any] | None:
        """Return how a column is made coarser; None where it is published as it is."""
        found = self._document.get("recode", {}).get(column)
        return None if found is None else dict(found.unwrap())

    def recode(self, column: str, how: Mapping[str, Any] | None) -> None:
        """Make a column coarser, or publish it as it is."""
        self._put("recode", column, how)
        self.review(False)

    def bins(self, column: str, edges: Any) -> None:
        """Put the numbers of a sensitive column into bins."""
        self._put("bins", column, edges)

    def requirement(self) -> dict[str, Any]:
        """Return the section about how sure is too sure."""
        return dict(self._document["requirement"].unwrap())

    def require(self, **parameters: Any) -> None:
        """Set parameters of the requirement; None takes one out."""
        for name, value in parameters.items():
            self._put("requirement", name, value)

    def bound(self, value: str, bound: str | None) -> None:
        """Give one sensitive value a bound of its own, or take it away."""
        requirement = self._document["requirement"]
        own = dict(requirement.get("bounds", {}))
        own.pop(value, None)
        if bound is not None:
            own[value] = bound
        requirement["bounds"] = own

    def method(self, **parameters: Any) -> None:
        """Set the method and its options; None takes one out."""
        for name, value in parameters.items():
            self._put("method", name, value)
        if "method" in self._document and not self._document["method"]:
            del self._document["method"]

    def _settle_secrets(self) -> None:
        """Several secrets are protected each by itself; of a single one there is nothing to say."""
        several = len(self._document["columns"]["sensitive"]) > 1
        if not several or "protect" not in self._document["requirement"]:
            self._put("requirement", "protect", "each" if several else None)

    def _put(self, section: str, key: str, value: Any) -> None:
        if value is None:
            if section in self._document and key in self._document[section]:
                del self._document[section][key]
            return
        if section not in self._document:
            self._document[section] = {}
        self._document[section][key] = dict(value) if isinstance(value, Mapping) else value
