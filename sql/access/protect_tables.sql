create function textrawl.protect_tables() returns void
language plpgsql volatile
set search_path from current
as $$
declare
    protected record;
begin
    for protected in
        select c.oid::regclass as name, pg_get_userbyid(c.relowner) as owner, c.relname,
            case when c.relname = 'space' then 'id' else 'space_id' end as space
        from pg_class c
        where c.relnamespace = 'textrawl'::regnamespace and c.relkind in ('r', 'p')
          and (c.relname in ('space', 'token') or exists (
              select from pg_attribute a where a.attrelid = c.oid and a.attname = 'space_id' and not a.attisdropped))
          and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'owner')
    loop
        execute format('alter table %s enable row level security', protected.name);
        execute format('alter table %s force row level security', protected.name);
        -- Functions run as the owner and restrict the spaces themselves. The condition of this policy is always true,
        -- so the planner removes it. Any other condition would stop these functions from using the text index.
        execute format('create policy owner on %s to %I using (true) with check (true)', protected.name, protected.owner);
        -- Nobody reads hashes of tokens and secrets of webhooks.
        if protected.relname not in ('token', 'webhook') then
            execute format(
                'create policy readers on %s for select using (%I = any((select textrawl.%I())::integer[]))',
                protected.name, protected.space,
                case when protected.relname = 'proposal' then 'session_reviews' else 'session_spaces' end);
        end if;
    end loop;
    -- Analysts who do not review see neither proposals nor the events and undone rows about proposals.
    if not exists (select from pg_policy p where p.polrelid = 'event'::regclass and p.polname = 'proposals') then
        create policy proposals on event as restrictive for select to textrawl_analyst
            using (not detail ? 'proposal' or action = 'accepted' or space_id = any((select session_reviews())::integer[]));
    end if;
    if not exists (select from pg_policy p where p.polrelid = 'undone'::regclass and p.polname = 'proposals') then
        create policy proposals on undone as restrictive for select to textrawl_analyst
            using (kind <> 'proposal' or space_id = any((select session_reviews())::integer[]));
    end if;
end
$$;

comment on function textrawl.protect_tables is
    'Add row-level security to the tables that have rows of spaces but no row-level security yet. Functions of the '
    'owner see all rows. Other sessions see the rows of the spaces that they can read. Only reviewers see proposals.';
