-- These functions read only their arguments.
grant execute on function
    textrawl.english_claims, textrawl.german_claims, textrawl.french_claims, textrawl.spanish_claims, textrawl.portuguese_claims,
    textrawl.italian_claims, textrawl.claim_lists, textrawl.claim_words, textrawl.claim_languages, textrawl.claim_marks, textrawl.read_ending, textrawl.sole_topic, textrawl.sole_words,
    textrawl.read_claim, textrawl.make_claim, textrawl.claim_parts, textrawl.disagreement, textrawl.compare_claims, textrawl.disagreeing_texts,
    textrawl.state_kind
    to textrawl_app, textrawl_analyst;

grant execute on function textrawl.conflicting_facts, textrawl.is_outlived to textrawl_analyst;
