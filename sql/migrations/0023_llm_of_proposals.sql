-- The LLM that found a proposal, by which the acceptance of proposals is counted.

alter table proposal add column llm text check (char_length(llm) between 1 and 200);
comment on column proposal.llm is 'Provider and model of the LLM that found the proposal in a text. Null: somebody proposed it.';
