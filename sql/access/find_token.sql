create function textrawl.find_token(name text) returns textrawl.token
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    matches token[];
begin
    matches := array(select t from token t
                     where t.kind = 'bearer' and (t.prefix = find_token.name or t.id::text = find_token.name)
                     order by t.id for update);
    if cardinality(matches) <> 1 then
        raise exception using errcode = 'TR022',
            message = format('%s tokens have the prefix or id %s', cardinality(matches), find_token.name),
            detail = coalesce(find_token.name, '');
    end if;
    return matches[1];
end
$$;

comment on function textrawl.find_token is
    'Find a token by its prefix or id, and lock it. Error TR022: no such token, or more than one token.';
