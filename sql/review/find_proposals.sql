create function textrawl.find_proposals(proposals text[], spaces integer[])
returns table (space_id integer, id uuid)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    chosen  uuid[];
    unclear text[];
begin
    with matched as (
        select g.item_number, g.reference, array_agg(p.id) filter (where p.id is not null) as ids
        from unnest(proposals) with ordinality g (reference, item_number)
        left join (
            select p.id from proposal p join space s on s.id = p.space_id
            where p.space_id = any(spaces) and is_pending(p.decision, p.created_at, s.proposal_days)) p
            -- Comparing the first 8 characters too lets Postgres hash them, so the cost is not ids times proposals.
            on is_fact_id(g.reference) and left(p.id::text, 8) = left(lower(g.reference), 8)
                and starts_with(p.id::text, lower(g.reference))
        group by g.item_number, g.reference
    )
    select array_agg(m.ids[1]),
        array_agg(coalesce(left(m.reference, 60), '') order by m.item_number) filter (where cardinality(m.ids) is distinct from 1)
    into chosen, unclear from matched m;
    if unclear <> '{}' then
        raise exception using errcode = 'TR016', message = 'not the id of one pending proposal', detail = unclear[1];
    end if;
    return query
        select p.space_id, p.id from proposal p
        where p.space_id = any(spaces) and p.id = any(chosen)
        order by p.space_id, p.created_at, p.id;
end
$$;

comment on function textrawl.find_proposals is
    'The pending proposals with these ids, or with the first 8 or more characters of their ids, oldest first. Error '
    'TR016: an id names no pending proposal of these spaces, or several; the detail is the id.';
