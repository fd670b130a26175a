create function textrawl.check_scopes(scopes text[]) returns text[]
language plpgsql immutable parallel safe
set search_path from current
as $$
declare
    known text[] := array['read', 'write', 'forget', 'admin', 'metrics'];
begin
    if scopes is null or scopes = '{}' or not scopes <@ known then
        raise exception using errcode = 'TR026', message = 'scopes are read, write, forget, admin and metrics, at least one of them',
            detail = coalesce(array_to_string(scopes, ', ', 'null'), '');
    end if;
    return array(select word from unnest(known) with ordinality as one(word, place) where word = any(scopes) order by place);
end
$$;

comment on function textrawl.check_scopes is
    'Scopes in their usual order, each once. Error TR026: none, or one that there is not.';
