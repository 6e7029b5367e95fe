"""Scores that the method was published with, for people to see their own beside."""

from typing import Any

_SCORES = {
    "infinity": (
        ("StyleGAN (truncated)", "CelebA-64", 50.7),
        ("ProGAN", "CelebA-64", 40.3),
        ("StyleGAN (truncated)", "FFHQ-1024", 27.6),
        ("StyleGAN", "FFHQ-1024", 19.0),
        ("BEGAN", "CelebA-64", 10.0),
        ("WGAN-GP", "CelebA-64", 3.8),
    ),
    "time": (
        ("StyleGAN (truncated)", "CelebA-64", 439.4),
        ("ProGAN", "CelebA-64", 363.7),
        ("StyleGAN (truncated)", "FFHQ-1024", 363.2),
        ("StyleGAN", "FFHQ-1024", 240.7),
        ("BEGAN", "CelebA-64", 111.1),
        ("WGAN-GP", "CelebA-64", 100.0),
    ),
}
"""Model, its faces, score: percent (HYPE, tables 2 and 3), or ms (tables of the workshop paper)."""


def published(method: str) -> list[dict[str, Any]]:
    """Return the published scores of a method, highest first: model, data, score in percent or ms."""
    return [{"model": model, "data": data, "score": score} for model, data, score in _SCORES[method]]
