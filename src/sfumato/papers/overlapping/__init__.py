"""Groups that overlap in quasi space, as 004 makes them for Ambiguity and PriView.

As printed: `pick="greedy"` (Fig. 7) and `pick="pairs"` (buckets on (QIᵢ, S), §8.3). Ours: a random pick, best of 32 for
extensions, which leaves fewer residues; and what becomes of residues that fit nowhere, which the paper leaves open. Each group
keeps α and the bounds by itself; several cover a person, and nothing is claimed about what they tell together.
"""
