"""Who a token, a cookie or a proxy's word stands for, and what ends it."""

import hashlib
import json
import threading
from datetime import UTC, datetime, timedelta

import pytest

from backend.foundation.errors import Conflict, InvalidInput, NotAllowed, NotFound
from backend.members import access, memberships, tokens
from backend.members.roles import ROLES, Member
from backend.stores.datadir import Keys

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = Keys("the-key", b"hashing")


@pytest.fixture
def store(each_world):
    return each_world.store


def issued(store, name="ada", role="submitter", days=30):
    memberships.add(store, name, role, "owner", NOW)
    return tokens.issue(store, memberships.membership(store, name), "laptop", days, "owner", NOW)


def refusal(store, text, now=NOW):
    with pytest.raises(NotAllowed) as refused:
        access.member_of(store, KEYS, text, now)
    return refused.value.code


def test_each_role_includes_the_ones_before_it():
    assert [[Member("ada", role).may(needed) for needed in ROLES] for role in ROLES] == [
        [True, False, False], [True, True, False], [True, True, True],
    ]  # fmt: skip


def test_an_owner_manages_all_and_a_researcher_submitters():
    assert [[Member("ada", role).may_manage(managed) for managed in ROLES] for role in ROLES] == [
        [False, False, False], [True, False, False], [True, True, True],
    ]  # fmt: skip


def test_a_token_is_of_its_member_and_the_key_of_the_owner(store):
    token, text = issued(store)

    assert access.member_of(store, KEYS, text, NOW) == Member(
        "ada", "submitter", token.id, "2026-01-31T00:00:00.000Z"
    )
    assert access.member_of(store, KEYS, "the-key", NOW) == Member("owner", "owner")


def test_a_token_has_256_random_bits_of_which_the_store_has_the_hash_only(store):
    token, text = issued(store)
    secret = text.removeprefix(f"oh_{token.id}_")
    stored = json.dumps([entry.data for book in ("tokens", "members") for entry in store.entries(book)])

    assert len(secret) == 43  # 43 characters of 6 bits: 32 bytes
    assert secret not in stored
    assert token.hash == hashlib.sha256(text.encode()).hexdigest()


def test_a_token_ends_at_the_time_at_which_it_expires(store):
    _, text = issued(store, days=1)

    assert access.member_of(store, KEYS, text, NOW + timedelta(days=1, milliseconds=-1)).name == "ada"
    assert refusal(store, text, NOW + timedelta(days=1)) == "expired_token"


def test_a_revoked_token_ends_at_once_and_others_of_its_member_go_on(store):
    token, text = issued(store)
    _, other = tokens.issue(store, memberships.membership(store, "ada"), "", 1, "owner", NOW)

    tokens.revoke(store, token.id, NOW)
    again = tokens.revoke(store, token.id, NOW + timedelta(days=1))

    assert refusal(store, text) == "revoked_token"
    assert again.revoked_at == "2026-01-01T00:00:00.000Z"
    assert access.member_of(store, KEYS, other, NOW).name == "ada"


def test_the_tokens_of_a_removed_member_stay_without_effect_when_the_name_is_added_again(store):
    _, text = issued(store)

    memberships.end(store, memberships.membership(store, "ada"), NOW)
    removed = refusal(store, text)
    memberships.add(store, "ada", "owner", "owner", NOW)

    assert (removed, refusal(store, text)) == ("revoked_token", "revoked_token")


def test_the_role_is_that_of_the_member_at_the_moment(store):
    _, text = issued(store, role="owner")
    memberships.end(store, memberships.membership(store, "ada"), NOW)
    memberships.add(store, "ada", "submitter", "owner", NOW)
    _, fresh = tokens.issue(store, memberships.membership(store, "ada"), "", 1, "owner", NOW)

    assert access.member_of(store, KEYS, fresh, NOW).role == "submitter"
    assert refusal(store, text) == "revoked_token"


def test_a_text_that_is_no_token_is_refused(store):
    texts = (
        *("", "the-keY", "oh_", "oh_000000000000_", f"oh_{'0' * 12}_{'A' * 43}"),
        *("\ud800", "\0", "é" * 99, "oh_" * 999),
    )
    for text in texts:
        assert refusal(store, text) == "wrong_token", text


def test_another_secret_with_the_id_of_a_token_is_not_shown_that_the_token_was_revoked(store):
    token, text = issued(store)
    tokens.revoke(store, token.id, NOW)

    assert refusal(store, text[:-1] + ("A" if text[-1] != "A" else "B")) == "wrong_token"


