create function textrawl.open_write(
    credential bytea, space integer, scope text, client text, tool text, request text,
    graphs boolean default false,    -- true: the space may be a graph
    proposing boolean default false  -- true: a caller without the scope may have propose; "proposed" of the origin is then true
) returns textrawl.origin
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    allowed integer[];
    chosen  integer := space;
    author  integer;
    only_proposing integer[];
begin
    select array_agg(r.space_id), coalesce(chosen, max(r.space_id) filter (where r.home)), max(r.actor_id),
        array_agg(r.space_id) filter (where not open_write.scope = any(r.scopes))
    into allowed, chosen, author, only_proposing
    from access_rights(credential) r join space s on s.id = r.space_id
    -- A graph is never chosen, but it can be the given space or the home space, and is refused below.
    where (open_write.scope = any(r.scopes) or proposing and 'propose' = any(r.scopes)) and (s.tier is null or r.home or r.space_id = open_write.space);
    -- If a token has a home space but cannot use it, the token must not write to another space instead.
    if chosen is null and cardinality(allowed) = 1
       and not exists (select from token t where t.hash = credential and t.home_space_id is not null) then
        chosen := allowed[1];
    elsif chosen is null and cardinality(allowed) > 1
       and not exists (select from token t where t.hash = credential and t.home_space_id is not null) then
        raise exception using errcode = 'TR012', message = 'name the space to write to';
    end if;
    if chosen is null and allowed is null and not graphs then
        -- A caller that can write only to graphs learns that this tool does not. Sensitive graphs are never named.
        perform refuse_graphs(array(
            select r.space_id from access_rights(credential) r join space s on s.id = r.space_id
            where open_write.scope = any(r.scopes) and s.tier <> 'sensitive'));
    end if;
    if chosen is null or not chosen = any(coalesce(allowed, '{}')) then
        if scope = 'write' and exists (
            select from access_rights(credential) r
            where 'propose' = any(r.scopes) and (chosen is null or r.space_id = chosen)) then
            raise exception using errcode = 'TR015', message = 'this caller can only propose', detail = scope;
        end if;
        perform refuse_access(credential, scope);
    end if;
    if not graphs then
        perform refuse_graphs(array[chosen]);
    end if;
    return row(chosen, coalesce(author, register_actor(session_user)), client, tool, request,
               chosen = any(coalesce(only_proposing, '{}')))::origin;
end
$$;

comment on function textrawl.open_write is
    'Determine the space and the author of a call that needs a scope. The space is the given space, otherwise the home '
    'space of the credential, otherwise the only space in which the credential has the scope. Errors: TR010 (unknown '
    'credential), TR011 (not allowed), TR012 (more than one space to choose from), TR015 (the caller can only propose, and this function stores no proposals), TR060 (the space is a graph).';
