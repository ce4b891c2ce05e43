"""The papers' figures and tables, one file each: the paper's settings, what it found, what is found here, and whether it holds.

A study is a module of a paper's folder with a `STUDY`; its docstring's first line is the question it asks. `sfumato study` runs
them; what they are made of (tables, workloads, lineups) can be imported.
"""
