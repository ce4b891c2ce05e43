"""A golden corpus: what every method publishes for small tables, recorded, so that a change inside cannot change it unseen.

`cases` says what is published, `observe` what is looked at, `mapping` which changes are deliberate, `compare` what differs, and
`python -m tests.corpus.record` writes `golden/` again. CONTRIBUTING.md says when.
"""
