"""Random conditions on a small table, and their truth as SQL has it."""

from hypothesis import strategies as st

from sfumato.query import And, Between, In, Missing, Not, Or
from tests.makers import people

CONDITIONS = st.recursive(
    st.one_of(
        st.builds(lambda a, b: Between("age", min(a, b), max(a, b)), st.integers(0, 5), st.integers(0, 5)),
        st.builds(lambda v: In("town", tuple(v)), st.lists(st.sampled_from("xyz"), min_size=1, max_size=2, unique=True)),
        st.builds(lambda v: In("value", tuple(v)), st.lists(st.sampled_from("ab"), min_size=1, max_size=1)),
        st.just(Missing("town")),
    ),
    lambda inner: st.one_of(
        st.builds(lambda p: And(tuple(p)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda p: Or(tuple(p)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(Not, inner),
    ),
    max_leaves=6,
)

CELLS = people(
    ["a", "b"] * 6, age=[k % 6 for k in range(12)], town=[None, None, "x", "x", "y", "y", "z", "z", "x", "y", None, "z"]
)


def meets(condition, age, town, value):
    """Return SQL's truth: True, False or None."""
    if isinstance(condition, Not):
        inner = meets(condition.part, age, town, value)
        return None if inner is None else not inner
    if isinstance(condition, (And, Or)):
        parts = [meets(part, age, town, value) for part in condition.parts]
        decisive = isinstance(condition, Or)
        return decisive if decisive in parts else None if None in parts else not decisive
    held = {"age": age, "town": town, "value": value}[condition.column]
    if isinstance(condition, Missing):
        return held is None
    if held is None:
        return None
    return condition.low <= held <= condition.high if isinstance(condition, Between) else held in condition.values
