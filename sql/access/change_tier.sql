create function textrawl.change_tier(
    name text, tier text,
    recall_tokens integer default null,  -- most tokens of the graph in one answer; null: the default of its tier
    encrypting boolean default false,    -- true: the caller encrypts the sources of a graph that becomes sensitive
    credential bytea default null
) returns table (space text, new_tier text, cap integer)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    target_space integer := find_space(change_tier.name);
    current      space;
begin
    perform require_admin(credential, target_space);
    if change_tier.tier is null then
        raise exception using errcode = 'TR061', message = 'a graph has the tier public, personal or sensitive';
    end if;
    perform check_tier(change_tier.tier, change_tier.recall_tokens);
    if change_tier.tier = 'sensitive' then
        perform claim_removal();
    end if;
    select * into current from space s where s.id = target_space for update;
    if current.tier is null and (target_space = default_space() or exists (select from entity e where e.space_id = target_space)
                                 or exists (select from document d where d.space_id = target_space)) then
        raise exception using errcode = 'TR062', message = 'the space holds facts, so it cannot become a graph',
            detail = current.name;
    end if;
    if change_tier.tier = 'sensitive' and not encrypting and current.tier <> 'sensitive'
       and exists (select from source c where c.space_id = target_space) then
        raise exception using errcode = 'TR133', message = 'the sources of the graph are not encrypted', detail = current.name;
    elsif change_tier.tier <> 'sensitive' and exists (select from encrypted_document d where d.space_id = target_space) then
        raise exception using errcode = 'TR134', message = 'the documents of the graph are encrypted', detail = current.name;
    end if;
    update space s set tier = change_tier.tier, recall_tokens = change_tier.recall_tokens where s.id = target_space;
    -- A graph without sources can still have the paths of deleted ones. encrypt_source() does this for others.
    if change_tier.tier = 'sensitive' and current.tier <> 'sensitive'
       and not exists (select from source c where c.space_id = target_space) then
        perform wipe_graph(target_space);
    end if;
    return query select current.name, change_tier.tier, recall_cap(change_tier.tier, change_tier.recall_tokens);
end
$$;

comment on function textrawl.change_tier is
    'Change the tier of a graph and the number of its tokens in one answer, or make an empty space a graph. The next '
    'call of a client follows the new tier. The caller must be the owner or have the scope admin in the space. Errors: '
    'TR010, TR011 (access), TR020 (no such space), TR061 (not a valid tier or number of tokens), TR062 (the space holds '
    'facts), TR133 (sources are not encrypted: a command can encrypt them), TR134 (documents are encrypted). '
    'Example: select * from textrawl.change_tier(name => ''handbook'', tier => ''personal'');';
