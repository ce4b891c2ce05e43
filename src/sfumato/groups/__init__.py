"""How records are grouped: bucket settings on counts, and the groupings that use them."""
