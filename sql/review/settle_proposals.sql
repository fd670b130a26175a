create function textrawl.settle_proposals(space integer, undo bigint, withdrawn bigint[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    state record;
begin
    for state in
        select t.* from proposal_states(
            space, array(select d.id from undone d
                         where d.space_id = settle_proposals.space and d.undo_id = settle_proposals.undo and d.kind = 'proposal'),
            withdrawn) t
        order by t.id
    loop
        -- A pin that a decision has made goes with the decision, and comes back with it unless it was gone before.
        with unpinned as (
            delete from pin f using proposal p
            where p.space_id = settle_proposals.space and p.id = state.id and p.kind = 'pin' and p.decision = 'accepted'
              and state.decision is null and f.space_id = p.space_id and f.fact_id = p.one and f.pinned_at <= p.decided_at
            returning p.space_id, p.id
        )
        update undone d set before = d.before || '{"pinned": true}' from unpinned u
        where d.space_id = u.space_id and d.undo_id = settle_proposals.undo and d.id = u.id;
        update proposal p
        -- The author may have proposed the same text again meanwhile. Then only the newer proposal is pending.
        set decision = coalesce(state.decision, twin.decision), decided_at = coalesce(state.decided_at, twin.decided_at),
            decided_by = state.decided_by, observation_id = state.observation_id, relation_id = state.relation_id
        from (select max('withdrawn') as decision, max(now()) as decided_at from proposal mine join proposal other
                  on other.space_id = mine.space_id and other.author_id = mine.author_id and other.kind = mine.kind
                  and other.entity_key = mine.entity_key and other.given_hash = mine.given_hash
                  and other.decision is null and other.id <> mine.id
              where mine.space_id = settle_proposals.space and mine.id = state.id) twin
        where p.space_id = settle_proposals.space and p.id = state.id;
        insert into pin (space_id, fact_id, author_id, pinned_at)
        select p.space_id, p.one, p.decided_by, p.decided_at
        from proposal p join undone d on d.space_id = p.space_id and d.undo_id = settle_proposals.undo and d.id = p.id
        where p.space_id = settle_proposals.space and p.id = state.id and p.decision = 'accepted'
          and case when d.before ? 'pinned' and pin_fault(p.space_id, p.one) is distinct from 'gone' then require_pin(p.space_id, p.one) end;
    end loop;
end
$$;

comment on function textrawl.settle_proposals is
    'Set the proposals of an undo to the states that follow from the events that are not withdrawn, for the undo and for '
    'its revert. Error TR115: a revert would pin too much.';
