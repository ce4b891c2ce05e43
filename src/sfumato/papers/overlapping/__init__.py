"""Groups that overlap in quasi space, as 004 publishes them."""
