create function textrawl.find_fact(space integer, entity uuid, reference text) returns uuid
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    matches uuid[];
begin
    -- An id or its first characters. The text of a fact is unlikely to look like one.
    if reference ~* '^[0-9a-f]{8}[0-9a-f-]{0,28}$' then
        select array_agg(o.id) into matches from (
            select id from observation
            where space_id = space and entity_id = entity and starts_with(id::text, lower(reference))
            limit 2) o;
    end if;
    if matches is null then
        select array_agg(o.id) into matches from (
            select id from observation
            where space_id = space and entity_id = entity
              and content_hash = md5(fact_key(reference))::uuid
            order by valid_until is not null, whole is not null, content <> reference, created_at desc
            limit 1) o;
    end if;
    if cardinality(matches) > 1 then
        raise exception using errcode = 'TR002', message = 'ambiguous fact';
    elsif matches is null then
        raise exception using errcode = 'TR001', message = 'no such fact';
    end if;
    return matches[1];
end
$$;

comment on function textrawl.find_fact is
    'Find a fact of an entity by its id, the first 8 or more characters of its id, or its exact text. Errors: TR001 (none), '
    'TR002 (more than one).';
