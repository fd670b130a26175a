create function textrawl.import_row(line jsonb, kind text) returns jsonb
language sql stable
begin atomic
    select line || jsonb_build_object('space_id', line -> 'space') || case kind
        when 'instance' then '{}'
        when 'memory' then (
            select jsonb_build_object('observation_id', o.id)
            from textrawl.fact o
            where o.space_id = (line ->> 'space')::integer and o.id = (line ->> 'id')::uuid and coalesce(o.part, 1) = 1)
        when 'revision' then (
            select jsonb_build_object('observation_id', o.id, 'actor_id', a.id)
                || case when o.valid_until = o.valid_from then '{}'::jsonb else '{"outcome": "known"}' end  -- the fact is valid here
            from textrawl.fact o join textrawl.actor a on a.name = line ->> 'author'
            where o.space_id = (line ->> 'space')::integer and o.id = (line ->> 'id')::uuid)
        when 'reflection' then (
            select jsonb_build_object('entity_id', line -> 'entity', 'relation_id', line -> 'edge', 'content', line -> 'text',
                    'author_id', a.id, 'fts', textrawl.language_document(textrawl.space_language(p.space), line ->> 'text'))
                || case when same.content <> line ->> 'text' then '{"outcome": "another"}'::jsonb
                        when same.id is null and exists (
                            select from textrawl.undone d where d.space_id = p.space and d.id = p.id and d.action = 'remove')
                        then '{"outcome": "undone"}' else '{}' end
            from textrawl.actor a
            cross join (select (line ->> 'space')::integer as space, (line ->> 'id')::uuid as id) p
            left join textrawl.reflection same on same.space_id = p.space and same.id = p.id
            where a.name = line ->> 'author'
              and (line ->> 'entity' is null
                   or exists (select from textrawl.entity e where e.space_id = p.space and e.id = (line ->> 'entity')::uuid))
              and (line ->> 'edge' is null
                   or exists (select from textrawl.relation r where r.space_id = p.space and r.id = (line ->> 'edge')::uuid)))
        when 'link' then (
            select jsonb_build_object('from_id', o.id, 'to_id', line -> 'to_memory', 'relation_type', line -> 'relation')
            from textrawl.fact o
            where o.space_id = (line ->> 'space')::integer and o.id = (line ->> 'from_memory')::uuid)
        when 'snapshot' then (
            select jsonb_build_object('document_id', v.document_id, 'version', v.version)
            from textrawl.document_version v
            where v.space_id = (line ->> 'space')::integer and v.document_id = (line ->> 'document')::uuid
              and textrawl.version_key(v.created_at, v.content) = (line ->> 'version')::uuid
            limit 1)
        when 'node' then (
            select jsonb_build_object('entity_id', e.id, 'label_key', textrawl.name_key(line ->> 'label'), 'description_id', f.id)
            from textrawl.entity e
            left join textrawl.fact f on f.space_id = e.space_id and f.id = (line ->> 'described_by')::uuid
            where e.space_id = (line ->> 'space')::integer and e.id = (line ->> 'id')::uuid)
        when 'edge' then (
            select jsonb_build_object('relation_id', r.id)
            from textrawl.relation r
            where r.space_id = (line ->> 'space')::integer and r.id = (line ->> 'id')::uuid)
        when 'pin' then (
            select jsonb_build_object('fact_id', o.id, 'author_id', a.id)
            from textrawl.fact o join textrawl.actor a on a.name = line ->> 'author'
            where o.space_id = (line ->> 'space')::integer and o.id = (line ->> 'id')::uuid)
        when 'dismissal' then (
            select jsonb_build_object('kind', line -> 'candidate', 'author_id', a.id,
                'one', least((line ->> 'one')::uuid, (line ->> 'other')::uuid),
                'other', greatest((line ->> 'one')::uuid, (line ->> 'other')::uuid))
            from textrawl.actor a
            where a.name = line ->> 'author' and not exists (
                select from unnest(array[line ->> 'one', line ->> 'other']::uuid[]) wanted
                where not exists (
                    select from textrawl.entity e
                    where line ->> 'candidate' = 'same' and e.space_id = (line ->> 'space')::integer and e.id = wanted
                    union all
                    select from textrawl.fact o
                    where line ->> 'candidate' <> 'same' and o.space_id = (line ->> 'space')::integer and o.id = wanted)))
    end;
end;

comment on function textrawl.import_row is
    'The row of its table for a line of an export, with the outcome if it must not be stored. Null: the row that it belongs '
    'to is missing.';
