"""tidy_memory: what is out of order becomes a proposal, and accepting it can be taken back."""

from typing import Any, LiteralString

import psycopg
import pytest

from tests.sql.sessions import Three
from tests.sql.test_decisions import Reviewed

# Entity, fact, and the day on which it was said, if it matters.
MESS: tuple[tuple[str, str, str | None], ...] = (
    ("Jeff Miller", "pays the bills", None), ("Miller Jeff", "likes tea", None),
    ("Kim Novak", "plays chess", None), ("knovak", "plays chess", None),
    ("Ada", "lives in Berlin", "2024-01-10"), ("Ada", "lives in Munich", "2025-02-01"),
    # Said later, although it was stored earlier.
    ("Cleo", "works for Nokia", "2025-05-05"), ("Cleo", "works for Siemens", "2023-05-05"),
    ("Ben", "prefers the dark mode", None), ("Ben", "prefers dark mode", None),
    ("Harbour", "Open question: who reviews the security of Harbour?", None),
    ("Dora", "reviews the security of Harbour", None),
    ("Atlas", "the licence expires in May 2025", "2024-03-01"),
    ("Dora", "reports to Ada", None), ("Ben", "is married to Dora", None),
    ("Old Mill", "has a leaking roof", "2019-01-01"),
)  # fmt: skip
# Near misses: nothing of this is found.
ORDER: tuple[tuple[str, str, str | None], ...] = (
    ("Version 16", "is a release", None), ("Version 17", "is another release", None),
    ("Ada", "lived in Rome", "2020-01-01"), ("Ada", "likes tea", None),
    ("Ben", "prefers tabs over spaces", None), ("Ben", "moved from Oslo to Riga", None),
    ("Harbour", "Who owns the budget of Harbour?", None),
    ("Atlas", "is written in Rust until further notice", None),
    ("Atlas", "had a sponsor until May 2021", "2024-03-01"),
    ("Atlas", "has a licence until May 2099", "2024-03-01"),
    ("Dora", "does not report to Cleo", None), ("Dora", "used to work for Ben", None),
    ("Dora", "asks Harbour to pay", None),
    ("POSTGRES", "is a project of Berkeley", None), ("Dora", "runs Postgres at home", None),
    # No month or day of another date makes an end.
    ("Atlas", "rents an office until March or May 2025", "2024-03-01"),
    ("Atlas", "keeps the archive until 3 May or 10 January 2025", "2024-03-01"),
)  # fmt: skip
FOUND = [
    ("disagreement", "Ada", "lives in Berlin"),
    ("disagreement", "Cleo", "works for Siemens"),
    ("double", "Ben", "prefers dark mode"),
    ("expired", "Atlas", "the licence expires in May 2025"),
    ("name", "Jeff Miller", "is the same as Miller Jeff"),
    ("question", "Harbour", "Open question: who reviews the security of Harbour?"),
    ("relation", "Ben", "married to Dora"),
    ("relation", "Dora", "reports to Ada"),
    ("same", "Kim Novak", "is the same as knovak"),
    ("stale", "Old Mill", "has a leaking roof"),
]
TIDY: LiteralString = (
    "select finding, entity_name, content from tidy_memory(%s, credential => %s) order by 1, 2, 3"
)


class Untidy(Reviewed):
    """A team whose memory is a mess, and Rita who reviews and tidies it."""

    def make_mess(self) -> None:
        """Store the mess and the near misses."""
        for entity, text, day in (*MESS, *ORDER):
            self.remember("ana", entity, text, said_at=day)
        self.sql.execute(
            """update observation set created_at = said_at, valid_from = said_at
               where said_at < '2020-01-01'"""
        )
        # Where something was recalled, a fact without a recall was never recalled.
        self.sql.execute(
            """insert into recalled (space_id, observation_id, recalls, last_at)
               select space_id, id, 1, now() from observation where content = 'works for Nokia'
               on conflict do nothing"""
        )

    @property
    def rita(self) -> bytes:
        """The credential of Rita."""
        return self.credential("rita", "read", "write", "review")

    def column(self, query: LiteralString, *values: object) -> list[Any]:
        """The first column of all rows."""
        return [row[0] for row in self.sql.execute(query, values).fetchall()]

    def tidy(self, *, dry_run: bool = False, credential: bytes | None = None) -> list[Any]:
        """Finding, entity and text of all that is found."""
        return self.sql.execute(TIDY, (dry_run, credential or self.rita)).fetchall()

    def find_valid(self) -> dict[str, list[str]]:
        """The texts that are valid, by their entity."""
        rows = self.sql.execute(
            """select e.name, array_agg(o.content order by o.content) from fact o
               join entity e on e.space_id = o.space_id and e.id = o.entity_id
               where is_valid(o.valid_from, o.valid_until, o.closed_at) group by 1"""
        )
        return dict(rows.fetchall())

    def pending(self) -> list[str]:
        """Ids of the pending proposals, oldest first."""
        return [str(row["id"]) for row in self.list("pending")]

    def events(self, action: str) -> list[int]:
        """Events with an action, newest first."""
        rows = self.sql.execute(
            "select id from event where action = %s order by id desc", (action,)
        )
        return [event for (event,) in rows]

    def take_back(self, event: int) -> None:
        """Undo one event, as Rita."""
        self.fetch("select undo_id from undo_event(%s, credential => %s)", event, self.rita)

    def split_all(self) -> int:
        """Split all merges, which an undo leaves alone, and return their number."""
        merged = self.column("select entity ->> 'name' from merge")
        for name in merged:
            self.fetch("select merge_id from split_entity(%s, credential => %s)", name, self.rita)
        return len(merged)


