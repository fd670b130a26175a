create function textrawl.import_revisions(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,    -- id of the fact in this memory
    outcome text    -- added, known (the fact has a reason already, or is valid here) or homeless (the fact is missing)
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
            select g.*, a.id as actor_id, o.id as fact, o.valid_until = o.valid_from as is_wrong
            from jsonb_to_recordset(lines) g(
                place integer, space integer, id uuid, reason text, author text, client text, tool text, request text,
                revised_at timestamptz)
            join actor a on a.name = g.author
            left join fact o on o.space_id = g.space and o.id = g.id
        ), added as (
            insert into revision (space_id, observation_id, reason, actor_id, client, tool, request, revised_at)
            select l.space, l.fact, l.reason, l.actor_id, l.client, l.tool, l.request, l.revised_at
            from line l where l.is_wrong order by l.space, l.fact
            on conflict do nothing
            returning space_id, observation_id
        )
        select l.place, l.id,
            case when l.fact is null then 'homeless'
                when (l.space, l.fact) in (select space_id, observation_id from added) then 'added' else 'known' end
        from line l;
end
$$;

comment on function textrawl.import_revisions is
    'Import the reasons of wrong facts of an export, after the facts. Error TR013: not the owner.';
