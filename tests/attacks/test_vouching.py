"""What somebody can do who has the password of `textrawl_app` and a token with `admin`."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import psycopg
import pytest

from tests.attacks.site import issue
from tests.support.sharing import log_in, refuse
from textrawl.access.access_token import hash_token
from textrawl.embedded.postmaster import APP

ISSUER = "https://login.example.com"
FORGED = sha256(b"anything").digest()


@pytest.fixture
def app(owner: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """A session of the servers' login, and ben, whom nobody but the provider speaks for."""
    owner.execute("select create_space('red')")
    owner.execute("select grant_access('ben', 'red', array['read', 'write'])")
    with log_in(owner, APP) as session:
        yield session


def vouch(app: psycopg.Connection, token: str, life: timedelta, issuer: str = ISSUER) -> bool:
    row = app.execute(
        "select vouch(%s, %s, 'ben', array['read', 'write'], %s, %s)",
        (hash_token(token), FORGED, datetime.now(UTC) + life, issuer),
    ).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize("issuer", [None, "https://else.example.com"])
def test_an_admin_of_a_space_cannot_sign_as_another(
    owner: psycopg.Connection, app: psycopg.Connection, issuer: str | None
) -> None:
    token = issue(owner, "mallory", "red", "read", "write", "admin", issuer=issuer)

    states = [
        refuse(
            app, "vouch", credential=hash_token(token), bearer=FORGED, actor="ben",
            scopes=["write"], expires_at=datetime.now(UTC) + timedelta(hours=1), issuer=claimed,
        )
        for claimed in (ISSUER, None)
    ]  # fmt: skip

    assert states == ["TR014", "TR014"]
    state = refuse(
        app, "remember_fact", entity="Ada", type="person", observation="forged", credential=FORGED
    )
    assert state == "TR010"


def test_nobody_is_vouched_for_longer_than_an_hour_and_then_anew(
    owner: psycopg.Connection, app: psycopg.Connection
) -> None:
    gate = issue(owner, "gate", "red", "admin", issuer=ISSUER)
    left = "select expires_at - now() from token where hash = %s"

    assert vouch(app, gate, timedelta(days=50 * 365))
    [(years,)] = owner.execute(left, (FORGED,)).fetchall()
    owner.execute("update token set expires_at = now() where hash = %s", (FORGED,))
    assert vouch(app, gate, timedelta(minutes=5))
    [(minutes,)] = owner.execute(left, (FORGED,)).fetchall()

    assert timedelta(minutes=59) < years <= timedelta(hours=1)
    assert timedelta(minutes=4) < minutes <= timedelta(minutes=5)


def test_a_server_whose_token_names_no_provider_says_which_command_makes_one(
    owner: psycopg.Connection, app: psycopg.Connection
) -> None:
    gate = issue(owner, "gate", "red", "admin")

    with pytest.raises(psycopg.Error) as refused:
        vouch(app, gate, timedelta(hours=1))

    assert refused.value.diag.message_detail == ISSUER
