"""A table as another tool publishes it: `python _peer_tables.py TOOL IN.parquet OUT.parquet '{"secret": …, "seed": 1}'`.

Run by the Python of an environment in which the tool is installed, so that this file imports nothing of sfumato. Columns of
numbers are numbers, all others categories. Prints what was used, as JSON.
"""

from __future__ import annotations

import json
import math
import random
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

Options = dict[str, Any]
DELTA = 1e-9
WIDTHS = (5, 10, 20, 40)
"""Bands of a number's hierarchy, from fine to coarse; then comes everything."""


def sdv(frame: pd.DataFrame, options: Options) -> pd.DataFrame:
    """SDV's Gaussian copula with its defaults: rows drawn from a model of every column and of how they go together."""
    from sdv.metadata import Metadata
    from sdv.single_table import GaussianCopulaSynthesizer

    kinds = {name: {"sdtype": "numerical" if numeric(frame[name]) else "categorical"} for name in frame}
    metadata = Metadata.load_from_dict({"tables": {"people": {"columns": kinds}}})
    model = GaussianCopulaSynthesizer(metadata)
    model.fit({"people": frame})
    made = model.sample(len(frame))
    return made["people"] if isinstance(made, dict) else made


def cart(frame: pd.DataFrame, options: Options) -> pd.DataFrame:
    """synthpop's way, written here: column after column from a tree on those before it, leaves of at least 5 people."""
    from sklearn.tree import DecisionTreeClassifier

    coins = np.random.default_rng(options["seed"])
    coded = {name: pd.factorize(frame[name], sort=True) for name in frame}
    drawn: list[np.ndarray] = []
    given: list[np.ndarray] = []
    for codes, values in coded.values():
        if not drawn:
            made = coins.permutation(codes)
        else:
            tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=options["seed"]).fit(np.column_stack(given), codes)
            chances = tree.predict_proba(np.column_stack(drawn)).cumsum(axis=1)
            place = (coins.random(len(codes))[:, None] > chances).sum(axis=1)
            made = tree.classes_[np.minimum(place, len(values) - 1)]
        drawn.append(made)
        given.append(codes)
    return pd.DataFrame({name: values[made] for (name, (_, values)), made in zip(coded.items(), drawn, strict=True)})


def smartnoise(frame: pd.DataFrame, options: Options) -> pd.DataFrame:
    """SmartNoise's MST: a tree of noisy two-way tables, chosen with noise; nothing is spent on learning domains."""
    from snsynth import Synthesizer

    coded, words = in_codes(frame)
    model = Synthesizer.create("mst", epsilon=options["epsilon"], delta=DELTA, verbose=False)
    model.fit(coded, categorical_columns=list(coded), preprocessor_eps=0.0)
    return in_words(model.sample(len(frame)), words)


def aim(frame: pd.DataFrame, options: Options) -> pd.DataFrame:
    """SmartNoise's AIM: tables of up to two columns, chosen one after another with noise by how badly the model answers them."""
    from snsynth import Synthesizer

    coded, words = in_codes(frame)
    model = Synthesizer.create("aim", epsilon=options["epsilon"], delta=DELTA, max_model_size=20, rounds=2 * len(coded.columns))
    model.fit(coded, categorical_columns=list(coded), preprocessor_eps=0.0)
    return in_words(model.sample(len(frame)), words)


def opendp(frame: pd.DataFrame, options: Options) -> pd.DataFrame:
    """OpenDP's contingency table: every column's table with the secret, with Gaussian noise, and a model fitted to all.

    ρ is that whose (ε, δ) is the one asked for. (Its MST stops with "insufficient budget" on tables of twelve columns.)
    """
    import polars as pl

    dp: Any = import_module("opendp.prelude")
    dp.enable_features("contrib")
    coded, words = in_codes(frame)
    tail = math.sqrt(-math.log(DELTA))
    rho = (math.sqrt(tail**2 + options["epsilon"]) - tail) ** 2
    context = dp.Context.compositor(
        data=pl.from_pandas(coded).lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=rho),
        split_evenly_over=1,
    )
    keys = {name: list(range(len(values))) for name, values in words.items()}
    pairs = dp.mbi.Fixed(queries=[dp.mbi.Count(by=(name, options["secret"])) for name in coded if name != options["secret"]])
    table = context.query().select(*coded).contingency_table(keys=keys, algorithm=pairs).release()
    return in_words(table.synthesize(len(frame)).to_pandas(), words)


