create function textrawl.open_local_access(actor text) returns bytea
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    author integer := register_actor(open_local_access.actor);
    found  bytea;
begin
    if not owns_memory() then
        perform refuse_access(null, 'admin');
    end if;
    select t.hash into found from token t where t.actor_id = author and t.kind = 'local';
    if found is null then
        -- The hash of no token that anybody has: it is of use to none but who may call this.
        insert into token as t (hash, kind, actor_id, home_space_id, scopes)
        values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'local', author, default_space(),
                array['read', 'write', 'forget', 'admin', 'metrics'])
        on conflict (actor_id) where kind = 'local' do update set kind = t.kind
        returning t.hash into found;
    end if;
    return found;
end
$$;

comment on function textrawl.open_local_access is
    'The credential of a person on the machine of an embedded memory, who may do everything; for the memory''s owner only.';
