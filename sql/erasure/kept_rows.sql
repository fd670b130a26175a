create function textrawl.kept_rows(space integer, names text[], actors integer[], renames boolean)
returns table (kind text, by_person boolean, rows bigint)
language sql stable
begin atomic
    select k.kind, k.by_person, k.rows from (
        select 'event' as kind, true as by_person, count(*) as rows from textrawl.event e where e.space_id = space and e.actor_id = any(actors)
        union all
        select 'space_grant', true, count(*) from textrawl.space_grant g where g.space_id = space and g.actor_id = any(actors)
        union all
        select 'space', null, count(*) from textrawl.space s where s.id = space and textrawl.names_person(s.name, textrawl.person_pattern(names))
        union all
        select 'encrypted_document', null, count(*) from textrawl.encrypted_document d where d.space_id = space
        union all
        select 'actor', true, count(*) from textrawl.actor a
        where a.id = any(actors) and not renames
          -- Who administers this space does not learn who writes only in others.
          and (exists (select from textrawl.event e where e.space_id = space and e.actor_id = a.id)
            or exists (select from textrawl.space_grant g where g.space_id = space and g.actor_id = a.id))) k
    where k.rows > 0;
end;

comment on function textrawl.kept_rows is
    'What an erasure leaves by decision: events of the trail without content, grants, the name of the space, the '
    'name of the actor unless the owner erases, and encrypted documents, which Postgres cannot read.';
