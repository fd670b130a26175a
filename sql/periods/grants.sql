-- These functions read only their arguments.
grant execute on function
    textrawl.period_words, textrawl.spoken_words, textrawl.read_period, textrawl.named_time, textrawl.named_edge,
    textrawl.edge_day, textrawl.time_ago, textrawl.mark_words, textrawl.mark_times, textrawl.question_time
    to textrawl_app, textrawl_analyst;
grant execute on function textrawl.is_searchable to textrawl_analyst;
