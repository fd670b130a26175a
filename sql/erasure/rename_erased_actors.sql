create function textrawl.rename_erased_actors(credential bytea default null) returns bigint
language plpgsql volatile security definer
set search_path from current
as $$
declare
    renamed bigint;
begin
    if not may_rename_actors(credential) then
        return 0;
    end if;
    update actor a set name = 'erased-' || a.id
    from erasure e
    where (e.receipt -> 'renames')::boolean
      and e.receipt -> 'actors' @> jsonb_build_array(jsonb_build_object('id', a.id, 'name', hmac_sha256(name_key(a.name), receipt_key(e.space_id))));
    get diagnostics renamed = row_count;
    if renamed > 0 then
        perform renew_statistics(array['actor']);
    end if;
    return renamed;
end
$$;

comment on function textrawl.rename_erased_actors is
    'Take the names of erased persons from their actors, and return how many were renamed. Their tokens and grants stay. Only the owner can do this; for anybody else nothing changes. '
    'Example: select textrawl.rename_erased_actors();';
