"""Kernels load numba only when they must, and their twins in numpy do the same."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato._jit import FEW, SHORT, njit
from sfumato.groups import _cut_kernels
from sfumato.query import _kernels
from sfumato.query.count import engine_of
from sfumato.query.models import _softmax_kernels, _trend_kernels
from sfumato.query.models.cells import Joint
from sfumato.release import _canonical_kernels, _parquet_kernels
from sfumato.table import _sorting_kernels
from sfumato.table.generators import hospital
from tests.makers import skewed

COINS = np.random.default_rng(7)


def patients(rows):
    """Return people with several quasi columns, of which boxes vary in more than one."""
    frame = hospital(rows, 1).select(["age", "sex", "ward", "insurance", "diagnosis"])
    return sf.Table.from_frame(frame, sf.Schema(quasi=["age", "sex", "ward", "insurance"], sensitive=["diagnosis"]))


def copied(one):
    """Return an argument of a kernel with arrays of its own, also inside a named tuple."""
    if isinstance(one, tuple):
        return type(one)(*map(copied, one))
    return one.copy() if isinstance(one, np.ndarray) else one


def arrays(given):
    """Return all arrays among the arguments of a kernel."""
    inside = [part for one in given for part in (one if isinstance(one, tuple) else (one,))]
    return [one for one in inside if isinstance(one, np.ndarray)]


def both(kernel, *given):
    """Return what kernel and twin return, and leave in their arguments."""
    found = []
    for function in (kernel._made, kernel._plain):
        own = [copied(one) for one in given]
        found.append((function(*own), own))
    return found


def same(kernel, *given):
    (one, left), (other, right) = both(kernel, *given)
    np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float), rtol=1e-12, atol=1e-12)
    for a, b in zip(arrays(left), arrays(right), strict=True):
        np.testing.assert_allclose(a.astype(float), b.astype(float), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 100])
@pytest.mark.parametrize("width", [1, 3, 8, 17])
def test_codes_are_packed_and_unpacked_alike(count, width):
    codes = COINS.integers(0, 1 << width, count).astype(np.int32)
    size = (count * width + 7) // 8
    same(_parquet_kernels.pack, codes, width, np.zeros(size, np.uint8))
    written, back = np.zeros(size, np.uint8), np.zeros(count, np.int32)
    _parquet_kernels.pack._plain(codes, width, written)
    _parquet_kernels.unpack._made(written, width, back)
    assert back.tolist() == codes.tolist()
    assert int.from_bytes(written.tobytes(), "little") == sum(int(code) << place * width for place, code in enumerate(codes))
    packed = COINS.integers(0, 256, size).astype(np.uint8)
    for given in (packed, packed[: size // 2]):
        same(_parquet_kernels.unpack, given, width, np.zeros(count, np.int32))
    for values in (1 << width, 2):
        same(_parquet_kernels.all_used, codes, values)
    same(_parquet_kernels.all_used, np.append(codes, -1), 2)


def test_texts_are_written_and_read_alike_also_wrong_ones():
    texts = [b"", b"a", b"ab", b"b", "é".encode()]
    for order in (texts, texts[::-1], [b"a", b"a"], []):
        offsets = np.cumsum([0, *map(len, order)]).astype(np.int32)
        letters = np.frombuffer(b"".join(order), np.uint8)
        for extra in (0, 1, -1):
            room = np.zeros(max(0, len(letters) + 4 * len(order) + extra), np.uint8)
            (one, left), (other, right) = both(_parquet_kernels.write_texts, offsets, letters, room)
            assert one == other
            if one:
                assert left[2].tobytes() == right[2].tobytes()
    page = np.frombuffer(b"".join(len(text).to_bytes(4, "little") + text for text in texts), np.uint8)
    for given in (page, page[:-1], page[:3], np.append(page, 0).astype(np.uint8), np.full(9, 255, np.uint8)):
        for letters in (sum(map(len, texts)), 2, 9):
            arguments = (given, np.zeros(len(texts) + 1, np.int32), np.zeros(letters, np.uint8))
            (one, left), (other, right) = both(_parquet_kernels.read_texts, *arguments)
            assert one == other
            if one:
                assert [x.tobytes() for x in left[1:]] == [x.tobytes() for x in right[1:]]


def test_sequences_are_ordered_alike():
    for seed in range(20):
        coins = np.random.default_rng(seed)
        lengths = coins.integers(0, 4, coins.integers(0, 9))
        start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        keys = coins.integers(0, 3, start[-1]).astype(np.int64)
        first = np.array([keys[a] if a < b else -1 for a, b in pairwise(start)], np.int64)
        order = np.argsort(first, kind="stable")
        same(_canonical_kernels.first_fall, start, keys)
        (one, _), (other, _) = both(_canonical_kernels.sort_ties, start, keys, order)
        assert one.tolist() == other.tolist()
        same(_canonical_kernels.ranks, start, keys, one)


def test_questions_are_answered_alike():
    buckets, values, people = 6, 4, 50
    bucket = np.sort(COINS.integers(0, buckets, people)).astype(np.int32)
    sizes = np.bincount(bucket, minlength=buckets)
    shown = sizes + 1
    entries = [COINS.permutation(values)[: COINS.integers(1, values + 1)] for _ in range(buckets)]
    st_start = np.cumsum([0, *map(len, entries)])
    st_value = np.concatenate(entries).astype(np.int32)
    st_count = COINS.integers(1, 4, len(st_value)).astype(np.int32)
    wanted = np.array([1, 0, 1, 0], np.uint8)
    codes, accepted = COINS.integers(0, 5, people).astype(np.uint8), np.array([1, 0, 1, 1, 0], np.uint8)
    rows = np.append(np.arange(people), 0).astype(np.int32)
    for start in (True, False):
        (one, left), (other, right) = both(_kernels.keep_rows, codes, accepted, rows, people, start)
        assert one == other
        assert left[2][:one].tolist() == right[2][:one].tolist()
    same(_kernels.count_by_group, bucket, rows, 20, np.zeros(0, np.int64), np.zeros(buckets, np.int64))
    same(_kernels.wanted_by_bucket, wanted, st_start, st_value, st_count, np.zeros(buckets, np.int64))
    for hits in (sizes // 2, np.zeros(buckets, np.int64), sizes.astype(np.int64)):
        same(_kernels.one_piece, hits, wanted, shown, st_start, st_value, st_count, np.zeros(values))
    levels = COINS.integers(0, 3, (people, 2)).astype(np.uint8)
    joint = Joint.of(levels, [(0, -1, 1, 0), (1, -1, 1, 3), (0, 1, 3, 6)], 15)
    joint = joint._replace(codes=np.ascontiguousarray(joint.codes.T))
    hits = np.minimum(np.bincount(bucket[:20], minlength=buckets), sizes)
    for times in (np.zeros(0, np.int64), COINS.integers(1, 9, people)):
        same(_trend_kernels.add_asked, rows, 20, bucket, times, hits, sizes, joint)
    same(_kernels.count_by_group, bucket, rows, 20, COINS.integers(1, 9, people), np.zeros(buckets, np.int64))
    same(_trend_kernels.take_expected, hits, sizes, COINS.normal(size=(buckets, 5)), COINS.normal(size=5))


def test_the_sums_of_blind_buckets_are_alike():
    axes, values = 3, 5
    t, mu, grid = COINS.normal(size=axes), COINS.random(axes), np.array([0.0, 0.1, 1.0])
    f, pf, prior = COINS.normal(size=(values, axes)), COINS.normal(size=(values, axes)), np.eye(values)
    x, weights = COINS.normal(size=values), np.array([0.2, 0.3, 0.5])
    same(_kernels.times, f, t)
    assert _kernels.times._made(f, t) == pytest.approx([sum(f[i, j] * t[j] for j in range(axes)) for i in range(values)])
    same(_kernels.weigh, t, 0.2, grid, mu, 2.0)
    likely = [
        np.prod([np.exp(-t * t / (2 * v)) / np.sqrt(v) for t, v in zip(t, 0.2 / (1 + r) * (1 + r * mu), strict=True)])
        * np.sqrt(0.2 / (1 + r) * (1 + r * 2.0))
        for r in grid
    ]
    assert _kernels.weigh._made(t, 0.2, grid, mu, 2.0) == pytest.approx(np.array(likely) / sum(likely))
    same(_kernels.deviations, t, weights, grid, mu, f, pf, np.ones(values))
    turned = _kernels.StrengthAxes(grid, mu, np.ascontiguousarray(f.T), np.ascontiguousarray(pf.T), prior)
    same(_kernels.functional, t, x, 0.2, weights, turned)


def test_a_twin_gives_way_after_some_calls_and_a_kernel_can_call_a_kernel():
    @njit()
    def one_more(x):
        return x + 1

    @njit(plain=lambda x: "plain")
    def twice(x):
        return 2 * one_more(x)

    assert twice(3) == 8  # numba is here: other tests need it
    twice._calls = FEW
    assert twice(4) == 10
    assert one_more.py_func(1) == 2


def test_a_twin_that_gives_the_same_does_short_arrays_until_it_has_done_many():
    @njit(plain=lambda numbers: "plain", same=True)
    def total(numbers):
        return numbers.sum()

    assert total(np.ones(SHORT)) == SHORT
    total._left = SHORT
    assert total(np.ones(SHORT // 2)) == "plain"
    assert total(np.ones(SHORT // 2 - 1)) == "plain"
    assert total(np.ones(3)) == 3
    assert total(np.ones(1)) == 1


@pytest.mark.parametrize("people", [0, 1, 40])
def test_people_are_dealt_and_their_ranks_added_alike(people):
    codes, others = (COINS.integers(0, 5, people).astype(np.int32) for _ in range(2))
    (one, left), (other, right) = both(_sorting_kernels.deal, codes, 7, np.empty(people, np.int32))
    assert one.tolist() == other.tolist()
    assert left[2].tolist() == right[2].tolist()
    same(_cut_kernels.add_by_code, codes, others, np.array([1 << 40, 3, 0, 5, 7]), 6)


def test_a_question_is_answered_without_loading_numba_scipy_or_pandas(tmp_path: Path) -> None:
    made = sf.publish(skewed(), sf.FPrivacy(theta=3, offset="0.05"), method=sf.MultiSize(), random=1)
    made.save(tmp_path / "release")
    name = made.manifest.schema["quasi"][0]["name"]
    value = made.labels[0]
    column = made.manifest.schema["sensitive"][0]["name"]
    question = f"{name} > 30 AND {column} = '{value}'"
    code = (
        "import sys; from pathlib import Path; from sfumato.cli.query import load_remembering; "
        "answer = load_remembering(Path('release')).count(sys.argv[1]); "
        "print(answer.value, *sorted({'numba', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    found = []
    for _ in range(2):
        command = [sys.executable, "-c", code, question]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        found.append(done.stdout.split())
    assert float(found[1][0]) == pytest.approx(made.count(question).value, rel=1e-9)
    assert found[1][1:] == []


@pytest.mark.parametrize("people", [skewed(3_000), patients(3_000)], ids=["one column", "four columns"])
def test_the_multiplying_model_answers_alike(people):
    release = sf.publish(people, sf.FPrivacy(theta=6, offset="0.1"), method=sf.Boxes(floor=50), random=1)
    inside = engine_of(release).inside
    where = inside.cells.start, inside.goals.entry, inside.place
    packed = [(np.empty_like(inside.small), np.empty_like(inside.scale)) for _ in range(2)]
    for function, room in zip((_softmax_kernels.pack._made, _softmax_kernels.pack._plain), packed, strict=True):
        function(*where, inside.chances, *room)
    for one, other, before in zip(*packed, (inside.small, inside.scale), strict=True):
        np.testing.assert_allclose(one.astype(float), other.astype(float), rtol=1e-6, atol=1.0 if one.dtype == np.uint16 else 0.0)
        np.testing.assert_allclose(
            one.astype(float), before.astype(float), rtol=1e-6, atol=1.0 if one.dtype == np.uint16 else 0.0
        )
    sums = [np.zeros(len(inside.cells.weight), np.float32) for _ in range(2)]
    for function, room in zip((_softmax_kernels.add_chances._made, _softmax_kernels.add_chances._plain), sums, strict=True):
        function(*where, inside.small, inside.scale, room)
    np.testing.assert_allclose(*sums, rtol=1e-5)
    for many in (0, 1, 40, 3_000):
        rows = COINS.permutation(release.rows).astype(np.int32)
        wanted = COINS.random(inside.index.values) < 0.5
        hits = inside.index.count(rows, many)
        asked_of = _softmax_kernels.AskedPeople(rows, many, inside.index.table.each, hits, inside.sizes)
        one, other = (
            function(asked_of, inside.asked, inside.joint, wanted, inside.goals, inside.packed)
            for function in (_softmax_kernels.ask._made, _softmax_kernels.ask._plain)
        )
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-3)
