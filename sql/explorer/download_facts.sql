create function textrawl.download_facts(
    after bigint default null,  -- `last` of the page before
    max_rows integer default 5000, space integer default null, credential bytea default null
) returns table (
    last bigint,
    line text    -- an object of JSON
)
language sql stable security definer rows 5000
set search_path from current
begin atomic
    with home as materialized (
        select textrawl.graph_space(credential, space) as id
    ), page as materialized (
        select o.* from textrawl.observation o
        where o.space_id = (select home.id from home) and o.ordinal > coalesce(download_facts.after, 0)
        order by o.ordinal limit max_rows
    )
    select o.ordinal, jsonb_strip_nulls(jsonb_build_object(
        'id', o.id, 'entity', e.name, 'type', e.entity_type, 'fact', o.content, 'relation', r.relation_type, 'to', t.name,
        'source', o.source, 'author', a.name, 'client', o.client, 'said', o.said_at, 'from', o.valid_from, 'until', o.valid_until,
        'replaced_by', o.replaced_by, 'wrong', w.reason))::text
    from page o
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
    join textrawl.actor a on a.id = o.author_id
    left join textrawl.relation r on r.space_id = o.space_id and r.id = o.relation_id
    left join textrawl.entity t on t.space_id = r.space_id and t.id = r.to_entity
    left join textrawl.revision w on w.space_id = o.space_id and w.observation_id = o.id
    order by o.ordinal;
end;

comment on function textrawl.download_facts is
    'A page of all facts and relations of a space, valid and ended, as lines of JSON, in the order in which they were stored. '
    'Errors: TR010, TR011 (access), TR060 (the space is a graph). '
    'Example: select line from textrawl.download_facts();';
