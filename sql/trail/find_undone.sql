create function textrawl.find_undone(space integer, name text, fact text default null, hash uuid default null)
returns table (kind text, id uuid, entity_id uuid, entity_name text)
language sql stable
begin atomic
    select d.kind, d.id, (kept_entity.value ->> 'id')::uuid, kept_entity.value ->> 'name'
    from textrawl.undone d
    left join lateral (
        select kept.value from jsonb_array_elements(d.entities) kept
        where kept.value ->> 'name_key' = any(textrawl.entity_keys(space, name))) kept_entity on true
    where d.space_id = space and d.names && textrawl.entity_keys(space, name)
      and (fact is null and hash is null
           or d.kind = 'observation' and (
               textrawl.is_fact_id(fact) and starts_with(d.id::text, lower(fact))
               or d.before ->> 'content_hash' in (hash::text, textrawl.fact_hash(fact)::text)));
end;

comment on function textrawl.find_undone is
    'The rows that undos keep about an entity or about one of its facts. The fact is given by its id, the first 8 or '
    'more characters of its id, its text, or the hash of its text.';
