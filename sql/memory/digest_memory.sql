create function textrawl.digest_memory(
    project text default null,  -- name of the project that the caller works on
    max_rows integer default 40,
    max_characters integer default 300,  -- leave out longer facts that are not pinned, and clauses of a summary that do not fit
    spaces integer[] default null, credential bytea default null,
    authors text[] default null,   -- names; only facts of these authors. Null: all
    members boolean default false  -- true: only facts of members, see is_from_author()
) returns table (
    observation_id uuid,  -- of a summary: the id of the entity
    entity_id uuid, space text, entity_name text, entity_type text, content text,
    created_at timestamptz, said_at timestamptz, author text,
    section text,  -- pinned, today, project, self, question, preference, person, recalled, recent or summary (not a fact, see entity_summary())
    score real,    -- in its section, from 0 to 1
    several_authors boolean,  -- true: several authors write to the space
    origin text,   -- see find_origin(); null of a summary, which marks its clauses
    anchors text[], -- see session_anchors()
    outlived boolean -- see is_outlived()
)
language sql stable security definer rows 40
set search_path from current
-- A few hundred candidates are read by their keys. The planner could read the whole table instead.
set enable_seqscan = off
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, digest_memory.spaces) as ids
    ), readable as materialized (
        select id from scope cross join lateral unnest(scope.ids) id
    ), author as materialized (
        select case when authors is not null then array(select a.id from textrawl.actor a where a.name = any(authors)) end as ids
    ), words as materialized (
        -- All words of the name, so that the project "billing service" finds the entity "Billing Service v2".
        select (select string_agg(quote_literal(word), ' & ')::tsquery
             from unnest(tsvector_to_array(to_tsvector('simple', textrawl.search_text(project)))) word) as query
    ), own as materialized (
        select p.id as space_id, o.entity_id as id
        from textrawl.own_entities(digest_memory.spaces, credential) o
        join textrawl.space p on p.name = o.space
    ), chosen as materialized (
        select f.space_id, f.entity_id as id, 'project' as section
        from textrawl.find_entities((select ids from scope)::integer[], project) f
        union
        (select e.space_id, e.id, 'project' from textrawl.entity e
         where e.space_id = any((select ids from scope)::integer[]) and e.fts @@ (select query from words)
         order by e.updated_at desc limit 5)
        union
        select o.space_id, o.id, 'self' from own o
        union
        select p.id, of_type.id, of_type.entity_type from readable p
        cross join lateral (
            (select e.id, e.entity_type from textrawl.entity e where e.space_id = p.id and e.entity_type = 'preference'
             order by e.updated_at desc, e.id limit 6)
            union all
            (select e.id, e.entity_type from textrawl.entity e where e.space_id = p.id and e.entity_type = 'person'
             order by e.updated_at desc, e.id limit 6)) of_type
    ), last as materialized (
        -- Scores change only with the memory, so that a session begins like the one before it: a client's provider
        -- then finds the beginning of the prompt in its cache.
        select max(change.at) as at from readable p
        cross join lateral (
            select e.updated_at as at from textrawl.entity e where e.space_id = p.id order by e.updated_at desc limit 1) change
    ), used as materialized (
        -- The facts in the last answers of each space before that. A fact that answers often matters more.
        select p.id as space_id, fact as id, count(*)::double precision as times
        from readable p
        cross join lateral (
            select r.facts from textrawl.recall r
            where r.space_id = p.id and r.at <= (select at from last) order by r.at desc limit 300) answer
        cross join lateral unnest(answer.facts) fact
        group by p.id, fact order by times desc limit 60
    ), candidate as materialized (
        select 'pinned' as section, o.*
        from textrawl.pinned_facts((select ids from scope)) p join textrawl.local_facts() o on o.space_id = p.space_id and o.id = p.observation_id
        where textrawl.is_from_author(o.space_id, o.author_id, o.source, o.tool, (select ids from author), members)
        union all
        -- What was said before to begin today.
        select 'today', coming.*
        from readable p cross join lateral (
            select o.* from textrawl.local_facts() o
            where o.space_id = p.id and o.valid_from > o.created_at and o.valid_from between date_trunc('day', now()) and now()
              and o.created_at < date_trunc('day', now())
              and textrawl.is_from_author(o.space_id, o.author_id, o.source, o.tool, (select ids from author), members)
            order by o.valid_from, o.id limit 10) coming
        union all
        -- Only three facts of an entity that is neither the project nor the caller can be in the digest.
        select c.section, near.*
        from chosen c cross join lateral (
            select o.* from textrawl.local_facts() o
            where o.space_id = c.space_id and o.entity_id = c.id and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
              and textrawl.is_from_author(o.space_id, o.author_id, o.source, o.tool, (select ids from author), members)
              and not textrawl.is_entry_part(o.space_id, o.whole)
            order by o.created_at desc, o.id limit case c.section when 'project' then 20 else 3 end) near
        where c.section <> 'self'
        union all
        -- Newer facts do not displace the preferences, the names and the tasks of the caller.
        select 'self', kept.*
        from own cross join lateral (
            select newest.* from (
                select o.* from textrawl.local_facts() o
                where o.space_id = own.space_id and o.entity_id = own.id and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
                  and textrawl.is_from_author(o.space_id, o.author_id, o.source, o.tool, (select ids from author), members)
                  and not textrawl.is_entry_part(o.space_id, o.whole)
                order by o.created_at desc, o.id limit 500) newest
            order by textrawl.profile_kind(newest.content) is null, newest.created_at desc, newest.id limit 20) kept
        union all
        select 'recalled', o.* from used join textrawl.local_facts() o using (space_id, id)
        where textrawl.is_from_author(o.space_id, o.author_id, o.source, o.tool, (select ids from author), members)
          and not textrawl.is_entry_part(o.space_id, o.whole)
        union all
        select 'recent', newest.*
        from readable p cross join lateral (
            select o.* from textrawl.local_facts() o
            where o.space_id = p.id
              and textrawl.is_from_author(o.space_id, o.author_id, o.source, o.tool, (select ids from author), members)
              and not textrawl.is_entry_part(o.space_id, o.whole)
            order by o.ordinal desc
            limit (select least(40, greatest(5, 200 / greatest(cardinality(ids), 1))) from scope)) newest
    ), judged as (
        select o.space_id, o.id, o.entity_id, o.content, o.created_at, o.said_at, o.author_id,
            textrawl.find_origin(o.origin, o.tool, o.client, o.source) as origin,
            o.repository, o.anchors, o.evidence,
            o.valid_until is null and textrawl.is_outlived(o.claim, greatest(o.said_at, o.confirmed_at), t.lives) as outlived,
            case when o.section not in ('pinned', 'today', 'project', 'self') and o.content ~ '[?？]\s*$' then 'question' else o.section end as section,
            (o.confidence * (
                0.6 * exp(-least(extract(epoch from greatest((select at from last) - o.created_at, interval '0')) / 86400 / 30, 700))
                + 0.4 * coalesce(used.times / (used.times + 2), 0)))::real as score
        from candidate o
        left join used using (space_id, id)
        left join textrawl.space_statistics t using (space_id)
        where textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at) and (char_length(o.content) <= max_characters or o.section = 'pinned')
            and (o.part is null or o.part = 1)
        union all
        select s.space_id, s.entity_id, s.entity_id, 'summary: ' || made.summary, s.made_at, s.made_at, s.author_id, null, null, null, null, false, 'summary', 1
        from chosen c join textrawl.summary s on s.space_id = c.space_id and s.entity_id = c.id
        cross join lateral (
            select textrawl.entity_summary(s.space_id, s.entity_id, (select ids from author), members,
                max_characters - char_length('summary:  (stale)')) as summary) made
        where c.section in ('project', 'self') and made.summary is not null
    ), once as (
        -- A fact that fits several sections is shown only in the first of them, in this order.
        select distinct on (j.space_id, j.id) j.*, part.rank, part.share
        from judged j
        join (values ('pinned', 0, 1000), ('today', 1, 3), ('project', 2, 3), ('self', 3, 2), ('question', 4, 2), ('preference', 5, 2),
            ('person', 6, 2), ('recalled', 7, 2), ('recent', 8, 1), ('summary', 9, 1)) part (section, rank, share) on part.section = j.section
        order by j.space_id, j.id, part.rank
    ), spread as (
        -- At most three facts of another entity, so that a long list does not fill the digest.
        select *, row_number() over (partition by section, space_id, entity_id order by score desc, created_at desc, id) as of_entity
        from once
    ), ranked as (
        -- The sections take turns. A section with the share 3 gets three facts in each turn.
        select *, (row_number() over (partition by section
            order by section = 'self' and textrawl.profile_kind(content) is null, score desc, created_at desc, id))::double precision / share as turn
        from spread where section in ('pinned', 'project', 'self') or of_entity <= 3
    )
    select r.id, r.entity_id, s.name, e.name, e.entity_type, r.content, r.created_at, r.said_at, a.name, r.section, r.score,
        -- Each space is looked up once. A call for each fact would repeat it.
        r.section <> 'summary' and r.space_id = any((select coalesce(array_agg(p.id), '{}') from readable p where textrawl.has_several_authors(p.id))::integer[]),
        r.origin, textrawl.session_anchors(r.repository, r.anchors, r.space_id, r.evidence), r.outlived
    from ranked r
    join textrawl.space s on s.id = r.space_id
    join textrawl.entity e on e.space_id = r.space_id and e.id = r.entity_id
    join textrawl.actor a on a.id = r.author_id
    order by r.turn, r.rank, r.id
    limit max_rows;
end;

comment on function textrawl.digest_memory is
    'The facts that matter at the start of a conversation, the most important first: pinned facts, facts that begin today, facts of the project, facts of '
    'the caller''s own entity (see own_entities(), and profile_kind() for their order), open questions, preferences, '
    'people, facts often recalled, new facts, and the summaries of project and caller. The sections take turns. In a section the score counts age and '
    'use. An open question ends with a question mark. Journal entries are left out. Errors: TR010, TR011 (access). '
    'Example: select section, entity_name, content from textrawl.digest_memory(''textrawl'');';
