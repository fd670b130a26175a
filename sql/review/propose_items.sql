create function textrawl.propose_items(lines jsonb, kind text, run uuid) returns table (
    place integer,  -- number of the line in the file
    stored uuid,    -- the id of the line, or of the known fact
    outcome text    -- proposed, known (a fact has the text), waiting (it was proposed before, whatever was decided), or
                    -- homeless (an entity is missing)
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    origin   origin;
    outcomes jsonb;
    fresh    jsonb;
    proposed uuid[];
begin
    perform register_actors(array(select g.author from jsonb_to_recordset(lines) g(author text)));
    select r.space_id, r.author_id, null, 'import', 'import ' || r.id, true into origin
    from import_run r where r.id = propose_items.run;
    with given as (
        select g.place, g.id, e.id as entity_id, e.name_key, t.id as target, held.repository, case propose_items.kind when 'fact' then fact_hash(g.text)
                else fact_hash(relation_key(g.relation) || chr(10) || t.name_key) end as hash,
            jsonb_strip_nulls(to_jsonb(jsonb_populate_record(null::new_fact, line - array['id', 'vector'])) || jsonb_build_object(
                'entity', e.name, 'type', e.entity_type, 'observation', g.text, 'repository', held.repository, 'client', g.client, 'author', a.id,
                'from', e.name, 'from_type', e.entity_type, 'relation', g.label, 'to', t.name, 'to_type', t.entity_type,
                'valid_from', nullif(g.valid_from, g.created_at))) as value
        from jsonb_array_elements(lines) line
        cross join lateral jsonb_to_record(line) g(
            place integer, id uuid, entity uuid, from_entity uuid, to_entity uuid, text text, relation text, label text, author text,
            client text, repository text, created_at timestamptz, valid_from timestamptz)
        left join actor a on a.name = g.author
        left join entity e on e.space_id = origin.space_id and e.id = coalesce(g.entity, g.from_entity)
        cross join lateral fact_repository(e.entity_type, g.repository) held (repository)
        left join entity t on t.space_id = origin.space_id and t.id = g.to_entity
    ), judged as (
        select g.*, g.entity_id is null or propose_items.kind = 'relation' and g.target is null as homeless,
            (select o.id from fact o
             where o.space_id = origin.space_id and o.entity_id = g.entity_id and o.content_hash = g.hash
               and o.repository is not distinct from g.repository limit 1) as present,
            row_number() over (partition by g.entity_id, g.hash, g.repository order by g.place) > 1
            or exists (select from proposal p
                            where p.space_id = origin.space_id and p.kind = propose_items.kind and p.entity_key = g.name_key
                              and p.content_hash = g.hash
                              and (p.kind = 'relation' or p.repository is not distinct from g.repository) and p.decision is distinct from 'withdrawn') as waiting
        from given g
    )
    select jsonb_agg(jsonb_build_object('place', j.place, 'stored', coalesce(j.present, j.id), 'outcome', case
            when homeless then 'homeless' when present is not null then 'known' when waiting then 'waiting' else 'proposed' end)),
        jsonb_agg(j.value order by j.place) filter (where not (homeless or waiting or present is not null))
    into outcomes, fresh from judged j;
    if fresh is not null then
        proposed := (propose_all(case kind when 'fact' then fresh else '[]' end, case kind when 'fact' then '[]' else fresh end,
                                 null, null, null, origin, false)).proposals;
        -- The import proposed this, so that its undo takes it back, but the words are of the author of each line.
        update proposal p set client = g.value ->> 'client', author_id = coalesce((g.value ->> 'author')::integer, p.author_id)
        from unnest(proposed) with ordinality made (id, turn) join jsonb_array_elements(fresh) with ordinality g (value, turn) using (turn)
        where p.space_id = origin.space_id and p.id = made.id;
    end if;
    return query select o.* from jsonb_to_recordset(outcomes) o(place integer, stored uuid, outcome text);
end
$$;

comment on function textrawl.propose_items is
    'Propose the facts or the relations of an import instead of storing them. Nobody is asked twice about the same text.';