@pytest.fixture
def team(sql: psycopg.Connection) -> Untidy:
    made = Untidy(sql)
    made.make_mess()
    return made


def test_all_kinds_of_disorder_are_proposed_once_accepted_at_once_and_undone_to_the_row(
    team: Untidy,
) -> None:
    before = team.rows()
    planned = team.tidy(dry_run=True)
    assert (planned, team.list(), team.rows()) == (FOUND, [], before)

    assert (team.tidy(), team.tidy(), team.rows()) == (FOUND, [], before)

    since = team.now()
    team.accept(*team.pending())
    valid = team.find_valid()
    assert valid["Jeff Miller"] == ["likes tea", "pays the bills"]
    assert valid["Kim Novak"] == ["plays chess"]
    assert "lives in Berlin" not in valid["Ada"]
    assert valid["Cleo"] == ["works for Nokia"]
    assert "prefers dark mode" not in valid["Ben"]
    assert valid["Harbour"] == ["Who owns the budget of Harbour?"]
    assert "Old Mill" not in valid
    ended = "select valid_until::date::text from fact where content like 'the licence expires%%'"
    assert team.fetch(ended) == "2025-06-01"
    assert team.fetch("select count(*) from relation") == 2
    assert team.tidy() == []

    team.undo("rita", since)
    merges = team.split_all()
    assert (team.rows(), len(team.pending()) + merges) == (before, len(FOUND))


def test_a_proposal_says_why_it_was_found_and_shows_the_other_fact(team: Untidy) -> None:
    team.tidy()
    listed = {row["content"]: row for row in team.list()}
    beside = {text: [fact["why"] for fact in row["beside"]] for text, row in listed.items()}
    assert beside["lives in Berlin"] == ["contradicts"]
    assert beside["prefers dark mode"] == ["repeats"]
    assert beside["Open question: who reviews the security of Harbour?"] == ["answers"]
    assert listed["reports to Ada"]["evidence"] == "reports to Ada"
    assert listed["has a leaking roof"]["evidence"] == "stored on 2019-01-01, old, never recalled"


def test_each_acceptance_is_one_step_that_one_undo_takes_back(team: Untidy) -> None:
    before = team.rows()
    team.tidy()
    for proposal in team.pending():
        team.accept(proposal)
        assert team.rows() != before
        if not team.split_all():
            team.take_back(team.events("accepted")[0])
        assert team.rows() == before
    assert len(team.pending()) == len([row for row in FOUND if row[0] not in ("name", "same")])


def test_nothing_that_was_rejected_or_dismissed_is_found_again_until_that_is_undone(
    team: Untidy,
) -> None:
    ids = team.column(
        "select array[a.id, b.id] from entity a, entity b where (a.name, b.name) ="
        " ('Kim Novak', 'knovak')"
    )[0]
    team.fetch("select dismiss_candidates('same', %s, credential => %s)", ids, team.rita)
    rest = [row for row in FOUND if row[0] != "same"]
    assert team.tidy() == rest

    team.decide("reject", *team.pending(), reason="all is well")
    assert (team.tidy(), team.pending()) == ([], [])
    # The lists of candidates leave it out too, and it stays rejected when the proposals are gone.
    assert team.column("select entity_name from find_same_entities(min_score => 0.81)") == []
    assert team.column("select one from conflicting_facts()") == []
    team.sql.execute("delete from proposal where kind in ('merge', 'end')")
    assert team.tidy() == []


