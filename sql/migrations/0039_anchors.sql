-- What a fact speaks of: lines of a file of its repository, a whole file, or an address.

alter table observation add column anchors text[] check (cardinality(anchors) between 1 and 4);
comment on column observation.anchors is
    'What the fact speaks of: files of its repository, such as src/parse.py:40-52 with a hash of these lines, and URLs. Null: nothing named.';
alter table proposal add column anchors text[] check (cardinality(anchors) between 1 and 4);
comment on column proposal.anchors is 'Anchors of the proposed fact, as in observation. Null: none.';
alter type new_fact add attribute anchors text[];
comment on column new_fact.anchors is 'What the fact speaks of, as in observation. Null: nothing named.';

alter table proposal drop constraint proposal_finding_check, add constraint proposal_finding_check
    check (finding in ('name', 'same', 'disagreement', 'double', 'question', 'expired', 'relation', 'stale', 'anchor'));
comment on column proposal.finding is 'What tidy_memory() found. name, same: two entities are one. disagreement, double, question, expired, stale, anchor: a fact should end. relation: a fact states it. Null: somebody proposed it.';
