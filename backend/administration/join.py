"""A model that joins a running study: its pictures are taken in like those of the others, all or none.

Evaluators answer meanwhile. Files with new names come first, then pool and record change in one conditional
write, so that a session is planned from all models or from those before; sessions under way stay as they are.

Where evaluators judge one model, or some of several, the new one brings conditions of its own with the same
reals and settings, and leaves those of the others as they are: the scores of these change by no digit.
In a tournament, sessions of all models together are a new condition, of which `evaluators` finished sessions
are wanted; those of before remain and are scored with them. Which studies take models in, the judgment says
(`Judgment.join_problem`).
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from backend.administration import intake_facts
from backend.administration.draft import Draft, Making, renamed, take_in
from backend.administration.study_spec import StudySpec, check_models
from backend.experiment.judgments import judgment_of
from backend.experiment.records import CLIPS, FAKE, PICTURES, Stimulus, Study
from backend.experiment.sampling import pool_of
from backend.foundation.atomic_files import write_whole
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.foundation.names import clean
from backend.foundation.printable import printable
from backend.foundation.syncing import sync, sync_all
from backend.foundation.timestamps import stamp
from backend.recruitment import approved_sessions
from backend.stimuli.media import MEDIA, medium_of_file
from backend.stimuli.medium import Intake, Refused
from backend.stores.datadir import DataDir
from backend.stores.store import Store, study_if_any
from backend.stores.updates import retried
from backend.studies import lifecycle
from backend.studies.tournament_counts import is_counted

_NAMED = 3
_TRIES, _WAIT_S = 20, 3.0
"""Of a model that joins while others do."""
_NAMES = {PICTURES: "pictures", CLIPS: "clips"}
_PICTURES_MISSING = "pictures_missing"
"""Code of a conflict that no waiting solves."""


@dataclass(frozen=True)
class Newcomer:
    """A model that is to join, and how its pictures are taken in."""

    model: str
    folder: Path
    preprocess: tuple[str, ...] | None = None
    """The losses that its pictures go through; None for those of the study."""
    skip_bad: bool = False
    strict: bool = False
    is_submitted: bool = False
    """Whether a refusal is read by a submitter, who may not learn whose a picture of the study is."""


def join(
    store: Store,
    data: DataDir,
    name: str,
    newcomer: Newcomer,
    now: datetime,
    progress: Callable[..., Iterable] | None = None,
    publish: Callable[[str, Path], Any] | None = None,
    say: Callable[[str], Any] | None = None,
    before_storing: Callable[[], Any] = lambda: None,
) -> Study:
    """Add a model to the study `name` and return the study as stored.

    Args:
        publish: uploads the images (study, folder) to where browsers get them, if that is elsewhere.
        before_storing: called before pictures are moved into their place, and before the model is stored;
            what it raises ends the join.

    Raises:
        NotFound: there is no such study.
        InvalidInput: no model can join the study, it cannot be called so, or its pictures do not fit.
        Conflict: the study's pictures are not in this data directory, or it is being changed.
    """
    model = clean(newcomer.model)
    study = store.study(name)
    check(study, model)
    there = data.images(name)
    if not there.is_dir():
        raise Conflict(
            f"the pictures of {name} are not in {there}; let the model join from the data directory that the "
            "study was made in (--data DIR)",
            code=_PICTURES_MISSING,
        )
    with data.making(name) as folder:
        _remove_left(store, data, study)
        making = Making(store, data, new := folder / "pictures", progress, say, publish)
        draft, notes = _taken_in(study, replace(newcomer, model=model), making)
        stimuli = draft.intake.stimuli
        _check_new(draft, making, newcomer.is_submitted)
        with data.locked("publish"):  # else they could go to another study, if this one is deleted meanwhile
            store.study(name)
            before_storing()
            _make_as_long(there, new)
            approved_sessions.keep(store, study)
            with _in_place(store, data, study, model, new, [stimulus.name for stimulus in stimuli]):
                if publish is not None:
                    publish(name, there)
                notes = (*notes, *_flash_notes(study, stimuli, there))
                before_storing()  # once more: what comes before may take minutes
                return _grown(store, study, model, stimuli, (_dated(study, model, now), *notes), now)


@contextmanager
def _in_place(
    store: Store, data: DataDir, study: Study, model: str, new: Path, names: Sequence[str]
) -> Iterator[None]:
    """Have new pictures among those of a study; they are removed if it does not get their model.

    Their names are noted first, so that they can be removed also after this process was killed.
    """
    mark = data.joining(study.name)
    noted = {"model": model, "names": names, "attempt": lifecycle.new_attempt(store, study.name)}
    write_whole({(made := new.with_name("mark")): json.dumps(noted).encode()})
    made.rename(mark)
    try:
        sync_all([mark.parent, *(new / name for name in names)])
        for name in names:
            os.replace(new / name, data.images(study.name) / name)
        sync(data.images(study.name))
        yield
    except BaseException:
        _remove_left(store, data, study)
        raise
    mark.unlink(missing_ok=True)


def _remove_left(store: Store, data: DataDir, study: Study) -> None:
    """Remove the pictures of a model whose join ended before the study had it."""
    mark = data.joining(study.name)
    if not mark.exists():
        return
    left = json.loads(mark.read_bytes())
    if not lifecycle.was_attempted(store, study.name, left.get("attempt")):
        return  # of another store that has the study too
    now = study_if_any(store, study.name)
    if now is None or now.created_at != study.created_at or left["model"] not in now.models:
        for name in left["names"]:
            (data.images(study.name) / name).unlink(missing_ok=True)
    mark.unlink(missing_ok=True)


def clear_joining(store: Store, data: DataDir) -> None:
    """Remove the pictures left by joins that were killed before their study had the model."""
    for mark in (data.root / "images").glob(".joining-*.json"):
        name = mark.name.removeprefix(".joining-").removesuffix(".json")
        with suppress(Conflict, NotFound):  # a model is joining at this moment, or the study was deleted
            study = store.study(name)
            with data.making(name):
                _remove_left(store, data, study)


def join_in_turn(
    store: Store,
    data: DataDir,
    name: str,
    newcomer: Newcomer,
    clock: Callable[[], datetime],
    **options: Any,
) -> Study:
    """Have a model join as `join` does, at the time of `clock`; for about a minute a conflict is tried again.

    Another model may be joining the study at this moment.
    """
    for _ in range(_TRIES - 1):
        try:
            return join(store, data, name, newcomer, clock(), **options)
        except Conflict as conflict:
            if conflict.code == _PICTURES_MISSING:
                raise
        time.sleep(_WAIT_S)
    return join(store, data, name, newcomer, clock(), **options)


def check(study: Study, model: str) -> None:
    """Raise InvalidInput unless a model of this name can join the study."""
    if problem := judgment_of(study.protocol.method).join_problem(study):
        raise InvalidInput(f"no model can join study {study.name}, which {problem}")
    check_models([*study.models, model])


def _dated(study: Study, model: str, now: datetime) -> str:
    """Return a note on when a model joined, and what follows for comparisons."""
    day = stamp(now)[:10]
    if is_counted(study):
        return f"{model} joined on {day}"
    return (
        f"{model} joined on {day}; evaluators judged it from then on, and the models before it also earlier: "
        "a difference between them may come from the time, and from who took part then"
    )


@dataclass(frozen=True)
class _Joining(Draft):
    """The draft of a study with one model more, whose pictures are taken in like its reals."""

    pool: tuple[Stimulus, ...] = ()
    """The stimuli that the study has."""

    @property
    def model(self) -> str:
        return self.study.models[-1]

    @property
    def sides(self) -> dict[str, Any]:
        own: dict[str, Any] = {"reals_name": self.model, "flat": None}
        return super().sides | own | ({"form": self.study.clip} if self.study.clip else {})

    def lacking(self, stimuli: Sequence[Stimulus], classes: Sequence[str]) -> str:
        from backend.stimuli import partners

        study, model = self.study, self.model
        sides, fakes = self.sides_by_source, _of(self.model, stimuli)
        if alone := sides and partners.alone([*self.pool, *fakes], sides):
            return partners.lack(alone, sides)
        if tuple(classes) == study.classes:
            return self.judgment.lack(study, pool_of([*self.pool, *fakes]))
        remedy = "give it the same sub-folders" if study.classes else "put its files into the folder itself"
        return (
            f"model {model} has {_classes(classes)}, and study {study.name} has {_classes(study.classes)}; "
            f"{remedy}"
        )


def _taken_in(study: Study, newcomer: Newcomer, making: Making) -> tuple[_Joining, Sequence[str]]:
    """Return a study's draft with the pictures of a model, made like its own, and notes about them."""
    from backend.stimuli.clips.detection import medium_of

    model, method = newcomer.model, study.protocol.method
    known = intake_facts.read(making.store, study)
    preprocess = known.preprocess if newcomer.preprocess is None else newcomer.preprocess
    form: dict[str, Any] = {
        "preprocess": preprocess,
        "skip_bad": newcomer.skip_bad,
        "strict": newcomer.strict,
    }
    if (medium := medium_of([newcomer.folder])) != study.medium:
        raise InvalidInput(
            f"study {study.name} shows {_NAMES[study.medium]}, and the folder of model {model} holds "
            f"{_NAMES[medium]}; a study never mixes them"
        )
    grown = replace(study, models=(*study.models, model), joined=(*study.joined, len(study.models)))
    draft = _Joining(
        StudySpec(study.name, study.kind, method, newcomer.folder, **form),
        grown,
        pool=tuple(making.store.stimuli(study.name)),
    )
    try:
        draft = take_in(draft, making)
    except Refused as refused:
        raise InvalidInput(str(refused).replace("the reals", f"model {model}")) from None
    notes = (*_notes(study, model, draft.intake, known, preprocess),)
    draft = replace(draft, intake=replace(draft.intake, stimuli=tuple(_of(model, draft.intake.stimuli))))
    return _matched(draft, making, notes)


