-- Findings: proposals of `textrawl tidy`, which merge two entities, end a fact, or relate entities that a fact names.

alter table proposal drop constraint proposal_kind_check, drop constraint proposal_check;
alter table proposal add constraint proposal_kind_check check (kind in ('fact', 'relation', 'merge', 'end'));
alter table proposal add constraint proposal_check check ((kind <> 'relation') = (content is not null));
alter table proposal
    add column finding text check (finding in ('name', 'same', 'disagreement', 'double', 'question', 'expired', 'relation', 'stale')),
    add column one uuid,
    add column other uuid;
alter table proposal add constraint proposal_found_check check (
    (finding is null) = (one is null) and (kind in ('fact', 'relation') or finding is not null));
comment on column proposal.kind is 'fact or relation: it is stored. merge: two entities become one. end: a fact ends.';
comment on column proposal.content is 'Text of the fact, or of the fact that ends, or that two entities are one. Null: the proposal is a relation.';
comment on column proposal.evidence is 'Why it is proposed: the sentence of a text in which an LLM found it, or the reason of a finding. Null: somebody proposed it.';
comment on column proposal.finding is 'What tidy_memory() found. name, same: two entities are one. disagreement, double, question, expired, stale: a fact should end. relation: a fact states it. Null: somebody proposed it.';
comment on column proposal.one is 'The entity that stays, or the fact that ends or that states the relation. Null: no finding.';
comment on column proposal.other is 'The entity that is merged, the fact that stays in place of the other one, or the entity that the relation leads to. Null: none.';
-- The same is found once, also if it was decided.
create unique index proposal_finding_idx on proposal (space_id, finding, least(one, other), greatest(one, other)) where finding is not null;
create index proposal_one_idx on proposal (space_id, one) where one is not null;
create index proposal_other_idx on proposal (space_id, other) where other is not null;
