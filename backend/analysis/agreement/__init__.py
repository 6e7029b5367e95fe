"""Agreement of automatic metrics with people, by item and by model, and the votes behind it."""
