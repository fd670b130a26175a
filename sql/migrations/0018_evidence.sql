-- The sentence that a proposal was taken from.

alter table proposal add column evidence text check (char_length(evidence) between 1 and 2000);
comment on column proposal.evidence is 'The sentence of a text that says it, if an LLM found the proposal in that text. Null: somebody proposed it.';
