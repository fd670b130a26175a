create function textrawl.similar_to(fact text, max_rows integer default 10, spaces integer[] default null, credential bytea default null)
returns table (
    observation_id uuid, space text, entity_name text, content text, author text, created_at timestamptz, score real, cosine real
)
language plpgsql stable security definer rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    scoped       integer[] := readable_spaces(credential, spaces);
    model        integer := active_model();
    original     observation;
    found_vector halfvec;
begin
    if is_fact_id(fact) then
        -- The first characters of an id give a range of ids. The index of the primary key can find a range.
        select * into original from fact o
        where o.space_id = any(scoped)
          and o.id between rpad(replace(fact, '-', ''), 32, '0')::uuid and rpad(replace(fact, '-', ''), 32, 'f')::uuid
        order by o.id limit 1;
    end if;
    if original.id is null then
        select o.* into original
        from search_memory(fact, scoped, max_rows => 50, credential => credential) hit
        join fact o on o.space_id = hit.space_id and o.id = hit.observation_id
        where o.content_hash = fact_hash(fact)
        limit 1;
    end if;
    if original.id is null then
        raise exception using errcode = 'TR001', message = 'no such fact', detail = coalesce(left(fact, 200), ''),
            hint = 'Name the fact by its id, the first 8 or more characters of its id, or its exact text.';
    end if;
    found_vector := read_vector(original.space_id, original.id, model);
    return query
        select s.observation_id, s.space, s.entity_name, s.content, s.author, s.created_at, s.score, s.cosine
        from search_memory(
            original.content, scoped, max_rows => 3 * max_rows + 20, model => case when found_vector is not null then model end,
        vector => found_vector, semantic => found_vector is not null, neighbours => false,
        credential => credential) s
        where s.observation_id <> original.id and s.relation_id is null
        limit max_rows;
end
$$;

comment on function textrawl.similar_to is
    'Facts that are similar to a given fact, best first. They are found by meaning if the given fact has a vector, '
    'otherwise by words. Give the fact by its id, the first 8 or more characters of its id, or its exact text. '
    'Errors: TR001 (no such fact), TR010, TR011 (access). '
    'Example: select entity_name, content, score from textrawl.similar_to(''likes tea'');';
