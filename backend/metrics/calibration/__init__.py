"""Calibration of LPIPS: its linear layers fitted on people's votes on triplets (Zhang et al., 2018)."""
