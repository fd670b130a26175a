create function textrawl.entity_context(entity text, max_rows integer default 50)
returns table (
    kind text,          -- entity, fact (valid), relation, or former (a fact that is not valid now)
    told text,          -- the line of text
    since timestamptz, until timestamptz, author text, space text
)
language sql stable
begin atomic
    with subject as (
        select e.space_id, e.id, e.name, e.entity_type, e.description, e.created_at, s.name as space
        from textrawl.entity e join textrawl.space s on s.id = e.space_id
        where (e.space_id, e.id) in (
            select f.space_id, f.entity_id from textrawl.find_entities(textrawl.session_spaces(), entity_context.entity) f)
    ), line as (
        select 1 as section, 'entity' as kind, w.name || ' (' || w.entity_type || ')' || coalesce(': ' || w.description, '') as told,
            w.created_at as since, null::timestamptz as until, null as author, w.space from subject w
        union all
        select case when validity.now then 2 else 4 end, case when validity.now then 'fact' else 'former' end,
            o.content || coalesce(' (now: ' || successor.content || ')', ''), o.valid_from, o.valid_until, a.name, w.space
        from subject w join textrawl.fact o on o.space_id = w.space_id and o.entity_id = w.id
        cross join lateral (select textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at) as now) validity
        join textrawl.actor a on a.id = o.author_id
        left join textrawl.fact successor on successor.space_id = o.space_id and successor.id = o.replaced_by
        union all
        select 3, 'relation',
            case when edge.leaves then '-' || edge.relation_type || '-> ' else '<-' || edge.relation_type || '- ' end || other.name,
            r.valid_from, r.valid_until, a.name, w.space
        from subject w cross join lateral textrawl.live_edges(w.space_id, w.id) edge
        join textrawl.relation r on r.space_id = w.space_id and r.id = edge.relation_id
        join textrawl.entity other on other.space_id = w.space_id and other.id = edge.other
        join textrawl.actor a on a.id = r.author_id
    ), newest as (
        select *, row_number() over (partition by section order by since desc, told) as rank from line
    )
    select kind, told, since, until, author, space from newest where rank <= max_rows order by section, rank;
end;

comment on function textrawl.entity_context is
    'Everything about an entity as lines of text, in this order: the entity, its facts, its relations and its former '
    'facts. Each kind has at most max_rows rows, the newest first. '
    'Example: select kind, told from textrawl.entity_context(''Jeff'');';
