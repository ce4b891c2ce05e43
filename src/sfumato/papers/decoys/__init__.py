"""Decoys: values that belong to nobody, measured and never claimed."""