def test_an_undo_of_a_rejection_takes_the_dismissal_back_too(team: Untidy) -> None:
    team.tidy()
    proposals = team.pending()
    team.decide("reject", *proposals, reason="all is well")
    for event in team.events("rejected"):
        team.take_back(event)
    assert team.pending() == proposals
    assert team.column("select kind from dismissal") == []

    # What an undo withdrew is proposed again.
    team.undo("rita", team.now().replace(year=2000))
    assert team.pending() == []
    assert team.tidy() == FOUND


def test_a_finding_that_is_proposed_again_says_what_is_so_now(team: Untidy) -> None:
    team.tidy()
    team.undo("rita", team.now().replace(year=2000))
    team.sql.execute(
        "update observation set valid_from = '2025-03-01' where content = 'lives in Berlin'"
    )
    now = {"lives in Munich"} | {row[2] for row in FOUND} - {"lives in Berlin"}
    assert {row[2] for row in team.tidy()} == now
    assert {row["content"] for row in team.list("pending")} == now
    team.accept(*team.pending())
    assert "lives in Berlin" in team.find_valid()["Ada"]
    assert "lives in Munich" not in team.find_valid()["Ada"]


def test_a_finding_goes_with_what_it_is_about(team: Untidy) -> None:
    team.tidy()
    team.forget("Ada", "lives in Munich")
    team.forget("Old Mill")
    team.remember("ana", "Ben", "prefers the light mode", replaces="prefers the dark mode")
    texts = {row["content"] for row in team.list("pending")}
    assert not texts & {"lives in Berlin", "has a leaking roof"}
    team.remember("ana", "Dora", "is nobody's report", replaces="reports to Ada")
    ended = {"prefers dark mode", "reports to Ada"}
    gone = [str(row["id"]) for row in team.list() if row["content"] in ended]
    plan = team.sql.execute(
        "select outcome, fault from plan_decision(%s, credential => %s)", (gone, team.rita)
    )
    assert plan.fetchall() == [("refused", "gone")] * 2
    for proposal in gone:
        with pytest.raises(psycopg.Error) as refused:
            team.accept(proposal)
        assert refused.value.sqlstate == "TR008"

    assert team.tidy() == [("disagreement", "Ben", "prefers dark mode")]
    assert team.fetch("select expire_proposals()") == 2
    assert not {*gone} & {*team.pending()}


def test_a_finding_goes_with_a_fact_that_is_forgotten_after_an_undo_has_removed_it(
    team: Untidy,
) -> None:
    since = team.now()
    for town in ("Bonn", "Kiel"):
        team.remember("eve", "Zoe", f"lives in {town}")
    team.tidy()
    assert "lives in Bonn" in team.states()
    team.undo("eve", since)
    team.forget("Zoe", "lives in Bonn")
    assert "lives in Bonn" not in team.states()


def test_tidying_needs_read_and_a_right_to_propose_and_stays_in_its_space(team: Untidy) -> None:
    side = Untidy(team.sql, "side")
    side.make_mess()
    mine = team.column("select array_agg(id) from proposal where space_id = %s", side.space)
    reader = team.credential("reader", "read")
    blind = team.credential("blind", "write")
    agent = team.credential("agent", "read", "propose")
    for credential in (reader, blind):
        with pytest.raises(psycopg.Error) as refused:
            team.tidy(credential=credential)
        assert (refused.value.sqlstate or "") in {"TR011", "TR015"}
    assert team.tidy(dry_run=True, credential=reader) == FOUND
    assert team.tidy(credential=agent) == FOUND
    assert team.column("select distinct space_id from proposal") == [team.space]
    assert mine == [None]
    # A finding is no proposed fact, so the facts about an entity do not show it to its author.
    assert team.column("select content from entity_proposals('Ada', credential => %s)", agent) == []
    # Nor does it say how good the proposals of somebody are.
    assert team.column("select author from rate_proposals(credential => %s)", team.rita) == []


def test_two_runs_at_once_make_no_doubles(team: Untidy, three: Three) -> None:
    _, one, other = three
    given = (False, team.rita)
    with one.connection.transaction():
        first = one.connection.execute(TIDY, given).fetchall()
        other.start(TIDY, *given)
    assert (first, other.end()) == (FOUND, [])
    assert len(team.pending()) == len(FOUND)
