"""Publishing beyond memory: one plan, several engines (docs/scale.md)."""
