create function textrawl.describe_entity(
    entity text, as_of timestamptz default null,  -- infinity: facts of all times
    max_observations integer default 20,
    with_relations boolean default true, max_relations integer default 100,
    spaces integer[] default null, credential bytea default null, skip integer default 0,
    since timestamptz default null, until timestamptz default null,
    known_at timestamptz default null  -- by what the memory knew at this time; null: by what it knows
) returns table (
    id uuid, space text, name text, entity_type text, description text,
    observations jsonb,         -- newest first: [{id, space, content, source, confidence, created_at, said_at, valid_from,
                                -- valid_until, author, several_authors, evidence, evidence_start}]
    total_observations bigint,
    outgoing jsonb,             -- [{relation_type, to_entity, to_entity_type, created_at, valid_from, valid_until}]
    incoming jsonb,             -- [{relation_type, from_entity, from_entity_type, created_at, valid_from, valid_until}]
    total_relations bigint,
    revised jsonb,              -- the newest wrong facts, if skip is 0: [{id, content, reason, instead, revised_at}]
    aliases text[],
    given_type text,            -- the word that a caller gave as its type; null: its type is that of a caller, or a guess
    namesakes text[],           -- names of other things, such as Jordan (person) for Jordan
    summary text                -- see entity_summary(), if the question is about all that is true now
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, describe_entity.spaces) as ids
    ), named as (
        -- Several spaces can have an entity of this name. The answer has the facts of all these entities, but only the
        -- name and type of the entity in the first space.
        select e.space_id, s.name as space, e.id, e.name, e.entity_type, e.description, textrawl.free_type(e.entity_type, e.metadata) as free_type,
               row_number() over (order by array_position((select ids from scope), e.space_id)) as place
        from textrawl.find_entities((select ids from scope)::integer[], describe_entity.entity) f
        join textrawl.entity e on e.space_id = f.space_id and e.id = f.entity_id
        join textrawl.space s on s.id = e.space_id
    ), fact as (
        -- All facts are counted and sorted, but the content is read only for the facts of the page.
        select o.space_id, o.id, named.space, o.created_at, ((case when as_of = 'infinity' then o.valid_from else o.said_at end) at time zone 'UTC')::date as day
        from named join textrawl.fact o on o.space_id = named.space_id and o.entity_id = named.id
        where case when known_at is null then textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, as_of)
                   else textrawl.was_valid(o.valid_from, textrawl.known_end(o.space_id, o.id, null, o.valid_until, known_at),
                                           o.created_at, as_of, known_at) end
          and textrawl.is_within(o.said_at, since, until)
    ), page as (
        -- A fact that was shared has the same time in both spaces.
        select * from fact order by day desc, created_at desc, space, id limit max_observations offset skip
    ), shared as materialized (
        select s.space_id, textrawl.has_several_authors(s.space_id) as by_several
        from (select distinct space_id from page) s
    ), newest as (
        select o.id, page.space, o.content, o.source, o.confidence, o.created_at, o.said_at, o.valid_from, o.valid_until,
            a.name as author, shared.by_several as several_authors, page.day, o.evidence, o.evidence_start
        from page join textrawl.fact o on o.space_id = page.space_id and o.id = page.id
        join textrawl.actor a on a.id = o.author_id
        join shared on shared.space_id = page.space_id
    ), edge as (
        select textrawl.relation_label(coalesce(r.label, r.relation_type)) as relation_type, r.created_at, r.valid_from, r.valid_until, r.id,
            r.leaves, named.space, other.name, other.entity_type
        from named cross join lateral (
            -- Use two branches. If one condition covered both ends, Postgres would read every relation of the space.
            select true as leaves, r.to_entity as other_id, r.id, r.relation_type, r.label, r.created_at, r.valid_from, r.valid_until, r.closed_at
            from textrawl.relation r where r.space_id = named.space_id and r.from_entity = named.id
            union all
            select false, r.from_entity, r.id, r.relation_type, r.label, r.created_at, r.valid_from, r.valid_until, r.closed_at
            from textrawl.relation r where r.space_id = named.space_id and r.to_entity = named.id) r
        join textrawl.entity other on other.space_id = named.space_id and other.id = r.other_id
        where with_relations and case when known_at is null then textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at, as_of)
                                      else textrawl.was_valid(r.valid_from, textrawl.known_end(named.space_id, null, r.id, r.valid_until, known_at),
                                                              r.created_at, as_of, known_at) end
    ), recent_edge as (
        select * from edge order by valid_from desc, created_at desc, id limit max_relations
    )
    select named.id, named.space, named.name, named.entity_type,
        textrawl.entity_description(named.space_id, named.id, named.description),
        (select coalesce(jsonb_agg(to_jsonb(newest) - 'day' order by newest.day desc, newest.created_at desc, newest.space, newest.id), '[]') from newest),
        (select count(*) from fact),
        (select coalesce(jsonb_agg(jsonb_build_object(
                'relation_type', relation_type, 'to_entity', name, 'to_entity_type', entity_type, 'created_at', created_at,
                'valid_from', valid_from, 'valid_until', valid_until) order by valid_from desc, created_at desc, id), '[]') from recent_edge where leaves),
        (select coalesce(jsonb_agg(jsonb_build_object(
                'relation_type', relation_type, 'from_entity', name, 'from_entity_type', entity_type, 'created_at', created_at,
                'valid_from', valid_from, 'valid_until', valid_until) order by valid_from desc, created_at desc, id), '[]') from recent_edge where not leaves),
        (select count(*) from edge),
        (select coalesce(jsonb_agg(to_jsonb(wrong) order by wrong.revised_at desc, wrong.id), '[]') from (
            select o.id, o.content, v.reason, right_fact.content as instead, v.revised_at
            from named cross join lateral (
                select f.* from textrawl.fact f where f.space_id = named.space_id and f.entity_id = named.id and f.valid_until = f.valid_from) o
            join textrawl.revision v on v.space_id = o.space_id and v.observation_id = o.id
            left join textrawl.fact right_fact on right_fact.space_id = o.space_id and right_fact.id = o.replaced_by
            where skip = 0 and (known_at is null or v.revised_at <= known_at) order by v.revised_at desc, o.id limit 5) wrong),
        array(select a.name from textrawl.entity_alias a
              where a.space_id = named.space_id and a.entity_id = named.id and a.removed_at is null
              order by a.created_at, a.name),
        nullif(nullif(named.free_type, named.entity_type), 'Generic'),
        array(select e.name from textrawl.entity e
              where e.space_id = any((select ids from scope)::integer[])
                and e.name_key ~>=~ (textrawl.name_key(named.name) || ' (') and e.name_key ~<~ (textrawl.name_key(named.name) || ' )')
              order by e.name_key limit 3),
        case when as_of is null and known_at is null and since is null and until is null and skip = 0
            then textrawl.entity_summary(named.space_id, named.id) end
    from named where place = 1;
end;

comment on function textrawl.describe_entity is
    'An entity with its valid facts, said last first (of all times: begun last first), and its relations in both directions, from every space that you '
    'can read. '
    'If "since" or "until" is given, only facts that were said in this period. An unknown name gives no row. Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.describe_entity(''Jeff'');';
