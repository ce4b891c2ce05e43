"""Heterogeneous generalization (003), and rings (NH): every record gets ranges of its own, from the records it is matched with.

As printed: `packing="paper"` (Algorithms 1 and 3), the three matchers (Algorithm 2), `assignment="walks"`; rings with
`partition="merged"` and `tries=0`. Ours: `packing="tight"`, `assignment="pools"` or `"shift"`, diverse rings with exchanges.
What both prove holds before values are allotted to records: a reader who has seen them may believe more than the bound.
"""
