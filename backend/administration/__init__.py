"""What a researcher does to a study or a store as a whole: create, change, copy, back up, delete."""
