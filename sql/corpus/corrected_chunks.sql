create function textrawl.corrected_chunks(
    chunks jsonb, part integer, place integer, removed integer, added integer, tokens integer
) returns jsonb
language sql immutable parallel safe
set search_path from current
begin atomic
    select jsonb_agg(case when (c ->> 0)::integer = part then jsonb_set(c, '{3}', to_jsonb(tokens)) else c end order by rank)
    from jsonb_array_elements(textrawl.replaced_chunks(chunks, place, removed, added, tokens)) with ordinality a (c, rank);
end;

comment on function textrawl.corrected_chunks is
    'The chunks of a source after a range inside chunk `part` was replaced. That chunk has `tokens` tokens now. The sizes of '
    'overlapping chunks grow by as many tokens, which is never too few.';
