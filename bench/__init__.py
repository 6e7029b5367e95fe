"""Benchmarks: ratios of ours to a floor or a peer, measured side by side in one run."""
