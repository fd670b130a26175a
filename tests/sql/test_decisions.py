"""Decisions about proposals in SQL: what is accepted counts, and undo takes decisions back."""

import json
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.support.sql_team import Team

DECIDE: LiteralString = "select * from decide_proposals(%s, %s, %s, credential => %s)"


class Reviewed(Team):
    """A team with an agent who proposes, and Rita who reviews."""

    def propose(self, entity: str, text: str, author: str = "agent", **given: Any) -> str:
        """The id of a fact that `author` proposes."""
        names = "".join(f", {name} => %({name})s" for name in given)
        query = f"""
            select proposal_id from remember_fact(%(entity)s, 'person', %(text)s,
                credential => %(credential)s, client => 'bot 1'{names})"""  # noqa: S608
        values = {"entity": entity, "text": text, **given}
        values["credential"] = self.credential(author, "read", "propose")
        row = self.sql.execute(query, values).fetchone()  # pyright: ignore[reportArgumentType, reportCallIssue]
        assert row is not None
        return str(row[0])

    def connect(self, one: str, relation: str, other: str) -> str:
        """The id of a relation that the agent proposes."""
        agent = self.credential("agent", "read", "propose")
        query: LiteralString = """
            select proposal_id
            from relate_entities(%s, %s, %s, replaces => true, credential => %s)"""
        return str(self.fetch(query, one, relation, other, agent))

    def decide(self, decision: str, *proposals: str, reason: str | None = None) -> list[Any]:
        """Rows of decide_proposals, as Rita."""
        rita = self.credential("rita", "read", "write", "review")
        with self.sql.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(DECIDE, (list(proposals), decision, reason, rita)).fetchall()

    def accept(self, *proposals: str) -> list[Any]:
        """Rows of decide_proposals, as Rita."""
        return self.decide("accept", *proposals)

    def list(self, state: str = "any", **credential: Any) -> list[dict[str, Any]]:
        """Rows of list_proposals, as Rita or with another credential."""
        given = credential.get("credential") or self.credential("rita", "read", "write", "review")
        query = "select * from list_proposals(decision => %s, credential => %s)"
        with self.sql.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query, (state, given)).fetchall()

    def states(self) -> dict[str, str]:
        """The state of each proposal, by its text."""
        return {row["content"]: row["state"] for row in self.list()}

    def contents(self) -> str:
        """All rows of content, and all proposals with their states."""
        return json.dumps([self.rows(), self.states()], sort_keys=True)


@pytest.fixture
def team(sql: psycopg.Connection) -> Reviewed:
    return Reviewed(sql)


def refuse(team: Team, query: LiteralString, *values: object) -> str | None:
    with pytest.raises(psycopg.Error) as refused:
        team.sql.execute(query, values)
    return refused.value.sqlstate


def test_a_repeated_proposal_has_the_newest_anchors(team: Reviewed) -> None:
    [old, new] = [[f"src/a.py {digit * 16}"] for digit in "01"]

    first = team.propose("Ada", "wrote the parser", anchors=old)

    assert team.propose("Ada", "wrote the parser", anchors=new) == first
    assert team.fetch("select anchors from proposal") == new


def test_a_proposal_about_a_person_belongs_to_no_repository(team: Reviewed) -> None:
    team.sql.execute("select set_config('textrawl.repository', 'github.com/acme/api', false)")
    team.propose("Ada", "likes tea")
    team.remember("rita", "Api", "is old", kind="project")
    team.propose("Api", "is fast")

    query = "select content, repository from proposal"
    found = dict(team.sql.execute(query).fetchall())

    assert found == {"likes tea": None, "is fast": "github.com/acme/api"}


