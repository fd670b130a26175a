create function textrawl.lock_graph_key(space integer, key uuid) returns void
language plpgsql volatile
set search_path from current
as $$
begin
    -- Until the transaction ends, no other session stores documents here or destroys the key.
    perform from graph_key k where k.space_id = lock_graph_key.space and k.id = lock_graph_key.key for update;
    if not found then
        raise exception using errcode = 'TR132', message = 'the graph has another key, or its key was destroyed';
    end if;
end
$$;

comment on function textrawl.lock_graph_key is
    'Lock the key of a graph. Error TR132: the graph has another key, or none.';
