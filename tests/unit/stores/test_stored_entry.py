"""An entry that has to be there."""

import pytest

from backend.foundation.errors import NotFound
from backend.stores.store import stored_entry

from ..memory import MemoryStore


def test_an_entry_that_is_there_is_returned():
    store = MemoryStore()
    written = store.write_entry("a book", "a key", 0, {"n": 1})

    assert stored_entry(store, "a book", "a key") == written


def test_an_entry_that_was_erased_meanwhile_is_not_found():
    with pytest.raises(NotFound, match="a key"):
        stored_entry(MemoryStore(), "a book", "a key")
