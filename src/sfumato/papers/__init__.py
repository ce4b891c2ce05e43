"""Algorithms as their papers publish them, where a paper claims less than a bound on a reader's belief (posterior).

`heterogeneous`: generalization by matching (003) and its baseline, rings; `overlapping`: Ambiguity's and PriView's groups (004);
`decoys`: values that belong to nobody (000/001). Methods that use this room state the paper's claim in its own words
(`weaker_claim`) and run only where the owner accepts it, except decoys: buckets with them keep the bounds of 000/001, and what
decoys add is measured, never claimed.

A paper's own choice that keeps the full claim is an option of the method it belongs to, and its algorithm stands with that
method: `MultiSize(search=…)` in `groups/settings`, BuReL's `fewest` and `hilbert` in `groups`, `SmallDomain(order="paper")` in
`randomize`. A recipient's estimators as printed are `estimator="paper"` in `query`.
"""
