create function textrawl.readable_spaces(credential bytea default null, spaces integer[] default null) returns integer[]
language plpgsql stable parallel safe security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    readable integer[];
begin
    select array_agg(r.space_id order by r.home desc, r.space_id) into readable
    from access_rights(credential) r where 'read' = any(r.scopes);
    if credential is not null and readable is null then
        perform refuse_access(credential, 'read');
    elsif not spaces <@ coalesce(readable, '{}') then
        perform refuse_access(credential, 'read');
    end if;
    return coalesce(spaces, readable, '{}');
end
$$;

comment on function textrawl.readable_spaces is
    'The spaces that a credential or this session can read, home space first. If spaces are given, only these spaces '
    'are checked and returned. Errors: TR010 (unknown credential), TR011 (not allowed). '
    'Example: select textrawl.readable_spaces();';
