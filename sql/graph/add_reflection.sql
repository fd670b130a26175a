create function textrawl.add_reflection(
    target_type text, content text, voice text, mood text default null, target bigint default null,
    model integer default null, embedding halfvec default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (number bigint, created_at timestamptz)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin         origin := open_write(credential, space, 'write', client, tool, request);
    about_entity   uuid;
    about_relation uuid;
    stored         reflection;
begin
    if target_type = 'entity' then
        select e.id into about_entity from number_range(target) range
        join entity e on e.space_id = origin.space_id and e.id between range.first and range.last
        order by e.id limit 1 for key share of e;
    elsif target_type = 'relation' then
        select r.id into about_relation from number_range(target) range
        join relation r on r.space_id = origin.space_id and r.id between range.first and range.last
        order by r.id limit 1 for key share of r;
    end if;
    if target_type in ('entity', 'relation') and about_entity is null and about_relation is null then
        raise exception using errcode = 'TR052', message = 'no entity or relation has that number';
    end if;
    if not exists (select from embedding_model m where m.id = add_reflection.model) then
        model := null;
    end if;
    insert into reflection as r (space_id, target_type, entity_id, relation_id, content, voice, mood,
                                 author_id, client, tool, request, fts, model_id, vector)
    values (origin.space_id, add_reflection.target_type, about_entity, about_relation,
            add_reflection.content, add_reflection.voice, add_reflection.mood,
            origin.author_id, origin.client, origin.tool, origin.request,
            language_document(space_language(origin.space_id), add_reflection.content), model, case when model is not null then embedding end)
    returning r.* into stored;
    perform record_event('reflected', about_entity, null, about_relation, origin, jsonb_build_object('reflection', stored.id));
    return query select node_number(stored.id), stored.created_at;
end
$$;

comment on function textrawl.add_reflection is
    'Store a reflection about an entity, a relation, a session or the whole memory. The parameter target is the number '
    'of the entity or relation. The parameter voice is the name of the person or model who speaks. Errors: TR052 (no entity or relation has that number), TR010 to TR012 (access).';
