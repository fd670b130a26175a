create function textrawl.import_entities(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,    -- id of the entity in this memory
    outcome text    -- added, known (by id or by name) or another (an entity with another name has this id)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    line record;
    -- The last entity that was added or changed, and its position in the order of names.
    last_space integer;
    last_key   text;
    last_id    uuid;
begin
    perform require_owner();
    -- Handle existing and new entities one by one in the order of names, like every writer.
    for line in
        with input as materialized (
            select g.*, name_key(g.name) as key
            from jsonb_to_recordset(lines) g(
                place integer, space integer, id uuid, name text, entity_type text, type_guessed boolean,
                description text, metadata jsonb,
                created_at timestamptz, updated_at timestamptz)
        ), matched as materialized (
            select g.*, same.name_key as their_key, same_name.id as named,
                row_number() over (partition by g.space, g.id order by g.place) as turn,
                first_value(g.key) over (partition by g.space, g.id order by g.place) as first_key
            from input g
            left join entity same on same.space_id = g.space and same.id = g.id
            left join entity same_name on same_name.space_id = g.space and same_name.name_key = entity_key(g.space, g.name)
        ), decided as materialized (
            select s.*,
                case
                    when coalesce(s.their_key, s.first_key) <> s.key then 'another'
                    when s.named is not null or s.turn > 1 then 'known'
                    when s.id <> first_value(s.id) over (
                        partition by s.space, s.key, s.their_key is null and s.named is null and s.turn = 1 and s.first_key = s.key
                        order by s.place) then 'known'
                    else 'added'
                end as outcome,
                coalesce(s.named, first_value(s.id) over (partition by s.space, s.key order by s.place)) as stored
            from matched s
        )
        select j.*, t.type_guessed as guess
        from decided j left join entity t on t.space_id = j.space and t.id = j.named
        order by j.space, j.key, j.outcome <> 'added', j.place
    loop
        place := line.place; stored := line.stored; outcome := line.outcome;
        if line.outcome = 'added' then
            stored := insert_entity(line.space, line.name, line.key, line.entity_type, coalesce(line.type_guessed, false),
                                    line.metadata, line.description, line.id, line.created_at, line.updated_at);
            if stored is null then
                -- Another session has created an entity with this name meanwhile. Use the id of that entity.
                stored := (select e.id from entity e where e.space_id = line.space and e.name_key = entity_key(line.space, line.key) for no key update);
                outcome := case when stored is null then 'another' else 'known' end;
            end if;
            last_space := line.space; last_key := line.key; last_id := stored;
        elsif line.outcome = 'known' and line.guess and line.type_guessed is not true and last_id is distinct from line.named then
            -- If the type of the entity here is only guessed, use the type of the file.
            update entity e set entity_type = line.entity_type, type_guessed = false,
                metadata = e.metadata - 'type' || coalesce(line.metadata, '{}')
            where e.space_id = line.space and e.id = line.named;
            update observation o set entity_type = line.entity_type, repository = fact_repository(line.entity_type, o.repository)
            where o.space_id = line.space and o.entity_id = line.named;
            last_space := line.space; last_key := line.key; last_id := line.named;
        elsif line.outcome = 'known' and line.named is null and (last_space, last_key) = (line.space, line.key) then
            stored := last_id;
        end if;
        return next;
    end loop;
end
$$;

comment on function textrawl.import_entities is
    'Import the entities of an export. Error TR013: not the owner.';
