create function textrawl.long_observations(space integer, entities uuid[])
returns table (entity_id uuid, whole uuid, content text, facts uuid[])
language sql stable
set search_path from current
begin atomic
    select o.entity_id, o.whole,
        string_agg(o.content, '' order by o.part) filter (where textrawl.is_valid(o.valid_from, o.valid_until)),
        array_agg(o.id order by o.part)
    from textrawl.observation o
    where o.space_id = space and o.entity_id = any(entities) and o.whole is not null
    group by o.entity_id, o.whole;
end;

comment on function textrawl.long_observations is
    'The long observations of entities: the md5 of the text as it was given, the text of the parts that are valid as the graph tools show it, and the ids of all parts.';
