create function textrawl.list_analysts()
returns table (
    login text,
    actor text,            -- null if the login belongs to no actor of this memory
    spaces text,           -- names of the spaces that the login can read
    sessions bigint,       -- number of open sessions
    most_sessions integer  -- connection limit of the login; null: no limit
)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    return query
        select r.rolname::text, a.name,
            (select string_agg(s.name, ', ' order by s.name) from space_grant g join space s on s.id = g.space_id
             where g.actor_id = a.id and 'read' = any(g.scopes) and s.archived_at is null),
            (select count(*) from pg_stat_activity p where p.usesysid = r.oid),
            nullif(r.rolconnlimit, -1)
        from pg_roles r left join actor a on a.role_name = r.rolname
        where r.rolcanlogin and pg_has_role(r.oid, 'textrawl_analyst', 'member') and not r.rolsuper
          -- Servers have the role for statements of the explorer.
          and not pg_has_role(r.oid, 'textrawl_app', 'member')
          and not exists (select from pg_namespace n where n.nspname = 'textrawl' and pg_has_role(r.oid, n.nspowner, 'member'))
        order by r.rolname;
end
$$;

comment on function textrawl.list_analysts is
    'The logins of analysts on this database server. Error TR013: not the owner of the memory. '
    'Example: select * from textrawl.list_analysts();';
