create function textrawl.ended_candidates(space integer, told uuid)
returns table (id uuid, other boolean, names text[])
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    fresh  record;
    spoken regconfig := space_language(space);
begin
    select o.*, e.name into fresh from observation o join entity e on e.space_id = o.space_id and e.id = o.entity_id
    where o.space_id = space and o.id = told;
    return query
    select f.id, false, '{}'::text[] from (
        select f.id, f.claim, f.ordinal, f.valid_from, f.valid_until, f.closed_at from fact f
        where f.space_id = space and f.entity_id = fresh.entity_id and f.ordinal < fresh.ordinal
          and is_valid(f.valid_from, f.valid_until, f.closed_at, present => clock_timestamp())
        order by f.ordinal desc limit 300) f
    where f.claim is not null;
    if not fresh.claim -> 'ends' ? 'sure' then
        return;
    end if;
    -- Facts of an entity that the text names: Kim brought the ladder back.
    return query
    select f.id, true, name_stems(e.name, spoken::text)
    from entity e cross join lateral (
        select * from fact f
        where f.space_id = space and f.entity_id = e.id and f.claim is not null
          and is_valid(f.valid_from, f.valid_until, f.closed_at, present => clock_timestamp())
        order by f.ordinal desc limit 300) f
    where e.space_id = space and e.id <> fresh.entity_id and e.name_key = any(array(
        select name_key(word[1]) from regexp_matches(fresh.content, '\m([[:upper:]]\w+)', 'g') word));
    -- What was lent to this entity, by the facts of others.
    return query
    select f.id, true, name_stems(e.name, spoken::text)
    from fact f join entity e on e.space_id = f.space_id and e.id = f.entity_id
    where f.fts @@ words_query(space, fresh.name || ' ' || (
            select string_agg(word, ' ') from jsonb_array_elements_text(fresh.claim #> '{ends,what}') word))
      and f.space_id = space and f.entity_id <> fresh.entity_id and f.claim -> 'ends' ? 'lent'
      and f.content ~* ('\m' || regexp_replace(fresh.name, '\W', '.', 'g') || '\M')
      and is_valid(f.valid_from, f.valid_until, f.closed_at, present => clock_timestamp())
    limit 10;
end
$$;

comment on function textrawl.ended_candidates is
    'The valid facts that a new fact could end: those of its entity, those of an entity that its text names, and what '
    'others lent to its entity. `other`: of another entity, with the stems of its name.';
