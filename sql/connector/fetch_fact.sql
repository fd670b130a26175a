create function textrawl.fetch_fact(
    fact uuid, spaces integer[] default null, credential bytea default null
) returns table (
    id uuid, space text, entity_id uuid, entity_name text, entity_type text, content text,
    is_relation boolean,      -- true: the content states a relation
    source text, author text, said_at timestamptz, valid_from timestamptz, valid_until timestamptz,
    valid boolean,            -- now
    replaced_by uuid,
    wrong text,               -- the reason, if somebody marked the fact as wrong
    origin text,              -- see find_origin()
    repository text           -- in which the fact was stored, or null
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, fetch_fact.spaces) as ids
    )
    select o.id, s.name, e.id, e.name, e.entity_type, o.content, o.relation_id is not null,
        o.source, a.name, o.said_at, o.valid_from, o.valid_until,
        textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at), o.replaced_by, w.reason,
        textrawl.find_origin(o.origin, o.tool, o.client, o.source), o.repository
    from textrawl.observation o
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
    join textrawl.space s on s.id = o.space_id
    join textrawl.actor a on a.id = o.author_id
    left join textrawl.revision w on w.space_id = o.space_id and w.observation_id = o.id
    where o.space_id = any((select ids from scope)::integer[]) and o.id = fetch_fact.fact
    -- An id is unique only in its space, so take the first space that has it.
    order by array_position((select ids from scope), o.space_id) limit 1;
end;

comment on function textrawl.fetch_fact is
    'The fact or the statement of a relation with this whole id, valid or ended, from the spaces that you can read. An '
    'unknown id gives no row. Errors: TR010, TR011 (access), TR060 (a given space is a graph). '
    'Example: select entity_name, content from textrawl.fetch_fact(gen_random_uuid());';
