create function textrawl.matching_items(wanted tsquery, space integer, prefix text[], filter jsonb, candidates integer)
returns table (document_id uuid)
language plpgsql stable rows 50
set search_path from current
as $$
begin
    return query execute format($sql$
        select i.document_id
        from item i
        -- `is true` hides the space from other indexes, which would read the whole space. The subquery is not a join,
        -- because the planner would begin with the namespaces.
        where i.fts @@ $1 and (i.space_id = $2) is true and is_unexpired(i.expires_at)
          and %s
          and ($3 is null or matches_filter(i.fields, $3))
        limit $4$sql$, has_labels(prefix))
    using wanted, space, filter, candidates;
end
$$;

comment on function textrawl.matching_items is
    'Items below a prefix whose words meet a condition, in any order.';