def test_a_member_may_be_found_by_any_case_of_the_letters_and_added_once(store):
    issued(store, "Ada@lab.example")

    assert access.member_named(store, "ADA@lab.example").name == "Ada@lab.example"
    for name in ("ada@LAB.example", "Owner"):
        with pytest.raises(Conflict, match="is a member already"):
            memberships.add(store, name, "submitter", "owner", NOW)


def test_a_name_that_is_added_again_keeps_its_letters(store):
    issued(store, "Ada@lab.example")
    memberships.end(store, memberships.membership(store, "ada@lab.example"), NOW)

    added = memberships.add(store, "ada@lab.example", "researcher", "owner", NOW)

    assert (added.member, added.role) == ("Ada@lab.example", "researcher")
    assert memberships.membership(store, "ADA@lab.example") == added


def test_who_is_no_member_is_refused_although_a_proxy_names_them(store):
    issued(store)

    for name in ("mallory", "owner", "OWNER", "", "ada, owner", "ada\0", "\ud800", "../ada", "<b>", "a" * 65):
        with pytest.raises(NotAllowed, match="is not a member here") as refused:
            access.member_named(store, name)
        assert refused.value.code == "unknown_member", name


@pytest.mark.parametrize(
    "name", ["", ".", "..", "-a", "a b", "a/b", "a\n", "\ud800", "<b>", "é", "a" * 65, "a\0"]
)
def test_a_name_that_is_none_is_refused(world, name):
    with pytest.raises(InvalidInput, match="a member's name must be 1 to 64"):
        memberships.add(world.store, name, "submitter", "owner", NOW)


@pytest.mark.parametrize(
    ("label", "days"), [("a" * 65, 1), ("a\nb", 1), ("\ud800", 1), ("a", 0), ("a", 3651), ("a", 10**400)]
)
def test_a_token_without_a_printable_label_and_an_expiry_is_refused(world, label, days):
    memberships.add(world.store, "ada", "submitter", "owner", NOW)

    with pytest.raises(InvalidInput, match="a token"):
        tokens.issue(world.store, memberships.membership(world.store, "ada"), label, days, "owner", NOW)


def test_the_owner_by_the_key_can_have_tokens_and_not_be_removed(store):
    _, text = tokens.issue(store, memberships.membership(store, "owner"), "", 1, "owner", NOW)

    with pytest.raises(Conflict, match="cannot be removed"):
        memberships.end(store, memberships.membership(store, "OWNER"), NOW)
    assert access.member_of(store, KEYS, text, NOW).role == "owner"


def test_who_is_no_member_gets_no_token_and_cannot_be_removed(store):
    memberships.add(store, "ada", "submitter", "owner", NOW)
    memberships.end(store, memberships.membership(store, "ada"), NOW)

    for name in ("ada", "nobody", "\ud800"):
        with pytest.raises(NotFound, match="there is no member"):
            memberships.end(store, memberships.membership(store, name), NOW)
        with pytest.raises(NotFound, match="there is no member"):
            tokens.issue(store, memberships.membership(store, name), "", 1, "owner", NOW)


def test_a_token_that_is_not_there_cannot_be_revoked_nor_seal_a_cookie(store):
    for token_id in ("", "0" * 12, "\ud800", "../x"):
        with pytest.raises(NotFound, match="there is no token"):
            tokens.revoke(store, token_id, NOW)
        with pytest.raises(NotAllowed, match="sign in again"):
            access.member_by_token_id(store, token_id, NOW)


def test_of_two_who_add_one_member_at_once_one_succeeds(world):
    gate, added, refused = threading.Barrier(8), [], []

    def add(n):
        gate.wait(5)
        try:
            added.append(memberships.add(world.store, "ada", ROLES[n % 3], f"m{n}", NOW))
        except Conflict:
            refused.append(n)

    threads = [threading.Thread(target=add, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(added), len(refused)) == (1, 7)
    assert memberships.memberships(world.store)[1:] == added


def test_revoke_all_leaves_other_members_tokens(store):
    token, _ = issued(store)
    _, other = issued(store, "bob")

    tokens.revoke_all(store, memberships.membership(store, "ada").id, NOW)

    assert tokens.token(store, token.id).revoked_at
    assert access.member_of(store, KEYS, other, NOW).name == "bob"