def _matched(draft: _Joining, making: Making, notes: Sequence[str]) -> tuple[_Joining, Sequence[str]]:
    """Return a draft whose stimuli have the names of their partners' beginning, where these are matched."""
    from backend.stimuli import partners

    if not (sides := draft.sides_by_source):
        return draft, notes
    names = {partners.source_of(each): partners.beginning(each.name) for each in draft.pool}
    draft = renamed(draft, making, names)
    folders = [making.data.images(draft.study.name), making.pictures]
    shown = partners.by_source([*draft.pool, *draft.intake.stimuli], [sides[0], draft.model], folders)
    return draft, (*notes, *MEDIA[draft.study.medium].notes_on_partners(shown))


def _notes(
    study: Study, model: str, intake: Intake, known: intake_facts.IntakeFacts, preprocess: Sequence[str]
) -> Iterator[str]:
    """Yield what the intake says of a model, and how its files differ from those of the reals."""
    from backend.stimuli.confounds import cropped, differences
    from backend.stimuli.images import parse_preprocessing

    for note in intake.notes:
        yield f"{model}: {note.replace(' reals ', ' fakes ')}"
    is_alike = sorted(preprocess) == sorted(known.preprocess)
    losses = parse_preprocessing(preprocess if is_alike else ())  # those that both sides went through
    if not is_alike:
        ours, theirs = (", ".join(steps) or "no loss" for steps in (preprocess, known.preprocess))
        yield f"{model}: its pictures went through {ours}, and those of the study through {theirs}"
    if study.clip is not None:
        return
    sides = {None: known.reals, model: intake.reals}
    yield from cropped(sides)
    for difference in differences(
        sides, study.protocol.stimuli.size_px, losses
    ):  # a step of --preprocess would change the new pictures alone
        yield difference.note.partition("; --preprocess")[0]


