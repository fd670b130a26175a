create function textrawl.open_local_access(actor text) returns bytea
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    author     integer := register_actor(open_local_access.actor);
    local_hash bytea;
begin
    if not owns_memory() then
        perform refuse_access(null, 'admin');
    end if;
    select t.hash into local_hash from token t where t.actor_id = author and t.kind = 'local';
    if local_hash is null then
        -- Store the hash of a random value that nobody keeps. So no access token has this hash, and only sessions that
        -- can call this function can get the hash.
        insert into token as t (hash, kind, actor_id, home_space_id, scopes)
        values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'local', author, default_space(),
                array['read', 'propose', 'write', 'forget', 'review', 'admin', 'metrics'])
        -- Another session can be faster. Then this update, which changes nothing, returns the hash that it stored.
        on conflict (actor_id) where kind = 'local' do update set kind = t.kind
        returning t.hash into local_hash;
    end if;
    return local_hash;
end
$$;

comment on function textrawl.open_local_access is
    'The credential of the person who owns an embedded memory. The credential has all scopes in every space. Only '
    'the owner of the memory can call this function.';
