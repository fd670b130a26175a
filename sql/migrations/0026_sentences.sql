-- The sentence of a text from which an LLM took a fact, and its place in that text.

alter table observation
    add column evidence text check (char_length(evidence) between 1 and 2000),
    add column evidence_start integer check (evidence_start >= 0);
comment on column observation.evidence is 'The sentence of a text from which an LLM took the fact. Null: somebody stated it.';
comment on column observation.evidence_start is 'The place of the first character of the sentence in its text, from 0. Null: not known.';
alter table proposal add column evidence_start integer check (evidence_start >= 0);
comment on column proposal.evidence_start is 'The place of the first character of the sentence in its text, from 0. Null: not known.';
alter type new_fact add attribute evidence text, add attribute evidence_start integer;
comment on column new_fact.evidence is 'The sentence of a text from which an LLM took the fact. Null: somebody stated it.';
comment on column new_fact.evidence_start is 'The place of the first character of the sentence in its text, from 0. Null: not known.';
