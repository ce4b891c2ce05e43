"""Decoys (the fake values of 000/001): values that belong to nobody, measured and never claimed.

As printed they are drawn from the domain, and whoever knows how frequent values are takes a rare one for a decoy. That version is
not offered; here decoys are as frequent as the values they imitate.
"""
