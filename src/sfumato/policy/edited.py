"""A policy that is edited by pages: the file itself, whose comments stay, with every change made as a person would make it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.policy.policy import Policy
from sfumato.policy.roles import ROLES
from sfumato.policy.written import without_old_numbers
from sfumato.table.schema import Role


class PolicyText:
    """The text of a policy file. Every change of a role or a rule makes it a draft again."""

    def __init__(self, text: str) -> None:
        import tomlkit

        self._document = tomlkit.parse(text)
        self._aside: dict[tuple[str, str], Any] = {}

    @classmethod
    def read(cls, path: Path) -> tuple[PolicyText, Policy]:
        """Return the policy in a file, to be edited and as it is understood; what is wrong with it is an error."""
        checked = Policy.load(path)
        return cls(checked.text), checked

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
        roles: dict[str, Role] = {str(name): role for role in ROLES for name in columns.get(role, [])}
        return roles | {name: "sensitive" for listed in self._lists().values() for name in listed}

    def give(self, column: str, role: Role) -> None:
        """Give a column a role."""
        columns = self._document["columns"]
        before, lists = self._protected(), self._lists()
        for listed in ROLES:
            if listed == "sensitive" and lists:
                self._list(column, wanted=role == listed)
            else:
                columns[listed] = [str(name) for name in columns.get(listed, []) if name != column] + (
                    [column] if listed == role else []
                )
        self._settle_rules(column, role)
        self._settle_secrets(before)
        self.review(False)

    def _lists(self) -> dict[str, list[str]]:
        """Return the columns of each secret, where secrets have a section of their own."""
        said = self._document.get("secrets", {})
        return {
            str(name): [str(columns)] if isinstance(columns, str) else [str(each) for each in columns]
            for name, columns in said.items()
        }

    def _list(self, column: str, *, wanted: bool) -> None:
        """Make a column a secret of its own, or take it out of the one that it belongs to; rules of one without any go too."""
        for name, columns in self._lists().items():
            left = [name for name in columns if name != column]
            if left:
                if left != columns:
                    self._document["secrets"][name] = left
                continue
            del self._document["secrets"][name]
            for section in ("types", "recode", "bins", "missing") if name != column else ():
                self._put(section, name, None)
        if wanted:
            self._document["secrets"][column] = column

    def _protected(self) -> list[str]:
        """Return the secrets by name: sensitive columns, or what the section of secrets calls them."""
        return list(self._lists()) or [str(name) for name in self._document["columns"].get("sensitive", [])]

    def recoding(self, column: str) -> dict[str, Any] | None:
        """Return how a column is made coarser; None where it is published as it is."""
        recode = self._document.get("recode", {}).get(column)
        return None if recode is None else dict(recode.unwrap())

    def recode(self, column: str, how: Mapping[str, Any] | None) -> None:
        """Make a column coarser, or publish it as it is."""
        self._put("recode", column, how)
        self.review(False)

    def binning(self, column: str) -> Any:
        """Return the bins of a sensitive column, as the file has them; None where there are none."""
        bins = self._document.get("bins", {}).get(column)
        return None if bins is None else bins.unwrap()

    def bins(self, column: str, edges: Any) -> None:
        """Put the numbers of a sensitive column into bins; bounds of single bins speak of the old ones, and go."""
        if edges != self.binning(column):
            rule = self._document["requirement"]
            rule = rule.get("columns", {}).get(column, {}) if self.secrets() else rule
            for key in ("bounds", "sets"):
                rule.pop(key, None)
        self._put("bins", column, edges)
        self.review(False)

    def requirement(self) -> dict[str, Any]:
        """Return the section about how sure is too sure."""
        return dict(self._document["requirement"].unwrap())

    def require(self, **parameters: Any) -> None:
        """Set parameters of the requirement; None takes one out."""
        if parameters.keys() & {"theta", "offset", "odds"}:
            self._forget_old_numbers()
        for name, value in parameters.items():
            self._put("requirement", name, value)

    def secrets(self) -> list[str]:
        """Return the sensitive columns that have bounds of their own; none where there is one rule."""
        several = self._protected()
        each = bool(self._lists()) or self.requirement().get("protect") == "each"
        return several if len(several) > 1 and each else []

    def rule(self, secret: str | None = None) -> dict[str, Any]:
        """Return the rule, or that of one of several secrets: its own parameters, else the general ones."""
        whole = self.requirement()
        return whole if secret is None else {**whole, "bounds": {}, **whole.get("columns", {}).get(secret, {})}

    def set_rule(self, number: str, value: float | None, secret: str | None = None) -> None:
        """Set theta or odds of the general rule, or of that of one of several secrets; None takes it out."""
        self._forget_old_numbers()
        rule = self._rule(secret)
        if value is None:
            rule.pop(number, None)
        else:
            rule[number] = int(value) if value == int(value) else value

    def bound(self, value: str, bound: str | None, secret: str | None = None) -> None:
        """Give one sensitive value a bound of its own, or take it away."""
        rule = self._rule(secret)
        own = dict(rule.get("bounds", {}))
        own.pop(value, None)
        if bound is not None:
            own[value] = bound
        rule["bounds"] = own

    def _rule(self, secret: str | None) -> Any:
        """Return the section of a rule, to be changed."""
        rule: Any = self._document["requirement"]
        for name in () if secret is None else ("columns", secret):
            if name not in rule:
                rule[name] = {}
            rule = rule[name]
        return rule

    def method_name(self) -> str | None:
        """Return the method that the file names; None where it leaves the choice to the program."""
        name = self._document.get("method", {}).get("name")
        return None if name is None else str(name)

    def method(self, **parameters: Any) -> None:
        """Set the method and its options; None takes one out."""
        for name, value in parameters.items():
            self._put("method", name, value)
        if "method" in self._document and not self._document["method"]:
            del self._document["method"]

    def _forget_old_numbers(self) -> None:
        """Take out the comments of a draft that say what its numbers mean: with others they would be wrong."""
        import tomlkit

        text = without_old_numbers(self.text)
        if text != self.text:
            self._document = tomlkit.parse(text)

    def _settle_rules(self, column: str, role: Role) -> None:
        """Lay aside what is not said of a column of this role, and take back what was said when it last had it."""
        for section, of in (("recode", "quasi"), ("bins", "sensitive")):
            stated = self._document.get(section, {})
            if role != of and role in ("quasi", "sensitive") and column in stated:
                self._aside[section, column] = stated[column].unwrap()
                self._put(section, column, None)
            elif role == of and column not in stated and (section, column) in self._aside:
                self._put(section, column, self._aside[section, column])

    def _settle_secrets(self, before: Sequence[str]) -> None:
        """Several secrets are protected each by itself; of a single one there is nothing to say, and its rule is the rule.

        What was said of the values of a single secret stays with it where others join.
        """
        secrets = self._protected()
        several = len(secrets) > 1
        requirement: Any = self._document["requirement"]
        if several and len(before) == 1:
            for key in ("bounds", "sets"):
                said = requirement.pop(key, None)
                if said:
                    self._rule(before[0])[key] = said.unwrap()
        own = requirement.get("columns", {})
        for name in [name for name in own if name not in secrets]:
            del own[name]
        if not several and "columns" in requirement:
            last = own.unwrap().get(secrets[0], {}) if secrets else {}
            del requirement["columns"]
            for key, value in last.items():
                requirement[key] = value
        if not several or "protect" not in self._document["requirement"]:
            self._put("requirement", "protect", "each" if several else None)

    def _put(self, section: str, key: str, value: Any) -> None:
        if value is None:
            if section in self._document and key in self._document[section]:
                del self._document[section][key]
            return
        if section not in self._document:
            self._document[section] = {}
        self._document[section][key] = _inline(value) if isinstance(value, Mapping) else value


def _inline(value: Mapping[str, Any]) -> Any:
    """Return a mapping as it is written in a line: { width = 5 }."""
    import tomlkit

    made = tomlkit.inline_table()
    made.update(value)
    return made
