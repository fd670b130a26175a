create function textrawl.forget_proposals(
    space integer, name text, removed uuid[],  -- facts and relations that are forgotten
    whole boolean  -- true: the entity is forgotten with all proposals about it
) returns void
language sql volatile
begin atomic
    delete from textrawl.proposal p
    where p.space_id = space and p.id in (
        select t.id from textrawl.proposal t
        where t.space_id = space and whole and t.entity_key = any(textrawl.entity_keys(space, name))
        union all
        select t.id from textrawl.proposal t where t.space_id = space and whole and t.to_key = any(textrawl.entity_keys(space, name))
        union all
        select t.id from textrawl.proposal t where t.space_id = space and t.one = any(removed)
        union all
        select t.id from textrawl.proposal t where t.space_id = space and t.other = any(removed)
        union all
        select t.id from textrawl.proposal t
        join textrawl.entity e on e.space_id = t.space_id and e.id in (t.one, t.other)
        where t.space_id = space and whole and e.name_key = textrawl.entity_key(space, forget_proposals.name)
        union all
        select t.id from textrawl.proposal t where t.space_id = space and t.observation_id = any(removed)
        union all
        select t.id from textrawl.proposal t where t.space_id = space and t.relation_id = any(removed));
end;

comment on function textrawl.forget_proposals is
    'Delete the proposals that repeat the content of forgotten facts, relations or of a forgotten entity.';
