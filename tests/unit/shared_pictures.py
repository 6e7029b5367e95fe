"""Answers of simulated people who saw the same pictures, some of which fool everybody."""

import numpy as np
from scipy.special import ndtri

from backend.analysis.table.response_table import Answers, Coded


def shared_answers(rng, people, pictures, share, people_sd=0.25, pictures_sd=0.6, most=100):
    """Return answers to one model, `m`, of a mean error of `share` (0 to 1), with confidence from 1 to 4.

    Args:
        pictures: real ones, and as many fakes; each person sees them all, or `most` of them, half of each.
        people_sd, pictures_sd: SDs of probits.
    """
    middle = ndtri(share) * np.sqrt(1 + people_sd**2 + pictures_sd**2)
    seen = min(pictures, most // 2)
    shown = np.stack([[rng.permutation(pictures)[:seen] for _ in range(people)] for _ in range(2)])
    effects = rng.normal(0, pictures_sd, (2, pictures))
    of_pictures = np.take_along_axis(effects[:, None, :].repeat(people, 1), shown, axis=2)
    of_people = rng.normal(0, people_sd, people)
    # how wrong a picture looks: an answer is wrong above 0, and surer the farther from it
    looks = middle + of_people[None, :, None] + of_pictures + rng.normal(0, 1, shown.shape)
    wrong = looks > 0
    is_fake = np.broadcast_to(np.array([False, True])[:, None, None], shown.shape).ravel()
    evaluator = np.broadcast_to(np.arange(people)[None, :, None], shown.shape).ravel()
    names, codes = np.unique(shown + np.array([0, pictures])[:, None, None], return_inverse=True)
    return Answers(
        "infinity",
        Coded(np.zeros(is_fake.size, np.int32), ["m"]),
        Coded(evaluator.astype(np.int32), [f"e{i:03}" for i in range(people)]),
        is_fake,
        is_fake ^ wrong.ravel(),
        texts={"stimulus": Coded(codes.ravel().astype(np.int32), [f"p{name}" for name in names])},
        numbers={
            "confidence": 1.0 + np.digitize(np.abs(looks), [0.3, 0.8, 1.5]).ravel(),
            "confidence_points": np.full(is_fake.size, 4.0),
        },
    )
