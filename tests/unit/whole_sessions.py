"""Whole sessions of one evaluator through the HTTP API, for tests and benchmarks."""

from dataclasses import replace
from random import Random
from typing import Any

from backend.administration.simulated_sessions import Answer, Client, Pictures, open_session, play
from backend.experiment.judgment import pictures_of
from backend.experiment.records import Stimulus, Study
from backend.task.picture_names import PictureNames


def take_part(
    client: Client,
    study: Study,
    pictures: Pictures,
    answer: Answer,
    panel: dict[str, str] | None = None,
    qualification_token: str | None = None,
    names: PictureNames | None = None,
) -> dict[str, Any]:
    """Run one session from consent to completion code, as a real one; return the reply's `done`.

    Args:
        pictures: by their stored names.
        names: the server's picture names, if it gives each session different ones.
        answer: function from (right answer, model, exposure in ms or None, what is shown) to a response; the
            model is that of the fake, or of the block's fakes, or None if these are of several.
    """
    fields = {"panel": panel or {}, "qualification_token": qualification_token}
    opened = open_session(client, study, fields)
    if names is not None:
        session = opened["state"]["session"]
        pictures = {
            names.sealed(session, name): _sealed(what, names, session) for name, what in pictures.items()
        }
    return play(client, study, pictures, answer, opened, (), Random(opened["token"]))


def _sealed(stimulus: Stimulus, names: PictureNames, session: str) -> Stimulus:
    """Return a stimulus with the names of its pictures that a session's browser gets."""
    return replace(
        stimulus, name=" ".join(names.sealed(session, name) for name in pictures_of(stimulus.name))
    )
