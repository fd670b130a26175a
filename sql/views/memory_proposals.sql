create view textrawl.memory_proposals with (security_invoker) as
select s.name as space, p.kind, p.entity_name, textrawl.proposal_text(p.content, p.relation_type, p.to_name) as content,
       a.name as author, p.client, p.created_at,
       coalesce(p.decision, case when textrawl.is_pending(p.decision, p.created_at, s.proposal_days) then 'pending' else 'expired' end) as state,
       p.decided_at, d.name as decided_by, case when p.decision = 'rejected' then p.reason end as reason,
       p.observation_id, p.relation_id, p.id, p.finding, p.evidence
from textrawl.proposal p
join textrawl.space s on s.id = p.space_id
join textrawl.actor a on a.id = p.author_id
left join textrawl.actor d on d.id = p.decided_by;

comment on view textrawl.memory_proposals is 'Proposals of the spaces in which the actor of the login has the scopes read and review. '
    'Other logins see no row.';
comment on column textrawl.memory_proposals.space is 'Name of the space.';
comment on column textrawl.memory_proposals.kind is 'fact, relation, merge, end or pin.';
comment on column textrawl.memory_proposals.entity_name is 'Name of the entity, as the author gave it.';
comment on column textrawl.memory_proposals.content is 'The fact, or the words of the relation or merge.';
comment on column textrawl.memory_proposals.author is 'Actor who proposed.';
comment on column textrawl.memory_proposals.client is 'Name and version of the MCP client; null if it was proposed from SQL.';
comment on column textrawl.memory_proposals.created_at is 'Time when it was proposed.';
comment on column textrawl.memory_proposals.state is
    'pending, accepted, rejected, withdrawn (an undo took back what the author proposed) or expired.';
comment on column textrawl.memory_proposals.decided_at is 'Time of the decision; null if it is pending.';
comment on column textrawl.memory_proposals.decided_by is 'Actor who accepted or rejected it.';
comment on column textrawl.memory_proposals.reason is 'Why it was rejected.';
comment on column textrawl.memory_proposals.observation_id is 'The fact that it became.';
comment on column textrawl.memory_proposals.relation_id is 'The relation that it became.';
comment on column textrawl.memory_proposals.id is 'Id of the proposal.';
comment on column textrawl.memory_proposals.finding is 'What `textrawl tidy` found, or pin; null if somebody proposed it.';
comment on column textrawl.memory_proposals.evidence is 'The reason of the finding or pin, or the sentence in which an LLM found it.';
