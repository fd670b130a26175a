create function textrawl.list_spaces()
returns table (
    name text, created_at timestamptz, archived_at timestamptz,
    facts bigint,    -- valid facts
    members bigint,  -- actors with a grant
    own_index text   -- its own vector index: ready, unfinished, or null if it has none
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    return query
        select s.name, s.created_at, s.archived_at,
            (select count(*) from observation o where o.space_id = s.id and is_valid(o.valid_from, o.valid_until)),
            (select count(*) from space_grant g where g.space_id = s.id),
            (select case when bool_and(i.valid) then 'ready' else 'unfinished' end
             from own_indexes() i where i.space_id = s.id having count(*) > 0)
        from space s order by s.archived_at is not null, s.name;
end
$$;

comment on function textrawl.list_spaces is
    'All spaces with their valid facts and members, archived ones last. Error TR013: not the owner. '
    'Example: select * from textrawl.list_spaces();';
