create function textrawl.decide_proposals(
    proposals text[],          -- ids, or the first 8 or more characters of ids
    decision text,             -- accept or reject
    reason text default null,  -- reject: why, for the author
    space integer default null, credential bytea default null,
    client text default null, tool text default 'sql', request text default null
)
returns table (
    id uuid, state text, entity_name text,
    observation_id uuid, relation_id uuid,  -- accept: what is stored now
    duplicate boolean                       -- accept: it was stored already
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    spaces integer[] := reviewed_spaces(credential, decide_proposals.space);
    chosen record;
    origin origin;
begin
    if spaces = '{}' then
        perform refuse_access(credential, 'review');
    elsif decide_proposals.decision is null or decide_proposals.decision not in ('accept', 'reject')
        or decide_proposals.decision = 'reject' and coalesce(char_length(btrim(decide_proposals.reason)), 0) not between 1 and 500 then
        raise exception using errcode = 'TR017', message = 'the decision is accept or reject, and a rejection has a reason';
    end if;
    for chosen in
        select f.space_id, array_agg(f.id) as ids from find_proposals(proposals, spaces) f group by f.space_id order by f.space_id
    loop
        origin := open_write(credential, chosen.space_id, 'review', client, tool, request);
        if decide_proposals.decision = 'accept' then
            -- To accept is to store, so the caller needs this scope too.
            perform open_write(credential, chosen.space_id, 'write', client, tool, request);
            return query select a.id, 'accepted', a.entity_name, a.observation_id, a.relation_id, a.duplicate
                from accept_proposals(chosen.space_id, chosen.ids, origin) a;
        else
            return query select r.id, 'rejected', r.entity_name, null::uuid, null::uuid, false
                from reject_proposals(chosen.space_id, chosen.ids, btrim(decide_proposals.reason), origin) r;
        end if;
    end loop;
end
$$;

comment on function textrawl.decide_proposals is
    'Accept or reject pending proposals, all or nothing. An accepted fact is stored now, with the author of the proposal '
    'as its author. The caller needs the scopes read and review, and to accept also write. plan_decision() shows what '
    'accepting would store. Errors: TR010, TR011 (access), TR016 (not a pending proposal), TR017 (the decision is wrong, '
    'or the reason does not have 1 to 500 characters), TR008 (a proposal can no longer be stored). '
    'Example: select * from textrawl.decide_proposals(array[''0b5c9e1f''], ''accept'');';
