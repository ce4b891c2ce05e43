"""Ambiguity and PriView: 004."""
