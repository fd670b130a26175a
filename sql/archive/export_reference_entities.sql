create function textrawl.export_reference_entities(space integer)
returns table (
    type text, name text, "entityType" text, observations text[],
    "saidAt" timestamptz[]  -- when each observation was said; the reference memory server does not read it
)
language sql stable
begin atomic
    select 'entity'::text, e.name, textrawl.free_type(e.entity_type, e.metadata), textrawl.list_observations(e.space_id, e.id, everywhere => true),
        array(
            -- In the order of list_observations().
            select min(o.said_at) from textrawl.fact o
            where o.space_id = e.space_id and o.entity_id = e.id and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
            group by coalesce(o.whole, o.id) order by min(o.created_at), coalesce(o.whole, o.id))
    from textrawl.entity e
    where e.space_id = export_reference_entities.space
    order by e.space_id, e.created_at, e.id;
end;

comment on function textrawl.export_reference_entities is
    'Entities of a space with their valid facts, as lines in the file format of the reference memory server. '
    'Example: select row_to_json(n) from textrawl.export_reference_entities(1) n;';
