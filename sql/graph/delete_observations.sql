create function textrawl.delete_observations(
    deletions jsonb,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (place bigint, name text, entity_type text, deleted bigint, observations text[])
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin  origin := open_write(credential, space, 'forget', client, tool, request);
    claimed uuid[];
    counted jsonb;
    readable boolean := may_read(credential, origin.space_id);
begin
    perform claim_removal(alone => true);
    claimed := array(
        select e.id from entity e
        where e.space_id = origin.space_id
          and e.name_key in (select name_key(value ->> 'entity') from jsonb_array_elements(deletions))
        order by e.name_key for update);
    with long as materialized (
        select l.* from long_observations(origin.space_id, claimed) l
    )
    select coalesce(jsonb_object_agg(gone.place, gone.deleted), '{}') into counted
    from (select said.place, count(distinct coalesce(said.whole, said.id)) filter (where forgotten.observation_id is not null) as deleted
          from (select distinct on (o.id) given.ordinality as place, e.name, o.id, o.whole
                from jsonb_array_elements(deletions) with ordinality given
                join entity e on e.space_id = origin.space_id and e.name_key = name_key(given.value ->> 'entity') and e.id = any(claimed)
                join lateral jsonb_array_elements_text(given.value -> 'observations') text on true
                join lateral (
                    select f.id, f.whole from observation f
                    where f.space_id = e.space_id and f.entity_id = e.id and f.whole is null
                      and f.content_hash = fact_hash(text.value) and f.content = text.value
                    union all
                    select f.id, l.whole from long l, unnest(l.facts) f(id)
                    where l.entity_id = e.id and (l.whole = md5(text.value)::uuid or l.content = text.value)) o on true
                order by o.id, given.ordinality) said
          cross join lateral forget_entity(said.name, said.id::text, false, delete_observations.credential, origin.space_id,
                                           delete_observations.client, delete_observations.tool, delete_observations.request) forgotten
          group by said.place) gone;
    return query
        select given.ordinality, coalesce(case when readable then e.name end, given.value ->> 'entity'),
            case when readable then free_type(e.entity_type, e.metadata) end,
            coalesce((counted ->> given.ordinality::text)::bigint, 0),
            case when e.id is null then null when readable then list_observations(e.space_id, e.id) else '{}' end
        from jsonb_array_elements(deletions) with ordinality given
        left join entity e on e.space_id = origin.space_id and e.name_key = name_key(given.value ->> 'entity')
        order by given.ordinality;
end
$$;

comment on function textrawl.delete_observations is
    'Forgets observations [{entity, observations}] by their exact text; for each its place, the entity, how many went, and those that are left (null: no such entity; none for who may not read). Errors: TR010 to TR012 (access).';
