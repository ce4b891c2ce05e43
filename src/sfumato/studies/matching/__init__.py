"""Heterogeneous generalization: 003."""
