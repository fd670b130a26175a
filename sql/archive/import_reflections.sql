create function textrawl.import_reflections(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,
    outcome text    -- added, known (by id), another (a reflection with another text has this id),
                    -- homeless (its entity or relation is missing) or undone (an undo keeps the reflection)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    perform register_actors(array(select g.author from jsonb_to_recordset(lines) g(author text)));
    return query
    with matched as materialized (
        select g.*, a.id as author_id, same.id is not null as exists_here, same.content as theirs,
            row_number() over (partition by g.space, g.id order by g.place) as turn,
            (g.entity is null or exists (select from entity e where e.space_id = g.space and e.id = g.entity))
            and (g.edge is null or exists (select from relation r where r.space_id = g.space and r.id = g.edge)) as housed,
            exists (select from undone d where d.space_id = g.space and d.id = g.id and d.action = 'remove') as undone
        from jsonb_to_recordset(lines) g(
            place integer, space integer, id uuid, target_type text, entity uuid, edge uuid, text text, voice text, mood text,
            author text, client text, tool text, request text, created_at timestamptz)
        join actor a on a.name = g.author
        left join reflection same on same.space_id = g.space and same.id = g.id
    ), decided as materialized (
        select g.*,
            case
                when not g.housed then 'homeless'
                when g.theirs <> g.text then 'another'
                when g.exists_here or g.turn > 1 then 'known'
                when g.undone then 'undone'
                else 'added'
            end as outcome
        from matched g
    ), inserted as (
        insert into reflection (space_id, id, target_type, entity_id, relation_id, content, voice, mood,
                                author_id, client, tool, request, created_at, fts)
        select j.space, j.id, j.target_type, j.entity, j.edge, j.text, j.voice, j.mood,
            j.author_id, j.client, j.tool, j.request, j.created_at, language_document(space_language(j.space), j.text)
        from decided j where j.outcome = 'added' order by j.space, j.id
        on conflict do nothing
    )
    select j.place, j.id, j.outcome from decided j;
end
$$;

comment on function textrawl.import_reflections is
    'Import the reflections of an export, without vectors. Error TR013: not the owner.';
