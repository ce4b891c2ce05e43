"""Heterogeneous generalization [003]: every record gets ranges of its own, from the records it is matched with."""
