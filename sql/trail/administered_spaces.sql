create function textrawl.administered_spaces(credential bytea default null, space integer default null) returns integer[]
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    administered integer[];
begin
    select array_agg(r.space_id order by r.space_id) into administered
    from access_rights(credential) r
    where 'admin' = any(r.scopes) and (administered_spaces.space is null or r.space_id = administered_spaces.space);
    if administered is null then
        perform refuse_access(credential, 'admin');
    end if;
    return administered;
end
$$;

comment on function textrawl.administered_spaces is
    'The spaces in which a credential has the scope admin. If a space is given, only this space is checked and '
    'returned. Errors: TR010 (unknown credential), TR011 (not allowed).';
