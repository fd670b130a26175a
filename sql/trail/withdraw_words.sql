create function textrawl.withdraw_words(space integer, observations uuid[]) returns void
language sql volatile
begin atomic
    -- A word that occurs in no other fact reveals content of the deleted facts. Without this function, the word would
    -- stay in the statistics until words are counted again.
    with word_count as materialized (
        select word, count(*)::integer as frequency
        from textrawl.observation o, unnest(tsvector_to_array(o.fts)) as word
        where o.space_id = space and o.id = any(observations)
        group by word
    ), locked as materialized (
        -- Lock in one order, so that no deadlock can occur.
        select l.word, l.frequency - word_count.frequency as frequency
        from textrawl.lexeme l join word_count on word_count.word = l.word and l.space_id = space
        order by l.word for update of l
    ), fewer as (
        update textrawl.lexeme l set frequency = locked.frequency
        from locked where l.space_id = space and locked.word = l.word and locked.frequency > 0
    )
    delete from textrawl.lexeme l using locked where l.space_id = space and locked.word = l.word and locked.frequency <= 0;
end;

comment on function textrawl.withdraw_words is
    'Subtract the words of facts that will be deleted from the search statistics.';
