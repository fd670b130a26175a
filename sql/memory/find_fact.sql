create function textrawl.find_fact(space integer, entity uuid, reference text) returns uuid
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    matches uuid[];
begin
    if is_fact_id(reference) then
        select array_agg(o.id) into matches from (
            select id from fact
            where space_id = space and entity_id = entity and starts_with(id::text, lower(reference))
            limit 2) o;
    end if;
    if matches is null then
        select array_agg(o.id) into matches from (
            select id from fact
            where space_id = space and entity_id = entity
              and content_hash = fact_hash(reference)
            order by is_valid(valid_from, valid_until, closed_at, present => clock_timestamp()) desc, whole is not null,
                content <> reference, created_at desc
            limit 1) o;
    end if;
    if matches is null then
        -- Accept another spelling of the text, if only one valid fact matches it.
        select array_agg(o.id) filter (where o.rank = 1 or o.valid) into matches from (
            select f.id, f.valid, row_number() over (order by f.valid desc, f.created_at desc) as rank
            from (select *, is_valid(valid_from, valid_until, closed_at, present => clock_timestamp()) as valid from fact
                  where space_id = space and entity_id = entity and spelling_key(content) = spelling_key(reference)) f
            order by rank limit 2) o;
    end if;
    if cardinality(matches) > 1 then
        raise exception using errcode = 'TR002', message = 'more than one fact has an id that begins like this';
    elsif matches is null then
        raise exception using errcode = 'TR001', message = 'no such fact';
    end if;
    return matches[1];
end
$$;

comment on function textrawl.find_fact is
    'Find a fact of an entity by its id, by the first 8 or more characters of its id, or by its text. Errors: '
    'TR001 (no such fact), TR002 (more than one fact).';
