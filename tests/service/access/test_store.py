"""Keys: made, shown to nobody twice, ended, replaced; and what stands in their file."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import service.access
from service.access import KeyLimits, KeyStore, Role
from service.errors import InputError, KeyStoreError, UnauthorizedError

DAY = timedelta(days=1)
GRADER = frozenset({Role.GRADE})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "keys.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[KeyStore]:
    with KeyStore(path) as store:
        yield store


def refusal(store: KeyStore, token: str) -> str:
    with pytest.raises(UnauthorizedError) as refused:
        store.authenticate(token)
    return str(refused.value)


def test_a_key_is_known_again_in_every_process_with_all_that_it_may(
    path: Path, store: KeyStore
) -> None:
    roles = frozenset({Role.GRADE, Role.READ})
    limits = KeyLimits(requests_per_minute=7, max_body_bytes=5000)
    issued = store.create("lms", roles, exams=frozenset({"a", "ü/b"}), limits=limits, lifetime=DAY)
    with KeyStore(path) as other:
        key = other.authenticate(issued.token)
    assert key == issued.key
    assert (key.name, key.roles, key.exams) == ("lms", roles, {"a", "ü/b"})
    assert key.limits == limits
    assert key.expires_at - key.created_at == DAY


def test_only_a_hash_of_a_key_is_kept(path: Path, store: KeyStore) -> None:
    token = store.create("lms", GRADER, lifetime=DAY).token
    secret = token.rpartition("_")[2]
    assert len(secret) == 64
    for file in path.parent.iterdir():
        content = file.read_bytes()
        assert secret.encode() not in content
        assert bytes.fromhex(secret) not in content


def test_a_key_is_in_no_repr(store: KeyStore) -> None:
    issued = store.create("lms", GRADER, lifetime=DAY)
    assert issued.token not in repr(issued)


def test_only_its_owner_can_read_the_file(path: Path, store: KeyStore) -> None:
    store.create("lms", GRADER, lifetime=DAY)
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}


def test_no_two_keys_are_alike(store: KeyStore) -> None:
    tokens = [store.create("lms", GRADER, lifetime=DAY).token for _ in range(50)]
    assert len(set(tokens)) == len({token.rpartition("_")[0] for token in tokens}) == 50


def test_one_changed_character_makes_a_key_unknown(store: KeyStore) -> None:
    token = store.create("lms", GRADER, lifetime=DAY).token
    for place in (0, 5, len(token) - 1):
        changed = "0" if token[place] != "0" else "1"
        forged = token[:place] + changed + token[place + 1 :]
        assert refusal(store, forged) == "the API key is not known"
    assert "not known" in refusal(store, token + "0")
    assert "not known" in refusal(store, token.upper())
    assert store.authenticate(token)


def test_whatever_is_no_key_is_unknown(store: KeyStore) -> None:
    @given(st.text())
    def tried(token: str) -> None:
        assert refusal(store, token) == "the API key is not known"

    tried()


def test_a_key_ends_with_its_lifetime(store: KeyStore) -> None:
    issued = store.create("lms", GRADER, lifetime=timedelta(0))
    assert refusal(store, issued.token) == (
        f"the API key {issued.key.prefix} is expired; ask for a new one"
    )
    assert issued.key.state(issued.key.created_at) == "expired"
    assert issued.key.state(issued.key.created_at - DAY) == "active"


def test_a_revoked_key_ends_at_once_everywhere_and_stays_listed(
    path: Path, store: KeyStore
) -> None:
    issued = store.create("lms", GRADER, lifetime=DAY)
    with KeyStore(path) as running:
        assert running.authenticate(issued.token)
        revoked = store.revoke(issued.key.prefix)
        assert "is revoked" in refusal(running, issued.token)
    assert store.revoke(issued.key.prefix) == revoked
    assert store.keys() == [revoked]
    assert revoked.state(datetime.now(UTC)) == "revoked"


def test_a_rotated_key_has_an_heir_and_ends(store: KeyStore) -> None:
    limits = KeyLimits(requests_per_minute=7)
    old = store.create("lms", GRADER, exams=frozenset({"e"}), limits=limits, lifetime=DAY)
    new = store.rotate(old.key.prefix, lifetime=2 * DAY, overlap=timedelta(0))
    assert "is expired" in refusal(store, old.token)
    heir = store.authenticate(new.token)
    assert (heir.name, heir.roles, heir.exams) == ("lms", GRADER, {"e"})
    assert heir.limits == limits
    assert heir.expires_at - heir.created_at == 2 * DAY


def test_an_overlap_never_makes_the_old_key_last_longer(store: KeyStore) -> None:
    old = store.create("lms", GRADER, lifetime=DAY)
    store.rotate(old.key.prefix, lifetime=DAY, overlap=timedelta(hours=1))
    shortened = store.authenticate(old.token).expires_at
    assert shortened < old.key.expires_at
    store.rotate(old.key.prefix, lifetime=DAY, overlap=timedelta(days=9))
    assert store.authenticate(old.token).expires_at == shortened


@pytest.mark.parametrize("ended", ["expired", "revoked"])
def test_a_key_that_has_ended_has_no_heir(store: KeyStore, ended: str) -> None:
    lifetime = timedelta(0) if ended == "expired" else DAY
    prefix = store.create("lms", GRADER, lifetime=lifetime).key.prefix
    if ended == "revoked":
        store.revoke(prefix)
    with pytest.raises(InputError, match=ended):
        store.rotate(prefix, lifetime=DAY, overlap=timedelta(0))
    assert len(store.keys()) == 1


def test_a_prefix_that_is_unknown_is_not_repeated(store: KeyStore) -> None:
    for change in (store.revoke, lambda p: store.rotate(p, lifetime=DAY, overlap=DAY)):
        with pytest.raises(InputError, match="keys list") as refused:
            change("ste_0123")
        assert "ste_0123" not in str(refused.value)


def test_once_a_key_was_made_nobody_gets_in_without_one_again(path: Path, store: KeyStore) -> None:
    assert not store.in_use()
    with KeyStore(path) as other:
        prefix = other.create("lms", GRADER, lifetime=DAY).key.prefix
    assert store.in_use()
    store.revoke(prefix)
    assert store.in_use()
    with KeyStore(path) as reopened:
        assert reopened.in_use()


def test_a_process_that_is_killed_leaves_the_keys_that_it_handed_out(path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from datetime import timedelta\n"
        "from service.access import KeyStore, Role\n"
        "store = KeyStore(Path(sys.argv[1]))\n"
        "made = store.create('lms', frozenset({Role.READ}), lifetime=timedelta(days=1))\n"
        "print(made.token, flush=True); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True
    )
    assert killed.returncode == -9
    with KeyStore(path) as store:
        assert store.authenticate(killed.stdout.strip()).name == "lms"


def test_keys_of_the_first_schema_stay_valid(path: Path, tmp_path: Path) -> None:
    with KeyStore(tmp_path / "new.sqlite3") as new:
        issued = new.create("lms", GRADER, exams=frozenset({"e"}), lifetime=DAY)
    first = (Path(service.access.__file__).parent / "schema.sql").read_text(encoding="utf-8")
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(first)
        connection.execute("ATTACH ? AS new", (str(tmp_path / "new.sqlite3"),))
        columns = "prefix, hash, name, roles, exams, created_at, expires_at, revoked_at"
        connection.execute(f"INSERT INTO main.api_key SELECT {columns} FROM new.api_key")
        connection.execute("PRAGMA main.user_version = 1")
    for _ in range(2):
        with KeyStore(path) as store:
            assert store.authenticate(issued.token) == issued.key
            assert store.in_use()


def test_a_file_of_a_newer_release_is_left_alone(path: Path, store: KeyStore) -> None:
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(KeyStoreError, match=r"schema 99.*upgrade"):
        KeyStore(path)


def test_a_file_that_is_no_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are not the keys you are looking for" * 100, encoding="utf-8")
    with pytest.raises(KeyStoreError, match=r"notes\.txt.*not a database"):
        KeyStore(path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KeyStoreError, match=r"cannot open.*keys\.sqlite3"):
        KeyStore(tmp_path / "file" / "keys.sqlite3")


def test_a_key_that_cannot_be_written_is_not_handed_out(path: Path, store: KeyStore) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON api_key BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    with pytest.raises(KeyStoreError, match="full"):
        store.create("lms", GRADER, lifetime=DAY)
    assert store.keys() == []
