"""How people are put together: bucket settings on counts, and the groupings that use them."""
