"""Explanations: the figures are right, and the sentences say what the policy means and does not mean."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

from sfumato import Decoys, Heterogeneous
from sfumato.explanation import Explanation, explain
from sfumato.explanation.room import MEASURE
from sfumato.explanation.sentences import FORM_ADVICE
from sfumato.methods import Anatomy, Boxes, BuReL, Method, Mondrian, MultiSize, NearGroups, SmallDomain
from sfumato.privacy import FPrivacy, LDiversity, Requirement
from sfumato.table import Schema, Table


def table(counts: dict[str, int], **options: object) -> Table:
    values = [value for value, count in counts.items() for _ in range(count)]
    frame = pa.table({"age": [i // 2 for i in range(len(values))], "illness": values})
    return Table.from_frame(frame, Schema(quasi=["age"], sensitive=["illness"], **options))


def told(counts: dict[str, int], requirement: Requirement, method: Method | None = None) -> tuple[Explanation, str]:
    found = explain(table(counts), requirement, method=method)
    return found, "\n".join(found.sentences())


EXAMPLE_3 = {f"r{i}": 1 for i in range(8)} | {f"m{i}": 6 for i in range(4)} | {f"f{i}": 9 for i in range(2)}
"""Example 3 of the thesis: 50 people, f' = 2f + 0.05; the two-size optimum loses 250, the true optimum 216."""


def test_the_loss_per_strategy_is_that_of_the_papers_example() -> None:
    found, _ = told(EXAMPLE_3, FPrivacy(theta=2, offset="0.05"), MultiSize())
    loss = {strategy.name: strategy.loss for strategy in found.cost.groups.strategies}
    assert loss["two-size"] == 250
    assert loss["optimal"] == 216
    assert loss["anatomy"] is None
    assert [strategy.name for strategy in found.cost.groups.strategies if strategy.chosen] == ["optimal"]
    assert found.feasible


def test_bounds_factors_and_smallest_buckets_by_hand() -> None:
    found, text = told({"HIV": 1, "Gout": 9, "Flu": 90}, FPrivacy(theta=2, offset="0.05", bounds={"HIV": "0.05"}))
    values = {value.value: (value.share, value.bound, value.needs) for value in found.rule.values}
    assert values == {
        "HIV": (Fraction(1, 100), Fraction(1, 20), 20),
        "Gout": (Fraction(9, 100), Fraction(23, 100), 5),
        "Flu": (Fraction(9, 10), Fraction(1), 1),
    }
    assert (
        "'HIV': 1 % of people now; a reader may become at most 5 % sure (odds 5.21 times those before), "
        "so nobody with it is in a bucket of fewer than 20." in text
    )
    assert "'Flu': 90 % of people now; no bound, a reader may become certain." in text
    assert "Unprotected: 90 % of people have values without a bound, 'Flu'. A release may show openly who has them" in text


def test_the_rarest_values_come_first() -> None:
    found, _ = told({"b": 5, "a": 5, "c": 2, "d": 20}, LDiversity(1))
    assert [value.value for value in found.rule.values] == ["c", "a", "b", "d"]


def test_a_bound_below_the_share_is_told_with_what_would_be_feasible() -> None:
    found, text = told({"Flu": 60, "Gout": 40}, LDiversity(2))
    assert not found.feasible
    assert found.cost.groups.strategies == ()
    assert found.obstacle is not None
    assert found.obstacle.nearest == {"model": "f-privacy"}
    assert text.startswith("The bounds cannot be kept: l-diversity: a bound below a value's own share cannot be kept")
    assert "Flu: 60 % of people have it, the bound is 50 %" in text
    assert 'What would work: model = "f-privacy".' in text
    assert "Unprotected: nobody" not in text
    assert "'Flu': 60 % of people now; a bound of 50 % is less than everybody knows already." in text


def test_a_largest_bucket_that_is_too_small_is_told() -> None:
    found, text = told({"HIV": 5, "Flu": 95}, FPrivacy(theta=1, offset="0.05"), MultiSize(max_size=5))
    assert not found.feasible
    assert "HIV" in text[text.index("The bounds cannot be kept") :]
    assert all(strategy.loss is None for strategy in found.cost.groups.strategies if strategy.name != "anatomy")


def test_an_adversary_against_whom_the_method_proves_nothing_is_told() -> None:
    found, text = told({"a": 50, "b": 50}, LDiversity(2, against="insider"))
    assert not found.feasible
    assert "proves its claim against" in text


