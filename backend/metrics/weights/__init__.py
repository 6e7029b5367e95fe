"""Readers of files of weights, which never run code: PyTorch, safetensors, numpy."""
