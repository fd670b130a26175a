create function textrawl.long_observations(space integer, entities uuid[])
returns table (
    entity_id uuid,
    whole uuid,    -- md5 of the original text
    content text,  -- text of the valid parts, joined
    facts uuid[]   -- ids of all parts
)
language sql stable
begin atomic
    select o.entity_id, o.whole,
        string_agg(o.content, '' order by o.part) filter (where textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)),
        array_agg(o.id order by o.part)
    from textrawl.fact o
    where o.space_id = space and o.entity_id = any(entities) and o.whole is not null
    group by o.entity_id, o.whole;
end;

comment on function textrawl.long_observations is
    'The long observations of entities. A long observation is stored as several parts.';
