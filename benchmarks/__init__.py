"""One file a question: the papers' tables and figures, side by side with ours. `python -m benchmarks` runs them."""
