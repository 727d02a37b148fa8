"""Other versions of an example in which question and program say the same: other literals, times, opposites, schemas."""
