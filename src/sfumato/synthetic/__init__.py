"""Records drawn from noisy tables: declared domains, what each step may spend, a network or a star of tables, and the draw."""
