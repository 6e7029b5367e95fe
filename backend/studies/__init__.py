"""What is known of a study while it runs: begun, paused, who waits, who withdrew."""
