-- Proposals of pins: an agent proposes that a fact is pinned, and a person pins it.

alter table proposal drop constraint proposal_kind_check, add constraint proposal_kind_check
    check (kind in ('fact', 'relation', 'merge', 'end', 'pin'));
alter table proposal drop constraint proposal_finding_check, add constraint proposal_finding_check
    check (finding in ('name', 'same', 'disagreement', 'double', 'question', 'expired', 'relation', 'stale', 'anchor', 'pin'));
comment on column proposal.kind is 'fact or relation: it is stored. merge: two entities become one. end: a fact ends. pin: a fact is pinned.';
comment on column proposal.content is 'Text of the fact, or of the fact that ends or is pinned, or that two entities are one. Null: the proposal is a relation.';
comment on column proposal.evidence is 'Why it is proposed: the sentence of a text in which an LLM found it, or the reason of a finding or a pin. Null: somebody proposed it.';
comment on column proposal.finding is 'What tidy_memory() found. name, same: two entities are one. disagreement, double, question, expired, stale, anchor: a fact should end. relation: a fact states it. pin: an agent proposed to pin it. Null: somebody proposed it.';
comment on column proposal.one is 'The entity that stays, or the fact that ends, is pinned or states the relation. Null: no finding.';

comment on column observation.anchors is
    'What the fact speaks of: files of its repository, such as src/parse.py:40-52 with a hash of these lines, and URLs. Or "document", the id and the version of the document that has its evidence. Null: nothing named.';
