create function textrawl.unanswered_queries(bar double precision default 0.5)
returns table (
    space text, query text, query_hash text, times bigint, score real, hits integer, first_at timestamptz, last_at timestamptz
)
language sql stable rows 100
begin atomic
    select s.name, asked.query, asked.query_hash, asked.times, asked.last[3]::real, asked.last[4]::integer, asked.first_at, asked.last_at
    from (
        select r.space_id, r.query_hash, max(r.query) as query, count(*) as times, min(r.at) as first_at, max(r.at) as last_at,
               -- The largest of these arrays is the last search. To sort the searches of each query takes three times as long.
               max(array[date_part('epoch', r.at), r.id, r.score, r.hits]) as last
        from textrawl.recall as r
        where r.mode = 'search' and r.query_hash is not null
        group by r.space_id, r.query_hash
    ) as asked
    join textrawl.space as s on s.id = asked.space_id
    where asked.last[3] is null or asked.last[3]::real < bar;
end;

comment on function textrawl.unanswered_queries is
    'Queries whose best fact scored below the bar in their last search. score_bar() says what a score means for the active '
    'model. Example: select query, times, score from textrawl.unanswered_queries(0.7);';
