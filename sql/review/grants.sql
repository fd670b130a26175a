-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.list_proposals, textrawl.plan_decision, textrawl.decide_proposals, textrawl.amend_proposal, textrawl.change_review,
    textrawl.search_proposals, textrawl.entity_proposals, textrawl.count_waiting
    to textrawl_app;

-- Servers call this function for upkeep, without a credential.
grant execute on function textrawl.expire_proposals to textrawl_app;

grant execute on function textrawl.list_proposals, textrawl.rate_proposals, textrawl.reviewed_spaces, textrawl.session_reviews, textrawl.is_pending,
    textrawl.proposal_text
    to textrawl_analyst;

-- Row-level security shows a login only the proposals of the spaces that its actor reviews.
grant select on textrawl.proposal to textrawl_analyst;