def test_an_accepted_fact_keeps_its_author_and_the_trail_names_who_accepted(
    team: Reviewed,
) -> None:
    said = datetime.fromisoformat("2026-01-02T00:00:00+00:00")
    proposal = team.propose("Ada", "likes tea", said_at=said, confidence=0.5, source="note")

    [row] = team.accept(proposal[:8])

    assert (row["state"], row["entity_name"], row["duplicate"]) == ("accepted", "Ada", False)
    stored = team.sql.execute(
        """select a.name, o.client, o.tool, o.said_at, o.confidence, o.source
           from fact o join actor a on a.id = o.author_id where o.id = %s""",
        (row["observation_id"],),
    ).fetchone()
    assert stored == ("agent", "bot 1", "sql", said, 0.5, "note")
    events = team.sql.execute(
        """select e.action, a.name from event e join actor a on a.id = e.actor_id order by e.id"""
    ).fetchall()
    assert events == [
        ("proposed", "agent"), ("created", "agent"), ("remembered", "agent"), ("accepted", "rita"),
    ]  # fmt: skip
    [listed] = team.list()
    assert (listed["state"], listed["decided_by"]) == ("accepted", "rita")
    assert listed["observation_id"] == row["observation_id"]


def test_an_accepted_relation_is_stored_and_ends_the_former_one(team: Reviewed) -> None:
    former = team.relate("ben", "Ada", "works at", "Acme")
    proposal = team.connect("Ada", "works at", "Globex")

    [row] = team.accept(proposal)

    assert team.fetch(
        "select to_entity is not null from relation where id = %s", row["relation_id"]
    )
    assert team.fetch("select valid_until is not null from relation where id = %s", former)


def test_a_rejected_fact_is_not_stored_and_its_author_reads_the_reason(team: Reviewed) -> None:
    proposal = team.propose("Ada", "likes tea")

    team.decide("reject", proposal, reason="Ada drinks coffee")

    assert team.rows() == {}
    [row] = team.list(credential=team.credential("agent", "read", "propose"))
    assert (row["state"], row["reason"]) == ("rejected", "Ada drinks coffee")


def test_a_list_shows_the_facts_beside_a_proposal(team: Reviewed) -> None:
    tea = team.remember("ben", "Ada", "likes tea")
    oslo = team.remember("ben", "Ada", "lives in Oslo")
    team.propose("ada", "likes tea.")
    team.propose("Ada", "lives in Riga", replaces=str(oslo.id)[:8])
    team.propose("Bo", "likes tea")

    beside = {row["content"]: row["beside"] for row in team.list("pending")}

    assert beside == {
        "likes tea.": [{"id": str(tea.id), "content": "likes tea", "why": "repeats"}],
        "lives in Riga": [{"id": str(oslo.id), "content": "lives in Oslo", "why": "replaces"}],
        "likes tea": [],
    }


def test_a_list_names_the_close_fact_that_a_proposal_contradicts(team: Reviewed) -> None:
    team.sql.execute("select register_embedding_model('test:model', 3)")
    team.remember("ben", "Ada", "has 3 cats", model=1, embedding="[1, 0, 0]")
    team.propose("Ada", "has 4 cats", model=1, embedding="[1, 0.1, 0]")

    [row] = team.list("pending")

    assert [(near["content"], near["why"]) for near in row["beside"]] == [
        ("has 3 cats", "contradicts")
    ]
    team.accept(str(row["id"]))
    assert team.fetch("select count(*) from embedding_1") == 2


def test_a_plan_says_what_accepting_would_store_and_changes_nothing(team: Reviewed) -> None:
    team.remember("ben", "Ada", "likes tea")
    oslo = team.remember("ben", "Ada", "lives in Oslo")
    ids = [
        team.propose("Ada", "likes tea"),
        team.propose("Ada", "lives in Riga", replaces="lives in Oslo"),
        team.propose("Ada", "lives in Rome", replaces="lives in Oslo"),
        team.propose("Ada", "swims"),
    ]
    rita = team.credential("rita", "read", "write", "review")
    plan: LiteralString = "select outcome from plan_decision(%s, credential => %s)"
    before = team.contents()

    outcomes = [row[0] for row in team.sql.execute(plan, (ids, rita)).fetchall()]
    assert team.contents() == before
    team.accept(ids[1])
    later = team.sql.execute(plan.replace("outcome", "fault"), ([ids[2]], rita)).fetchall()

    assert outcomes == ["repeats", "replaces", "replaces", "new"]
    assert later == [("gone",)]
    assert team.state(oslo) is not None