def _flash_notes(study: Study, stimuli: Sequence[Stimulus], folder: Path) -> Iterator[str]:
    """Yield how the pictures of a new model flash, if the study flashes."""
    if study.protocol.has_flashes:
        from backend.stimuli import photosensitivity

        names = [stimulus.name for stimulus in stimuli]
        yield f"{stimuli[0].model}: {photosensitivity.note(study, names, folder, len(study.models))}"


def _of(model: str, stimuli: Iterable[Stimulus]) -> list[Stimulus]:
    return [replace(stimulus, truth=FAKE, model=model) for stimulus in stimuli]


def _classes(classes: Sequence[str]) -> str:
    return f"the classes {', '.join(classes)}" if classes else "no classes"


def _check_new(draft: _Joining, making: Making, is_submitted: bool) -> None:
    """Raise InvalidInput if a picture shows the same as one that the study has, whosever it is.

    Their names say nothing of it, since they are made with another key. A submitter gets one answer for
    all of them. Were those of some not compared with, whoever takes part as an evaluator could submit what
    was shown, and would learn from the answer whether it is one of those.
    """
    study, there = draft.study, making.data.images(draft.study.name)
    known = {_content(making.pictures / stimulus.name): stimulus for stimulus in draft.intake.stimuli}
    progress = None if is_submitted else making.progress  # the total would say how many others have
    same = [
        (known[pixels], old)
        for old in (progress(draft.pool, len(draft.pool), "comparing") if progress else draft.pool)
        if (pixels := _content(there / old.name)) in known
    ]
    if same and is_submitted:
        raise InvalidInput(
            f"some of the pictures show the same as pictures that study {study.name} has already, so they "
            "are not certainly this model's; submit others"
        )
    if same:
        shown = "; ".join(
            f"{printable(mine.source)} shows the same picture as {printable(old.source)} of "
            f"{old.model or 'the reals'}"
            for mine, old in same[:_NAMED]
        )
        more = f"; and {len(same) - _NAMED} more" if len(same) > _NAMED else ""
        raise InvalidInput(
            f"{len(same)} of the new pictures are in study {study.name} already: {shown}{more}"
        )


