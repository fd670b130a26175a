-- These functions read only their arguments.
grant execute on function textrawl.disagreeing_texts to textrawl_app;

grant execute on function textrawl.conflicting_facts, textrawl.disagreement, textrawl.disagreeing_texts, textrawl.read_claim, textrawl.claim_words to textrawl_analyst;
