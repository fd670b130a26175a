create function textrawl.set_own_entity(
    entity text default null,  -- a name, an alias or an id; null: the caller is no entity any more
    spaces integer[] default null, credential bytea default null
) returns table (space text, entity_id uuid, entity_name text, entity_type text)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    scoped integer[] := readable_spaces(credential, spaces);
    author integer;
    chosen integer[];
begin
    if scoped = '{}' then
        return;
    end if;
    author := coalesce((select max(r.actor_id) from access_rights(credential) r), register_actor(session_user));
    if set_own_entity.entity is null then
        return query select o.* from own_entities(scoped, credential) o;
        delete from own_entity o where o.space_id = any(scoped) and o.actor_id = author;
        return;
    end if;
    with known as (
        insert into own_entity as o (space_id, actor_id, entity_id)
        select f.space_id, author, f.entity_id from find_entities(scoped, set_own_entity.entity) f
        on conflict (space_id, actor_id) do update set entity_id = excluded.entity_id
        returning o.space_id
    )
    select coalesce(array_agg(k.space_id), '{}') into chosen from known k;
    return query select o.* from own_entities(chosen, credential) o;
end
$$;

comment on function textrawl.set_own_entity is
    'Say which entity the caller is, in each of these spaces that has it. Other spaces do not change. In questions of the '
    'caller, I, my, we and such words then mean this entity. Returns the entities that were set or cleared. Needs only the '
    'scope read. Errors: TR010, TR011 (access). Example: select * from textrawl.set_own_entity(''Jeff'');';
