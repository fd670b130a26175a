create function textrawl.supersede_items(lines jsonb, run uuid) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    line      record;
    origin    origin;
    changed   boolean;
    until     timestamptz;
begin
    -- Lock the entities in the order of names, like every writer.
    perform from entity e
    where (e.space_id, e.id) in (
        select o.space_id, o.entity_id
        from jsonb_to_recordset(lines) g(space integer, former uuid, successor uuid)
        join observation o on o.space_id = g.space and o.id in (g.former, g.successor)
        union
        select r.space_id, r.to_entity from jsonb_to_recordset(lines) g(space integer, former uuid)
        join relation r on r.space_id = g.space and r.id = g.former)
    order by e.space_id, e.name_key for no key update;
    for line in
        select g.*, n.valid_from as begins, n.entity_id, o.relation_id is not null as relates
        from jsonb_to_recordset(lines) g(space integer, former uuid, successor uuid, until timestamptz, source text, item jsonb)
        join observation o on o.space_id = g.space and o.id = g.former
        join observation n on n.space_id = g.space and n.id = g.successor and n.id <> o.id
        where is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
          -- Another item can have got the text that this one had.
          and not exists (select from imported_item i where i.space_id = g.space and g.former in (i.observation_id, i.relation_id)
                            and i.source_id is distinct from g.source)
        order by g.former
    loop
        origin := (select row(r.space_id, r.author_id, null, 'import', 'import ' || r.id, false)::origin
                   from import_run r where r.space_id = line.space and r.id = supersede_items.run);
        if line.relates then
            perform end_relations(array[line.former], clock_timestamp(), origin, line.until);
        else
            select r.changed, r.valid_until into changed, until
            from replace_fact(line.space, line.former, line.successor, line.begins, clock_timestamp()) r;
            perform record_event('replaced', line.entity_id, line.successor, null, origin,
                jsonb_build_object('replaced', line.former, 'until', until, 'new', false)
                    || case when line.item ? 'run' then jsonb_build_object('former', line.item) else '{}' end);
        end if;
    end loop;
end
$$;

comment on function textrawl.supersede_items is
    'Replace facts, and end relations, whose items have changed in their system: [{space, former, successor, until, source}]. '
    'source: the item of the former one if another item replaces it.';
