"""Fuzzing: files, policies, questions and releases that nobody should have written, and what must not happen then.

`python -m tests.fuzz` (or `make fuzz`) makes mutants for some minutes; the same seed makes the same mutants. See `mutant.py` for
what one mutant is, `oracle.py` for what must hold, and `truth.py` for the second opinion on claims.
"""