def test_what_can_no_longer_be_stored_is_refused_in_the_plan_and_when_it_is_accepted(
    team: Reviewed,
) -> None:
    ended = team.propose("Ada", "is away", valid_until=team.now() + timedelta(days=1))
    team.sql.execute("update proposal set valid_until = now() where id = %s", (ended,))
    rita = team.credential("rita", "read", "write", "review")
    plan: LiteralString = "select outcome, fault from plan_decision(%s, credential => %s)"
    before = team.contents()

    assert team.sql.execute(plan, ([ended], rita)).fetchone() == ("refused", "ended")
    assert refuse(team, DECIDE, [ended], "accept", None, rita) == "TR008"
    assert team.contents() == before


def test_decisions_are_made_all_or_none(team: Reviewed) -> None:
    team.remember("ben", "Ada", "lives in Oslo")
    first = team.propose("Ada", "lives in Riga", replaces="lives in Oslo")
    second = team.propose("Ada", "lives in Rome", replaces="lives in Oslo")
    rita = team.credential("rita", "read", "write", "review")
    before = team.contents()

    assert refuse(team, DECIDE, [first, second], "accept", None, rita) == "TR008"
    assert refuse(team, DECIDE, [first, "00000000"], "accept", None, rita) == "TR016"
    assert refuse(team, DECIDE, [first], "reject", " ", rita) == "TR017"
    assert refuse(team, DECIDE, [first], "maybe", None, rita) == "TR017"
    assert team.contents() == before
    team.accept(first)
    assert refuse(team, DECIDE, [first], "accept", None, rita) == "TR016"


def test_who_does_not_read_and_review_decides_nothing(team: Reviewed) -> None:
    proposal = team.propose("Ada", "likes tea")
    plan: LiteralString = "select plan_decision(%s, credential => %s)"
    few = [("read", "propose"), ("read", "write", "propose"), ("review",), ("write", "review"),
           ("admin",)]  # fmt: skip
    for number, scopes in enumerate(few):
        caller = team.credential(f"eve{number}", *scopes)
        before = team.contents()

        for decision in ("accept", "reject"):
            assert refuse(team, DECIDE, [proposal], decision, "no", caller) == "TR011"
        assert refuse(team, plan, [proposal], caller) == "TR011"
        assert team.contents() == before


def test_who_reviews_without_write_can_only_reject(team: Reviewed) -> None:
    proposal = team.propose("Ada", "likes tea")
    reader = team.credential("rex", "read", "review")

    assert refuse(team, DECIDE, [proposal], "accept", None, reader) == "TR011"
    assert (
        team.fetch(
            "select state from decide_proposals(%s, 'reject', 'no', credential => %s)",
            [proposal],
            reader,
        )
        == "rejected"
    )


def test_a_reviewer_sees_all_proposals_and_others_only_their_own(team: Reviewed) -> None:
    team.propose("Ada", "likes tea")
    team.propose("Ada", "swims", author="other")

    def see(*scopes: str) -> list[str]:
        own = team.credential("agent", *scopes)
        return [row["content"] for row in team.list(credential=own)]

    assert [row["content"] for row in team.list()] == ["likes tea", "swims"]
    assert see("read", "propose") == see("propose") == see("read") == ["likes tea"]
    reviewer = team.credential("agent", "review")
    assert refuse(team, "select list_proposals(credential => %s)", reviewer) == "TR011"
    stranger = team.credential("eve", "read", "write", "forget", "admin")
    assert team.list(credential=stranger) == []

    # What Rita proposes in a space that she does not review waits for somebody else.
    Reviewed(team.sql, "side").propose("Bo", "sings", author="rita")
    rita = team.credential("rita", "read", "write", "review")
    assert len(team.list()) == 3
    waiting: LiteralString = "select count_waiting(credential => %s)"
    assert [team.fetch(waiting, who) for who in (rita, reviewer, stranger)] == [2, 0, 0]


