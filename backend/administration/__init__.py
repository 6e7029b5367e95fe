"""Administration of studies and stores: create, change, copy, back up, delete."""
