-- This function takes a credential and does only what the credential allows.
grant execute on function textrawl.memory_report to textrawl_app;

grant execute on function
    textrawl.memory_report, textrawl.similar_to, textrawl.entity_context, textrawl.path_between,
    textrawl.neighbours, textrawl.live_edges, textrawl.as_of, textrawl.memory_diff, textrawl.near_facts,
    textrawl.active_model, textrawl.states_the_same,
    textrawl.unanswered_queries, textrawl.read_rows, textrawl.find_forbidden
    to textrawl_analyst;
