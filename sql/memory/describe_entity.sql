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
                                -- valid_until, author, several_authors, evidence, evidence_start, origin, anchors, outlived}]
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
language plpgsql stable security definer rows 1
set search_path from current
-- Planning this statement takes longer than running it, and its plan does not depend on the values.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    scope integer[] := readable_spaces(credential, spaces);
    here  text[]    := session_repositories(scope, entity);
begin
    return query
    with named as materialized (
        -- Several spaces can have an entity of this name. The answer has the facts of all these entities, but only the
        -- name and type of the entity in the first space.
        select e.space_id, s.name as space, e.id, e.name, e.name_key, e.entity_type, e.description,
            nullif(nullif(free_type(e.entity_type, e.metadata), e.entity_type), 'Generic') as given_type,
            row_number() over (order by array_position(scope, e.space_id)) as place
        from find_entities(scope, describe_entity.entity) f
        join entity e on e.space_id = f.space_id and e.id = f.entity_id
        join space s on s.id = e.space_id
    ), valid_fact as materialized (
        -- All facts are counted and sorted, but the content is read only for the facts of the page.
        select o.space_id, o.id, named.space, o.created_at, ((case when as_of = 'infinity' then o.valid_from else o.said_at end) at time zone 'UTC')::date as day
        from named join fact o on o.space_id = named.space_id and o.entity_id = named.id
        where case when known_at is null then is_valid(o.valid_from, o.valid_until, o.closed_at, as_of)
                   else was_valid(o.valid_from, known_end(o.space_id, o.id, null, o.valid_until, known_at), o.created_at, as_of, known_at) end
          and is_within(o.said_at, since, until) and is_of_repository(o.repository, here)
    ), page as materialized (
        -- A fact that was shared has the same time in both spaces.
        select * from valid_fact order by day desc, created_at desc, space, id limit max_observations offset skip
    ), shared as materialized (
        select s.space_id, has_several_authors(s.space_id) as by_several from (select distinct space_id from page) s
    ), newest as (
        select o.id, page.space, o.content, o.source, o.confidence, o.created_at, o.said_at, o.valid_from, o.valid_until,
            a.name as author, shared.by_several as several_authors, page.day, o.evidence, o.evidence_start,
            find_origin(o.origin, o.tool, o.client, o.source) as origin, session_anchors(o.repository, o.anchors, o.space_id, o.evidence) as anchors,
            num_nonnulls(as_of, known_at, o.valid_until) = 0 and is_outlived(o.claim, greatest(o.said_at, o.confirmed_at), t.lives) as outlived
        from page join fact o on o.space_id = page.space_id and o.id = page.id
        join actor a on a.id = o.author_id
        left join space_statistics t on t.space_id = page.space_id
        join shared on shared.space_id = page.space_id
    ), edge as materialized (
        select named.space_id, named.space, r.*
        from named cross join lateral (
            -- Use two branches. If one condition covered both ends, Postgres would read every relation of the space.
            select true as leaves, r.to_entity as other_id, r.id, coalesce(r.label, r.relation_type) as label, r.created_at,
                r.valid_from, r.valid_until, r.closed_at
            from local_relations() r where r.space_id = named.space_id and r.from_entity = named.id
            union all
            select false, r.from_entity, r.id, coalesce(r.label, r.relation_type), r.created_at, r.valid_from, r.valid_until, r.closed_at
            from local_relations() r where r.space_id = named.space_id and r.to_entity = named.id) r
        where with_relations and case when known_at is null then is_valid(r.valid_from, r.valid_until, r.closed_at, as_of)
            else was_valid(r.valid_from, known_end(named.space_id, null, r.id, r.valid_until, known_at), r.created_at, as_of, known_at) end
    ), recent_edge as (
        select jsonb_build_object(
                'relation_type', relation_label(r.label), case when leaves then 'to_entity' else 'from_entity' end, other.name,
                case when leaves then 'to_entity_type' else 'from_entity_type' end, other.entity_type,
                'created_at', r.created_at, 'valid_from', r.valid_from, 'valid_until', r.valid_until, 'source', (
                    select 'external' from observation o where o.space_id = r.space_id and o.relation_id = r.id
                    and find_origin(o.origin, o.tool, o.client, o.source) = 'external')) as written,
            r.leaves, r.valid_from, r.created_at, r.id
        from (select * from edge order by valid_from desc, created_at desc, id limit max_relations) r
        join entity other on other.space_id = r.space_id and other.id = r.other_id
    ), written_edges as materialized (
        select coalesce(jsonb_agg(written order by valid_from desc, created_at desc, id) filter (where leaves), '[]') as outgoing,
            coalesce(jsonb_agg(written order by valid_from desc, created_at desc, id) filter (where not leaves), '[]') as incoming
        from recent_edge
    )
    select named.id, named.space, named.name, named.entity_type, entity_description(named.space_id, named.id, named.description),
        (select coalesce(jsonb_agg(to_jsonb(newest) - 'day' order by newest.day desc, newest.created_at desc, newest.space, newest.id), '[]') from newest),
        (select count(*) from valid_fact), written_edges.outgoing, written_edges.incoming, (select count(*) from edge),
        (select coalesce(jsonb_agg(to_jsonb(wrong) order by wrong.revised_at desc, wrong.id), '[]') from (
            select o.id, o.content, v.reason, right_fact.content as instead, v.revised_at
            from named cross join lateral (
                select f.* from fact f where f.space_id = named.space_id and f.entity_id = named.id and f.valid_until = f.valid_from and is_of_repository(f.repository, here)) o
            join revision v on v.space_id = o.space_id and v.observation_id = o.id
            left join fact right_fact on right_fact.space_id = o.space_id and right_fact.id = o.replaced_by
            where skip = 0 and (known_at is null or v.revised_at <= known_at) order by v.revised_at desc, o.id limit 5) wrong),
        array(select a.name from entity_alias a
              where a.space_id = named.space_id and a.entity_id = named.id and a.removed_at is null
              order by a.created_at, a.name),
        named.given_type,
        array(select e.name from local_entities() e
              where e.space_id = any(scope) and e.name_key ~>=~ (named.name_key || ' (') and e.name_key ~<~ (named.name_key || ' )')
              order by e.name_key limit 3),
        case when num_nonnulls(as_of, known_at, since, until) = 0 and skip = 0 then entity_summary(named.space_id, named.id) end
    from named cross join written_edges where named.place = 1;
end
$$;

comment on function textrawl.describe_entity is
    'An entity with its valid facts, said last first (of all times: begun last first), and its relations in both directions, from every space that you '
    'can read. '
    'If "since" or "until" is given, only facts that were said in this period. An unknown name gives no row. Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.describe_entity(''Jeff'');';
