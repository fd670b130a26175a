create function textrawl.import_entities(lines jsonb) returns table (place integer, stored uuid, outcome text)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    said record;
begin
    perform require_owner();
    -- An entity whose type is a guess here takes the type of the file.
    for said in
        select distinct on (e.space_id, e.name_key) e.space_id, e.id, g.entity_type, g.metadata
        from jsonb_to_recordset(lines) g(place integer, space integer, name text, entity_type text, type_guessed boolean, metadata jsonb)
        join entity e on e.space_id = g.space and e.name_key = name_key(g.name)
        where e.type_guessed and g.type_guessed is not true
        order by e.space_id, e.name_key, g.place
    loop
        update entity e set entity_type = said.entity_type, type_guessed = false,
            metadata = e.metadata - 'type' || coalesce(said.metadata, '{}')
        where e.space_id = said.space_id and e.id = said.id;
        update observation o set entity_type = said.entity_type
        where o.space_id = said.space_id and o.entity_id = said.id;
    end loop;
    return query
    with given as materialized (
        select g.*, name_key(g.name) as key
        from jsonb_to_recordset(lines) g(
            place integer, space integer, id uuid, name text, entity_type text, type_guessed boolean, description text, metadata jsonb,
            created_at timestamptz, updated_at timestamptz)
    ), seen as materialized (
        select g.*, same.name_key as their_key, named.id as named,
            row_number() over (partition by g.space, g.id order by g.place) as turn,
            first_value(g.key) over (partition by g.space, g.id order by g.place) as first_key
        from given g
        left join entity same on same.space_id = g.space and same.id = g.id
        left join entity named on named.space_id = g.space and named.name_key = g.key
    ), judged as materialized (
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
        from seen s
    ), made as (
        insert into entity (space_id, id, name, name_key, entity_type, type_guessed, description, metadata, fts, created_at, updated_at)
        select j.space, j.id, j.name, j.key, j.entity_type, coalesce(j.type_guessed, false), j.description, coalesce(j.metadata, '{}'),
            to_tsvector('simple', search_text(j.name)), j.created_at, j.updated_at
        from judged j where j.outcome = 'added' order by j.space, j.key
    )
    select j.place, j.stored, j.outcome from judged j;
end
$$;

comment on function textrawl.import_entities is
    'Adds entities of an export; for each line its place, the id under which the entity is here, and added, known (by id or by name) or another (an entity of another name has the id). Error TR013: not the owner.';