def test_a_list_is_filtered_by_author_entity_and_time_and_has_pages(team: Reviewed) -> None:
    team.propose("Ada", "likes tea")
    later = team.now()
    team.propose("Bo", "swims", author="other")
    team.propose("Bo", "sings")
    rita = team.credential("rita", "read", "write", "review")

    def find(condition: LiteralString, *values: object) -> list[tuple[str, int]]:
        query = "select content, total from list_proposals(" + condition + ", credential => %s)"  # noqa: S608
        return team.sql.execute(query, (*values, rita)).fetchall()

    assert find("author => %s", "other") == [("swims", 1)]
    assert find("entity => %s", "BO") == [("swims", 2), ("sings", 2)]
    assert find("since => %s", later) == [("swims", 2), ("sings", 2)]
    assert find("max_rows => 1, skip => %s", 1) == [("swims", 3)]


def test_an_undo_of_the_reviewer_removes_the_fact_and_the_proposal_is_pending_again(
    team: Reviewed,
) -> None:
    team.remember("ben", "Ada", "lives in Oslo")
    ids = [
        team.propose("Ada", "lives in Riga", replaces="lives in Oslo"),
        team.propose("Bo", "swims"),
        team.connect("Bo", "knows", "Cy"),
        team.propose("Ada", "lives in Oslo", author="other"),
    ]
    bad = team.propose("Ada", "flies")
    since, before = team.now(), team.contents()
    team.accept(*ids[:2])
    team.accept(*ids[2:])
    team.decide("reject", bad, reason="no")
    after = team.contents()

    plan = team.plan("rita", since)
    undone = team.undo("rita", since)

    assert {row["kind"] for row in plan if row["action"] == "reset"} == {"proposal"}
    assert team.contents() == before
    assert team.undo_if_any("rita", since) is None
    team.revert(undone["undo_id"])
    assert team.contents() == after
    assert {row["reason"] for row in team.list("rejected")} == {"no"}


def test_an_undo_of_the_author_withdraws_what_is_pending_and_keeps_what_was_decided(
    team: Reviewed,
) -> None:
    since = team.now()
    accepted = team.propose("Ada", "likes tea")
    team.accept(accepted)
    team.propose("Ada", "swims")
    rejected = team.propose("Ada", "flies")
    team.decide("reject", rejected, reason="no")
    after = team.contents()

    rows, plan = team.rows(), team.plan("agent", since)
    undone = team.undo("agent", since)

    assert team.rows() == rows
    assert team.states() == {"likes tea": "accepted", "swims": "withdrawn", "flies": "rejected"}
    kept = [row["later_author"] for row in plan if row["action"] == "kept"]
    assert kept == ["rita", "rita"]
    team.revert(undone["undo_id"])
    assert team.contents() == after


def test_an_undo_of_what_an_author_wrote_since_the_proposal_keeps_what_was_accepted(
    team: Reviewed,
) -> None:
    proposal = team.propose("Ada", "likes tea")
    since = team.now()
    team.accept(proposal)
    before = team.contents()

    assert team.undo_if_any("agent", since) is None
    assert team.contents() == before


def test_two_undos_about_one_proposal_are_reverted_from_the_last_to_the_first(
    team: Reviewed,
) -> None:
    since = team.now()
    team.accept(team.propose("Ada", "likes tea"))
    after = team.contents()
    undos = [team.undo(author, since)["undo_id"] for author in ("rita", "agent")]

    assert team.rows() == {}
    assert refuse(team, "select * from revert_undo(%s)", undos[0]) == "TR032"
    team.revert(undos[1])
    team.revert(undos[0])
    assert team.contents() == after


def test_a_reviewer_who_writes_as_well_is_undone_as_a_whole(team: Reviewed) -> None:
    since, before = team.now(), team.rows()
    proposal = team.propose("Ada", "likes tea")
    team.accept(proposal)
    rita = team.credential("rita", "read", "write", "review")
    team.sql.execute(
        "select remember_fact('Ada', 'person', 'likes tea', credential => %s)", (rita,)
    )

    team.undo("rita", since)

    assert team.rows() == before
    assert team.states() == {"likes tea": "pending"}


def test_a_text_that_was_proposed_again_meanwhile_stays_pending_once(team: Reviewed) -> None:
    since = team.now()
    team.decide("reject", team.propose("Ada", "likes tea"), reason="no")
    team.propose("Ada", "likes tea")

    undone = team.undo("rita", since)

    assert sorted(row["state"] for row in team.list()) == ["pending", "withdrawn"]
    team.revert(undone["undo_id"])
    assert sorted(row["state"] for row in team.list()) == ["pending", "rejected"]


