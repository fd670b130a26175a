-- These functions read only their arguments.
grant execute on function
    textrawl.english_claims, textrawl.german_claims, textrawl.french_claims, textrawl.spanish_claims, textrawl.claim_words,
    textrawl.read_claim, textrawl.make_claim, textrawl.claim_parts, textrawl.disagreement, textrawl.compare_claims, textrawl.disagreeing_texts
    to textrawl_app, textrawl_analyst;

grant execute on function textrawl.conflicting_facts to textrawl_analyst;
