create function textrawl.require_owner() returns void
language plpgsql stable parallel safe
set search_path from current
as $$
begin
    if not owns_memory() then
        raise exception using errcode = 'TR013', message = 'only the owner of the memory may do this';
    end if;
end
$$;

comment on function textrawl.require_owner is
    'Raise TR013 unless this session belongs to the owner of the memory.';
