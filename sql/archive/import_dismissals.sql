create function textrawl.import_dismissals(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,
    outcome text    -- added, known (somebody dismissed the candidate here too) or homeless (an entity or a fact is missing)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    perform register_actors(array(select g.author from jsonb_to_recordset(lines) g(author text)));
    return query
        with line as materialized (
            select g.*, a.id as actor_id, not exists (
                select from unnest(array[g.one, g.other]) wanted
                where not exists (select from entity e where g.candidate = 'same' and e.space_id = g.space and e.id = wanted)
                  and not exists (select from fact o where g.candidate <> 'same' and o.space_id = g.space and o.id = wanted)) as found
            from jsonb_to_recordset(lines) g(
                place integer, space integer, id uuid, candidate text, one uuid, other uuid,
                author text, client text, tool text, request text, created_at timestamptz)
            join actor a on a.name = g.author
        ), added as (
            insert into dismissal (space_id, id, kind, one, other, author_id, client, tool, request, created_at)
            select l.space, l.id, l.candidate, least(l.one, l.other), greatest(l.one, l.other), l.actor_id, l.client, l.tool, l.request,
                l.created_at
            from line l where l.found order by l.space, l.id
            on conflict do nothing
            returning id
        )
        select l.place, l.id, case when not l.found then 'homeless' when l.id in (select a.id from added a) then 'added' else 'known' end
        from line l;
end
$$;

comment on function textrawl.import_dismissals is
    'Import the dismissed candidates of an export, after the entities and facts. Error TR013: not the owner.';
