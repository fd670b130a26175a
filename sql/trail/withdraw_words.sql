create function textrawl.withdraw_words(space integer, observations uuid[]) returns void
language sql volatile
set search_path from current
begin atomic
    -- Words that stand in no other fact are content as well; search would keep them until it counts anew.
    with gone as materialized (
        select word, count(*)::integer as frequency
        from textrawl.observation o, unnest(tsvector_to_array(o.fts)) as word
        where o.space_id = space and o.id = any(observations)
        group by word
    ), locked as materialized (
        -- In one order, so that nobody waits in a circle.
        select l.word, l.frequency - gone.frequency as frequency
        from textrawl.lexeme l join gone on gone.word = l.word and l.space_id = space
        order by l.word for update of l
    ), fewer as (
        update textrawl.lexeme l set frequency = locked.frequency
        from locked where l.space_id = space and locked.word = l.word and locked.frequency > 0
    )
    delete from textrawl.lexeme l using locked where l.space_id = space and locked.word = l.word and locked.frequency <= 0;
end;

comment on function textrawl.withdraw_words is
    'Takes the words of facts that are about to go out of the statistics of search.';
