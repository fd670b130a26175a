create function textrawl.use_alias(space integer, alias uuid) returns boolean
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted      entity_alias;
    placeholder uuid;
begin
    select * into wanted from entity_alias a where a.space_id = use_alias.space and a.id = use_alias.alias;
    -- An entity with the name holds the key until this transaction ends. So no session creates an entity with this name
    -- meanwhile. Advisory locks cannot do this, because every login could take them.
    placeholder := insert_entity(use_alias.space, wanted.name, wanted.name_key, 'concept', true);
    if placeholder is null then
        return false;
    end if;
    update entity_alias a set removed_at = null where a.space_id = use_alias.space and a.id = use_alias.alias;
    delete from entity e where e.space_id = use_alias.space and e.id = placeholder;
    return true;
end
$$;

comment on function textrawl.use_alias is
    'Begin to use an alias that was stored as removed. Return false if the name belongs to an entity or to another '
    'alias. Lock the entity of the alias first.';
