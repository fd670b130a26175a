create function textrawl.list_dismissals(
    max_rows integer default 50, skip integer default 0, spaces integer[] default null, credential bytea default null
) returns table (
    space text, kind text,
    one text, other text,  -- names of the entities, or texts of the facts; other is null for stale
    entity_name text,      -- of the facts
    author text, dismissed_at timestamptz,
    event bigint           -- for undo_event(); null if the row was imported
)
language sql stable security definer rows 50
set search_path from current
begin atomic
    select s.name, d.kind, coalesce(one.content, a.name), coalesce(other.content, b.name), holder.name, writer.name, d.created_at,
        (select max(e.id) from textrawl.event e
         where e.space_id = d.space_id and e.action = 'dismissed' and e.at = d.created_at and e.actor_id = d.author_id
           and e.detail ->> 'dismissal' = d.id::text)
    from unnest(textrawl.readable_spaces(credential, list_dismissals.spaces)) readable
    join textrawl.dismissal d on d.space_id = readable
    join textrawl.space s on s.id = d.space_id
    join textrawl.actor writer on writer.id = d.author_id
    left join textrawl.fact one on d.kind <> 'same' and one.space_id = d.space_id and one.id = d.one
    left join textrawl.fact other on d.kind = 'close' and other.space_id = d.space_id and other.id = d.other
    left join textrawl.entity holder on holder.space_id = d.space_id and holder.id = one.entity_id
    left join textrawl.entity a on d.kind = 'same' and a.space_id = d.space_id and a.id = d.one
    left join textrawl.entity b on d.kind = 'same' and b.space_id = d.space_id and b.id = d.other
    where one.id is not null or a.id is not null and b.id is not null
    order by d.created_at desc, d.id limit max_rows offset skip;
end;

comment on function textrawl.list_dismissals is
    'The candidates that somebody dismissed, the newest first. Errors: TR010, TR011 (access). '
    'Example: select kind, one, other, author from textrawl.list_dismissals();';