def test_a_proposal_expires_when_its_space_says_so(team: Reviewed) -> None:
    old = team.propose("Ada", "likes tea")
    team.propose("Ada", "swims")
    team.sql.execute(
        "update proposal set created_at = now() - interval '8 days' where id = %s", (old,)
    )
    team.sql.execute("select change_review('team', false, 7)")
    rita = team.credential("rita", "read", "write", "review")

    assert list(team.states()) == ["swims"]
    assert refuse(team, DECIDE, [old], "accept", None, rita) == "TR016"
    assert team.fetch("select expire_proposals()") == 1
    assert team.fetch("select count(*) from proposal") == 1
    assert team.fetch("select expire_proposals()") == 0


def test_the_start_of_an_id_never_chooses_an_expired_proposal(team: Reviewed) -> None:
    for text, days in (("likes tea", 8), ("swims", 0)):
        team.sql.execute(
            """update proposal set created_at = now() - make_interval(days => %s),
                   id = ('aaaaaaaa' || right(id::text, -8))::uuid where id = %s""",
            (days, team.propose("Ada", text)),
        )
    team.sql.execute("select change_review('team', false, 7)")

    team.accept("AAAAAAAA", "aaaaaaaa")

    assert team.states() == {"swims": "accepted"}
    assert list(team.valid("Ada")) == ["swims"]


def test_forgetting_an_entity_or_a_fact_forgets_the_proposals_that_repeat_it(
    team: Reviewed,
) -> None:
    [row] = team.accept(team.propose("Ada", "likes tea"))
    team.propose("Ada", "swims")
    team.connect("Bo", "knows", "Ada")

    team.forget("Ada", row["observation_id"])
    assert set(team.states()) == {"swims", "knows Ada"}
    team.remember("ben", "Ada", "sings")
    team.forget("Ada")
    assert team.states() == {}


def test_a_purge_deletes_the_texts_of_decided_proposals(team: Reviewed) -> None:
    team.accept(team.propose("Ada", "likes tea"))
    team.decide("reject", team.propose("Ada", "flies"), reason="no")
    team.propose("Ada", "swims")

    team.sql.execute("select purge_undone()")

    assert team.states() == {"swims": "pending"}
    assert team.fetch("select count(*) from fact") == 1


def test_an_archived_space_and_a_revoked_token_decide_nothing(team: Reviewed) -> None:
    proposal = team.propose("Ada", "likes tea")
    rita = team.credential("rita", "read", "write", "review")
    team.sql.execute("update token set revoked_at = now() where hash = %s", (rita,))

    assert refuse(team, DECIDE, [proposal], "accept", None, rita) == "TR010"
    team.sql.execute("update token set revoked_at = null where hash = %s", (rita,))
    team.sql.execute("update space set archived_at = now() where id = %s", (team.space,))
    assert refuse(team, DECIDE, [proposal], "accept", None, rita) == "TR011"


def test_an_author_finds_their_own_pending_proposals_and_nobody_else_does(
    team: Reviewed,
) -> None:
    team.propose("Ada", "likes green tea")
    team.propose("Ada", "likes black tea", author="other")
    search: LiteralString = "select content from search_proposals('green tea', credential => %s)"
    show: LiteralString = "select content from entity_proposals('ada', credential => %s)"

    def find(*scopes: str) -> list[list[tuple[str]]]:
        agent = team.credential("agent", *scopes)
        return [team.sql.execute(query, (agent,)).fetchall() for query in (search, show)]

    assert find("read", "propose") == [[("likes green tea",)], [("likes green tea",)]]
    assert find("read") == find("read", "write") == [[], []]
    assert find("propose", "write") == [[], []]


def test_ids_of_facts_are_not_ids_of_proposals(team: Reviewed) -> None:
    fact = team.remember("ben", "Ada", "likes tea")
    rita = team.credential("rita", "read", "write", "review")
    assert isinstance(fact.id, UUID)
    assert refuse(team, DECIDE, [str(fact.id)], "accept", None, rita) == "TR016"
