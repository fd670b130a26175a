create function textrawl.value_copies(told uuid[], origin textrawl.origin) returns uuid[]
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    space integer := origin.space_id;
    found uuid[];
begin
    select array_agg(distinct f.id) into found
    from observation n
    join observation o on o.space_id = space and o.replaced_by = n.id and o.claim is not null
    join entity e on e.space_id = space and e.id = o.entity_id
    cross join lateral (
        -- The value is what the new fact does not say any more, and a number has a noun before it: port 22.
        select array_agg(ltrim(split_part(item, '~', -1), '#%')) filter (where gone) as gone,
            min(noun) filter (where gone and item like '#%' and noun !~ '^[#%]') as noun
        from (select item, not n.claim -> 'items' ? item as gone, lag(item) over (order by place) as noun
              from jsonb_array_elements_text(o.claim -> 'items') with ordinality i (item, place)) i) value
    cross join lateral (
        select f.id from local_facts() f
        where cardinality(value.gone) between 1 and 4 and f.fts @@ words_query(space, array_to_string(value.gone, ' ')) and f.space_id = space
          and f.id not in (n.id, o.id) and is_valid(f.valid_from, f.valid_until, f.closed_at, present => clock_timestamp())
          and (f.fts @@ words_query(space, e.name) or f.fts @@ words_query(space, value.noun))
        order by f.ordinal desc limit 5) f
    where n.space_id = space and n.id = any(told) and n.claim is not null;
    return found;
end
$$;

comment on function textrawl.value_copies is
    'The other valid facts that still have the value of a fact that a new fact has replaced, and the name of its entity or '
    'the noun before a number (port 22, in the fact of the firewall): at most five of each replaced fact.';