def anjana(frame: pd.DataFrame, options: Options) -> pd.DataFrame:
    """anjana's k-anonymity by hierarchies, at most 5 % of people left out; a coarse value is read as any value below it."""
    from anjana.anonymity import k_anonymity

    quasi = [name for name in frame if name != options["secret"]]
    text = frame.assign(**{name: frame[name].astype(str) for name in quasi})
    trees = {name: hierarchy(frame[name]) for name in quasi}
    levels = {name: {level: np.array(values) for level, values in enumerate(tree)} for name, tree in trees.items()}
    made = k_anonymity(text, [], quasi, options["k"], 5, levels).reset_index(drop=True)
    coins = np.random.default_rng(options["seed"])
    for name in quasi:
        below = leaves(trees[name])
        made[name] = [below[value][coins.integers(len(below[value]))] for value in made[name].tolist()]
        made[name] = made[name].astype(frame[name].dtype)
    return made


def hierarchy(column: pd.Series) -> list[list[str]]:
    """Return the levels of a column, from its values to one star: numbers in bands, categories at once."""
    values = column.drop_duplicates().sort_values().tolist()
    bands = WIDTHS if numeric(column) and len(values) > 10 else ()
    coarser = [[f"[{int(value) // width * width}, {int(value) // width * width + width})" for value in values] for width in bands]
    return [[str(value) for value in values], *coarser, ["*"] * len(values)]


def leaves(levels: list[list[str]]) -> dict[str, list[str]]:
    """Return the values below every value of a hierarchy."""
    below: dict[str, list[str]] = {}
    for level in levels:
        for value, leaf in zip(level, levels[0], strict=True):
            if leaf not in below.setdefault(value, []):
                below[value].append(leaf)
    return below


def numeric(column: pd.Series) -> bool:
    """Whether a column is taken as numbers."""
    return bool(pd.api.types.is_numeric_dtype(column))


def in_codes(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return every column as codes of its sorted values, and the values."""
    parts = {name: pd.factorize(frame[name], sort=True) for name in frame}
    return pd.DataFrame({name: codes for name, (codes, _) in parts.items()}), {name: seen for name, (_, seen) in parts.items()}


def in_words(coded: pd.DataFrame, words: dict[str, Any]) -> pd.DataFrame:
    """Return the values of codes; a record without one, which OpenDP draws now and then, is left out."""
    whole = coded.dropna()
    return pd.DataFrame({name: seen[whole[name].astype(int)] for name, seen in words.items()})


TOOLS: dict[str, tuple[Callable[[pd.DataFrame, Options], pd.DataFrame], str]] = {
    "sdv": (sdv, "sdv"),
    "cart": (cart, "scikit-learn"),
    "smartnoise": (smartnoise, "smartnoise-synth"),
    "aim": (aim, "smartnoise-synth"),
    "opendp": (opendp, "opendp"),
    "anjana": (anjana, "anjana"),
}
"""Every tool: what makes its table, and the package that is needed for it."""


def main(tool: str, given: str, made: str, options: str) -> None:
    """Write the table of a tool, and print the package, its version and the processor time."""
    make, package = TOOLS[tool]
    told = json.loads(options)
    random.seed(told["seed"])
    np.random.seed(told["seed"])  # noqa: NPY002  the tools draw from it
    frame = pd.read_parquet(given)
    start = time.process_time()
    result = make(frame, told)
    used = time.process_time() - start
    result[list(frame)].to_parquet(made, index=False)
    print(json.dumps({"used": f"{package} {version(package)}", "seconds": used}))


if __name__ == "__main__":
    main(*sys.argv[1:])