def test_anatomy_loses_by_its_even_groups_or_is_not_possible() -> None:
    possible, _ = told({"a": 5, "b": 5, "c": 5, "d": 5, "e": 3}, LDiversity(4), Anatomy())
    chosen = possible.cost.groups.strategies[-1]
    assert (chosen.name, chosen.loss, chosen.setting, chosen.chosen) == ("anatomy", 2 * 9 + 3 * 16, "2 of 4, 3 of 5", True)
    assert possible.feasible
    skewed, text = told({"a": 12, "b": 5, "c": 5, "d": 1}, FPrivacy(theta=0, offset="0.25", bounds={"a": 1}), Anatomy())
    assert skewed.cost.groups.strategies[-1].loss is None
    assert not skewed.feasible
    assert "no value may have more than 1/4 of the people, and 'a' has more" in text
    small, text = told({"a": 5, "b": 5, "c": 5, "d": 5}, LDiversity(4), Anatomy(l=2))
    assert not small.feasible
    assert "which needs groups of 4" in text


def test_unique_people_are_counted() -> None:
    frame = pa.table({"age": [1, 1, 2, 3], "illness": ["a", "b", "a", "b"]})
    found = explain(Table.from_frame(frame, Schema(quasi=["age"], sensitive=["illness"])), LDiversity(2))
    assert found.table.unique_share == Fraction(1, 2)
    assert found.verdict()[-1].startswith("Unique: 50 % of people are the only one with their age as published")


def test_compound_attributes_dropped_people_and_repeated_rows_are_warned_of() -> None:
    frame = pa.table({"age": [1, 2, 3, 4], "illness": ["a", "b", "a", None], "smokes": ["y", "y", "n", "n"]})
    schema = Schema(
        quasi=["age"],
        sensitive=["illness", "smokes"],
        protect="combination",
        missing={"illness": "drop"},
        one_row_per_person=False,
    )
    found = explain(Table.from_frame(frame, schema), LDiversity(2, against="reader"))
    text = "\n".join(found.sentences())
    assert (found.table.rows, found.table.dropped, found.table.compound) == (3, 1, True)
    assert "does not bound the parts" in text
    assert "1 person is left out because a value is missing" in text
    assert "each bound holds for a row, not for a person" in text


@pytest.mark.parametrize("against", ["reader", "engineer"])
def test_what_is_not_promised_is_said(against: str) -> None:
    found = explain(table({"a": 5, "b": 5}), LDiversity(2, against=against))
    text = "\n".join(found.sentences())
    assert found.details()[0].startswith("This explanation tells figures of the original table. It is private")
    assert "The quasi values are published as recoded." in text
    for words in ("presence", "statistician", "list of the whole population", "second release", "sets of values", "other people"):
        assert any(words in line for line in found.sentences() if line.startswith("Not promised")), words
    assert f"against = '{against}'" in text


def test_the_json_form_keeps_bounds_exact() -> None:
    found, _ = told({"HIV": 1, "Flu": 2}, FPrivacy(theta=1, offset="0.01", bounds={"HIV": "1/3"}))
    document = found.to_dict()
    assert [value["bound"] for value in document["values"]] == ["1/3", "203/300"]
    assert document["private"].startswith("figures about the original table")


def test_the_verdict_comes_first_and_says_what_is_kept_who_is_unprotected_and_who_is_unique() -> None:
    requirement = FPrivacy(theta=2, offset="0.05", bounds={"Flu": 1, "Gout": "0.9"})
    found, text = told({"HIV": 10, "Gout": 40, "Flu": 50}, requirement, MultiSize())
    assert [sentence.split(":")[0] for sentence in found.verdict()[:3]] == ["The bounds can be kept", "Unprotected", "Unique"]
    assert text.startswith(found.verdict()[0])
    sentences = found.sentences()
    assert sentences[: len(found.verdict())] == found.verdict()
    assert sentences[-len(found.details()) :] == found.details()
    assert "Unprotected: 50 % of people have values without a bound, 'Flu'." in text
    assert found.to_dict()["unbounded_share"] == 0.5
    bounded, text = told({"HIV": 50, "Flu": 50}, LDiversity(2))
    assert (bounded.rule.unbounded, bounded.to_dict()["unbounded_share"]) == ((), 0.0)
    assert "Unprotected: nobody." in text


def test_a_policy_that_protects_nobody_is_the_obstacle_and_comes_first() -> None:
    for counts, requirement in (({"a": 3, "b": 5}, LDiversity(1)), ({"a": 8}, FPrivacy(theta=2)), ({"a": 1}, FPrivacy(offset=1))):
        found, text = told(counts, requirement)
        assert not found.feasible
        assert text.startswith("This policy protects nobody: every sensitive value of this table has a bound of 1.")
        assert "What would work: lower the bounds" in text
        assert "can be kept" not in text
        assert found.cost.groups.strategies == ()


def test_only_the_three_tightest_values_are_told_one_by_one() -> None:
    counts = {f"v{i}": 10 + i for i in range(20)}
    found, text = told(counts, FPrivacy(theta=2, offset="0.05", bounds={"v7": "0.08"}))
    assert text.count("of people now") == 3
    assert [value.value for value in found.rule.tightest(3)] == ["v7", "v19", "v18"]
    assert [sentence[:4] for sentence in found.details() if "of people now" in sentence] == ["'v7'", "'v19", "'v18"]


