create function textrawl.matching_items(wanted tsquery, space integer, prefix text[], filter jsonb, candidates integer)
returns table (document_id uuid)
language sql stable rows 50
begin atomic
    select i.document_id
    from textrawl.item i join textrawl.item_namespace n on n.space_id = i.space_id and n.id = i.namespace_id
    -- `is true` hides the space from other indexes, which would read the whole space.
    where i.fts @@ wanted and (i.space_id = matching_items.space) is true and textrawl.is_unexpired(i.expires_at)
      and n.labels >= prefix and n.labels < textrawl.namespace_end(prefix) and n.labels[:cardinality(prefix)] = prefix
      and (filter is null or textrawl.matches_filter(i.fields, filter))
    limit candidates;
end;

comment on function textrawl.matching_items is
    'Items below a prefix whose words meet a condition, in any order.';
