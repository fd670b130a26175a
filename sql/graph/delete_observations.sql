create function textrawl.delete_observations(
    deletions jsonb,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    place bigint,        -- position in deletions, from 1
    name text, entity_type text,
    deleted bigint,      -- number of observations that were forgotten
    observations text[]  -- the remaining observations; null: no such entity; empty: the caller cannot read the space
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin         origin := open_write(credential, space, 'forget', client, tool, request);
    claimed        uuid[];
    deleted_counts jsonb;
    readable       boolean := may_read(credential, origin.space_id);
begin
    perform claim_removal(alone => true);
    claimed := array(
        select e.id from entity e
        where e.space_id = origin.space_id
          and e.name_key in (select entity_key(origin.space_id, value ->> 'entity') from jsonb_array_elements(deletions))
        order by e.name_key for update);
    with long as materialized (
        select l.* from long_observations(origin.space_id, claimed) l
    )
    select coalesce(jsonb_object_agg(result.place, result.deleted), '{}') into deleted_counts
    from (select target.place,
              count(distinct coalesce(target.whole, target.id)) filter (where forgotten.observation_id is not null) as deleted
          from (select distinct on (o.id) deletion.ordinality as place, e.name, o.id, o.whole
                from jsonb_array_elements(deletions) with ordinality deletion
                join entity e on e.space_id = origin.space_id and e.name_key = entity_key(origin.space_id, deletion.value ->> 'entity')
                    and e.id = any(claimed)
                join lateral jsonb_array_elements_text(deletion.value -> 'observations') text on true
                join lateral (
                    select f.id, f.whole from fact f
                    where f.space_id = e.space_id and f.entity_id = e.id and f.whole is null
                      and f.content_hash = fact_hash(text.value)
                    union all
                    select f.id, l.whole from long l, unnest(l.facts) f(id)
                    where l.entity_id = e.id and (l.whole = md5(text.value)::uuid or l.content = text.value)) o on true
                order by o.id, deletion.ordinality) target
          cross join lateral forget_entity(
              target.name, target.id::text, false, delete_observations.credential, origin.space_id,
              delete_observations.client, delete_observations.tool, delete_observations.request) forgotten
          group by target.place) result;
    return query
        select deletion.ordinality, coalesce(case when readable then e.name end, deletion.value ->> 'entity'),
            case when readable then free_type(e.entity_type, e.metadata) end,
            coalesce((deleted_counts ->> deletion.ordinality::text)::bigint, 0),
            case when e.id is null then null when readable then list_observations(e.space_id, e.id) else '{}' end
        from jsonb_array_elements(deletions) with ordinality deletion
        left join entity e on e.space_id = origin.space_id and e.name_key = entity_key(origin.space_id, deletion.value ->> 'entity')
        order by deletion.ordinality;
end
$$;

comment on function textrawl.delete_observations is
    'Forget observations [{entity, observations}] by their exact text. Errors: TR010 to TR012 (access).';
