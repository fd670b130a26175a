create function textrawl.check_scopes(scopes text[]) returns text[]
language plpgsql immutable parallel safe
set search_path from current
as $$
declare
    all_scopes text[] := array['read', 'propose', 'write', 'forget', 'review', 'admin', 'metrics'];
begin
    if scopes is null or scopes = '{}' or not scopes <@ all_scopes then
        raise exception using errcode = 'TR026', message = 'scopes must be one or more of read, propose, write, forget, review, admin and metrics',
            detail = coalesce(array_to_string(scopes, ', ', 'null'), '');
    end if;
    return array(select word from unnest(all_scopes) with ordinality as scope(word, item_number) where word = any(scopes) order by item_number);
end
$$;

comment on function textrawl.check_scopes is
    'Sort scopes (read, propose, write, forget, review, admin, metrics) and remove duplicates. Error TR026: no scope, or an unknown scope.';