def test_bucket_sizes_are_told_as_a_range_and_one_person_in_the_singular() -> None:
    found, text = told(EXAMPLE_3, FPrivacy(theta=2, offset="0.05"))
    optimal = next(strategy for strategy in found.cost.groups.strategies if strategy.name == "optimal")
    assert optimal.sizes is not None
    listed = [int(part.split(" of ")[1]) for part in optimal.setting.split(", ")]
    assert optimal.sizes == (min(listed), max(listed))
    assert f"(buckets of {min(listed)} to {max(listed)} people)" in text
    _, text = told({"a": 12, "b": 5, "c": 5, "d": 5, "e": 1}, LDiversity(2), Anatomy(l=4, suppress=True))
    assert "people left out" in text
    _, text = told({"a": 6, "b": 5, "c": 5, "d": 5}, LDiversity(3), Anatomy(l=4, suppress=True))
    assert "1 person left out" in text


def test_boxes_are_counted_and_the_losses_are_said_to_be_those_of_blind_buckets() -> None:
    ages = list(range(40)) * 5
    table = Table.from_frame(
        pa.table({"age": ages, "illness": ["a", "b", "c", "d", "e"] * 40}), Schema(quasi=["age"], sensitive=["illness"])
    )
    found = explain(table, LDiversity(2), method=Boxes(floor=20))
    assert found.cost.groups.boxes is not None
    assert found.cost.groups.boxes.number > 1
    assert found.cost.groups.boxes.sizes[0] >= 20
    assert found.feasible
    assert not any(strategy.chosen for strategy in found.cost.groups.strategies)
    assert "near people together by soft cuts" in found.sentences()[0]
    assert "Loss says how much buckets drawn at random blur" in "\n".join(found.sentences())
    single = explain(table, LDiversity(5), method=Boxes(floor=20))
    assert single.cost.groups.boxes is not None
    assert (single.cost.groups.boxes.number, single.cost.groups.boxes.sizes) == (1, (200, 200))
    assert single.feasible
    assert "can make a release, with everybody in one box in a trial" in single.sentences()[0]
    assert "'a' has 20 % of people and a bound of 20 %" in single.sentences()[2]
    assert MEASURE in single.sentences()
    assert not any(strategy.chosen for strategy in single.cost.groups.strategies)


@pytest.mark.parametrize("kind", [NearGroups, Mondrian, BuReL, Boxes, MultiSize])
@pytest.mark.parametrize(("form", "other"), [("ranges", "buckets"), ("buckets", "ranges")])
def test_where_groups_have_a_form_it_is_said_which_one_is_for_what(kind: type[Method], form: str, other: str) -> None:
    method = kind(form=form)  # type: ignore[call-arg]
    found = explain(table({"a": 20, "b": 20}), LDiversity(2, against="reader"), method=method, quick=True)
    lines = found.details()
    place = lines.index(FORM_ADVICE)
    assert lines[place - 1] == f'This policy publishes the form {form}; form = "{other}" shows the same groups as {other}.'
    assert FORM_ADVICE.startswith("The form buckets is for counting, the form ranges for readers who need records without exact")
    assert "worse than assuming independence" in FORM_ADVICE
    assert found.to_dict()["form"] == form
    inside = "group" if form == "ranges" else "bucket"
    assert any(f"nobody with it is in a {inside} of fewer than 2" in line for line in lines)


@pytest.mark.parametrize("method", [Decoys(), Anatomy(), SmallDomain()], ids=str)
def test_where_there_is_no_form_to_choose_none_is_spoken_of(method: Method) -> None:
    found = explain(table({"a": 20, "b": 20, "c": 20}), LDiversity(2, against="reader"), method=method, quick=True)
    assert not any("form buckets" in line or "publishes the form" in line for line in found.sentences())


def test_a_weaker_claim_is_told_in_place_of_bounds_and_holds_against_nobody() -> None:
    method = Heterogeneous(accept_weaker_claim=True)
    found = explain(table({"a": 20, "b": 20, "c": 20}), LDiversity(2, against="reader"), method=method)
    assert found.method.paper_claim is not None
    first, second = found.verdict()[:2]
    assert first.startswith("No belief is bounded: the method heterogeneous can make a release, with a weaker claim")
    assert second == f"What is claimed instead: {found.method.paper_claim}"
    assert FORM_ADVICE in found.details()
    assert any("at most 50 % of the people behind a published record have it" in line for line in found.details())
    assert any(line.startswith("Heterogeneous (this policy)") and "holds against nobody" in line for line in found.sentences())
    refused = explain(table({"a": 20, "b": 20}), LDiversity(2, against="reader"), method=Heterogeneous())
    assert not refused.feasible
    assert refused.verdict()[0].startswith(
        "The bounds cannot be kept: method 'heterogeneous' with these parameters proves no bound"
    )
