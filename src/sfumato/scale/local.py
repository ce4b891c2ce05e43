"""Everybody's codes in files of this machine: counted in threads, divided into shards in one pass, cut one shard at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.groups.counted import TopCuts
from sfumato.scale.boxes import pieces, shard_of
from sfumato.scale.collect import Kept, keep
from sfumato.scale.layout import Blocks, Layout, scatter, summed
from sfumato.scale.shard import Cut, make_shard
from sfumato.scale.tally import Add, Sum


@dataclass(frozen=True, eq=False)
class LocalPeople:
    """Blocks of codes in one file."""

    blocks: Blocks
    place: Path
    threads: int

    @property
    def total(self) -> Sum:
        """How sums over all blocks are made."""

        def total(empty: Callable[[], Any], add: Add) -> Any:
            return summed(self.blocks, empty, add, self.threads)

        return total

    def shards(self, how: Cut, cuts: TopCuts, tell: Callable[[float], None]) -> Iterator[Kept]:
        """Yield every leaf cut to the end; its people are read once more, from a file of their own."""
        self.place.mkdir(mode=0o700)
        files = [Blocks(self.place / f"shard{k}", self.blocks.layout) for k in range(len(cuts.leaves))]
        for columns in self.blocks:
            which = shard_of(how.frame, columns, cuts)
            scatter(columns, which, files)
        layout = Layout(self.blocks.layout.types[:-1])
        for k, (leaf, piece) in enumerate(zip(cuts.leaves, pieces(cuts.leaves), strict=True)):
            tell(k / len(files))
            made = make_shard(how, leaf, files[k].take())
            yield keep(self.place, f"boxes{k}", layout, leaf, made, piece)