def _content(path: Path) -> bytes:
    """Return a hash of what a file shows, whatever it is padded with."""
    try:
        return medium_of_file(path.name).content_key(path)
    except FileNotFoundError:
        raise Conflict(
            f"the picture {path.name} is missing in {path.parent}; restore it from a backup first",
            code=_PICTURES_MISSING,
        ) from None


def _make_as_long(there: Path, new: Path) -> None:
    """Bring the files of two folders to one length, so that it tells none from another.

    Those that are served already are replaced one by one, in one step each.
    """
    from backend.stimuli.file_metadata import make_uniform

    old, mine = ([*folder.iterdir()] for folder in (there, new))
    old = [path for path in old if path.suffix in {one.suffix for one in mine}]  # masks of clips are pictures
    sizes = [{path.stat().st_size for path in paths} for paths in (old, mine)]
    if sizes[0] == sizes[1] and len(sizes[0]) == 1:
        return
    copies = new.parent / "again"
    copies.mkdir()
    for path in old:
        shutil.copy2(path, copies)
    make_uniform([*copies.iterdir(), *mine], pad=lambda path, size: medium_of_file(path.name).pad(path, size))
    sync_all([*copies.iterdir()])
    for path in old:
        os.replace(copies / path.name, path)


def _grown(
    store: Store,
    study: Study,
    model: str,
    stimuli: Sequence[Stimulus],
    notes: Sequence[str],
    now: datetime,
) -> Study:
    """Store a study with its new model, whatever else in its record changed meanwhile."""

    def change() -> Study:
        current = store.study(study.name)
        if (current.created_at, current.models) != (study.created_at, study.models):
            raise Conflict(f"study {study.name} was changed meanwhile; nothing was added, try again")
        models = (*current.models, model)
        after = replace(
            current,
            models=models,
            joined=(*current.joined, len(current.models)),
            joined_at=(*current.joined_at, stamp(now)),
            notes=(*current.notes, *(MEDIA[study.medium].said(note, models) for note in notes)),
            version=current.version + 1,
        )
        store.add_stimuli(after, stimuli)
        return after

    return retried(change, f"study {study.name} is being changed from several programs at once")
