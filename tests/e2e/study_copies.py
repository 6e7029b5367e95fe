"""Studies for browser tests: each distinct one is made once in a process, and copied where it is wanted."""

import shutil
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from backend.administration.copy import copy
from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.experiment.records import Study
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.stores.store import Store

DATABASE = "sqlite:///openhype.db"


class StudyCopies:
    """Data directories, each with one study that nobody has taken part in."""

    def __init__(self, root: Path):
        self._root = root
        self._roots: dict[str, Path] = {}

    def put(self, spec: StudySpec, store: Store, data: DataDir) -> Study:
        """Store a study and its pictures, and return it as stored.

        The keys of the data directory are its own: a study holds nothing that depends on them.
        """
        source = DataDir(self._root_of(spec))
        shutil.copytree(source.images(spec.name), data.images(spec.name))
        with closing(open_store(DATABASE, source.root)) as made:
            copy(made, store, spec.name)
        return store.study(spec.name)

    def _root_of(self, spec: StudySpec) -> Path:
        key = repr(spec)
        if key not in self._roots:
            root = self._root / str(len(self._roots))
            with closing(open_store(DATABASE, root)) as store:
                create(store, DataDir(root), spec, datetime.now(UTC))
            self._roots[key] = root
        return self._roots[key]
