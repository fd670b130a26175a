create function textrawl.import_relations(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,    -- id of the relation in this memory
    outcome text    -- added, known (by id, or an equal valid relation exists), another (another relation, or a fact,
                    -- has this id),
                    -- homeless (an entity is missing), undone (an undo keeps the relation) or reviewed (as of import_facts)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    present uuid[] := array(
        select r.id from jsonb_to_recordset(lines) g(space integer, id uuid) join relation r on r.space_id = g.space and r.id = g.id);
begin
    perform require_owner();
    perform register_actors(array(select g.author from jsonb_to_recordset(lines) g(author text)));
    -- Lock the entities in the order of names, like every writer.
    perform from entity e
    where (e.space_id, e.id) in (
        select g.space, unnest(array[g.from_entity, g.to_entity])
        from jsonb_to_recordset(lines) g(space integer, from_entity uuid, to_entity uuid))
    order by e.space_id, e.name_key for no key update;
    return query
    with input as materialized (
        select g.*, relation_key(g.relation) as key, a.id as author_id, g.valid_until is null as live,
            exists (select from entity e where e.space_id = g.space and e.id = g.from_entity)
            and exists (select from entity e where e.space_id = g.space and e.id = g.to_entity) as housed
        from jsonb_to_recordset(lines) g(
            place integer, space integer, id uuid, from_entity uuid, relation text, label text, to_entity uuid, strength real,
            valid_from timestamptz, valid_until timestamptz, closed_at timestamptz, author text, client text, tool text, request text,
            created_at timestamptz, origin text)
        join actor a on a.name = g.author
    ), matched as materialized (
        select g.*, same.id is not null
                or exists (select from fact o where o.space_id = g.space and o.id = g.id) as exists_here,
            (same.from_entity, same.relation_type, same.to_entity) is not distinct from (g.from_entity, g.key, g.to_entity) as theirs,
            duplicate.id as duplicate, row_number() over (partition by g.space, g.id order by g.place) as turn,
            exists (select from undone d where d.space_id = g.space and d.id = g.id and d.action = 'remove') as undone
        from input g
        left join relation same on same.space_id = g.space and same.id = g.id
        left join relation duplicate on g.live and duplicate.space_id = g.space and duplicate.valid_until is null
            and (duplicate.from_entity, duplicate.relation_type, duplicate.to_entity) = (g.from_entity, g.key, g.to_entity)
    ), decided as materialized (
        select s.*,
            case
                when not s.housed then 'homeless'
                when s.exists_here and not s.theirs then 'another'
                when s.exists_here or s.turn > 1 then 'known'
                when s.undone then 'undone'
                when s.duplicate is not null then 'known'
                when find_origin(s.origin, s.tool, s.client, null) = 'external'
                    and exists (select from space where space.id = s.space and external_reviewed) then 'reviewed'
                else 'added'
            end as outcome
        from matched s
    ), deduplicated as materialized (
        select j.*,
            case when j.outcome = 'added' and j.live
                then first_value(j.id) over (
                    partition by j.space, j.from_entity, j.key, j.to_entity, j.live, j.outcome order by j.place)
                else j.id end as first
        from decided j
    ), inserted as (
        -- Do not call store_relations() here, because these rows already have authors, times and ends.
        insert into relation (space_id, id, from_entity, relation_type, label, to_entity, strength, valid_from, valid_until,
                              closed_at, author_id, client, tool, request, created_at)
        select s.space, s.id, s.from_entity, s.key, nullif(s.label, s.key), s.to_entity, s.strength,
            s.valid_from, s.valid_until, coalesce(s.closed_at, past_end(s.valid_until)),
            s.author_id, s.client, s.tool, s.request, s.created_at
        from deduplicated s where s.outcome = 'added' and s.first = s.id
        returning space_id, from_entity, to_entity, created_at
    ), touched as (
        update entity e set updated_at = latest.at
        from (select ends.space_id, ends.id, max(ends.at) as at
              from (select m.space_id, m.from_entity as id, m.created_at as at from inserted m
                    union all select m.space_id, m.to_entity, m.created_at from inserted m) ends
              group by 1, 2) latest
        where e.space_id = latest.space_id and e.id = latest.id and e.updated_at < latest.at
    )
    select s.place, coalesce(s.duplicate, s.first), case when s.first <> s.id then 'known' else s.outcome end
    from deduplicated s;
    -- A trigger has stated the relations.
    update observation o set origin = g.origin
    from jsonb_to_recordset(lines) g(space integer, id uuid, origin text)
    where o.space_id = g.space and o.id = g.id and o.relation_id = g.id and o.id <> all(present) and g.origin <> o.origin;
end
$$;

comment on function textrawl.import_relations is
    'Import the relations of an export. Error TR013: not the owner.';
