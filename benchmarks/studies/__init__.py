"""The papers' figures and tables, one file each: what a paper found, what we find, and whether it holds.

A study is a module here with a `STUDY`; its docstring's first line is the question it asks. `make studies` runs all of them and
writes `docs/studies.md`.
"""
