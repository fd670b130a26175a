create function textrawl.omit_weights(weights double precision[], mask integer) returns double precision[]
language sql immutable strict parallel safe
begin atomic
    select coalesce(array_agg(kept / coalesce(nullif(total, 0), 1) order by place), '{}')
    from (select place, kept, sum(kept) over () as total
          from (select place, case when mask & (1 << (place - 1)::integer) = 0 then weight else 0 end as kept
                from unnest(weights) with ordinality listed (weight, place)) left_over) added;
end;

comment on function textrawl.omit_weights is
    'The weights of a query''s words, with 0 for words in a bit mask of matched_terms(). The others add up to 1. '
    'Example: select textrawl.omit_weights(array[0.5, 0.3, 0.2], 1);';
