create function textrawl.export_memories(space integer)
returns table (
    kind text, space text, id uuid, saved boolean, tags text[], entities text[], source text, context text, extra jsonb,
    strength double precision, use_count integer, last_used timestamptz, status text, ended_at timestamptz,
    promoted_at timestamptz, promoted_to text, last_review_at timestamptz, review_count integer, cross_domain_count integer
)
language sql stable
begin atomic
    select 'memory'::text, s.name, r.observation_id, r.saved, r.tags, r.entities, r.source, r.context, r.extra,
        r.strength, r.use_count, r.last_used, r.status, r.ended_at,
        r.promoted_at, r.promoted_to, r.last_review_at, r.review_count, r.cross_domain_count
    from textrawl.retention r
    join textrawl.space s on s.id = r.space_id
    where r.space_id = export_memories.space
      and not exists (
          select from textrawl.fact o join textrawl.document d on d.space_id = o.space_id and d.id = o.whole
          where o.space_id = r.space_id and o.id = r.observation_id)
    order by r.space_id, r.observation_id;
end;

comment on function textrawl.export_memories is
    'Tags, uses and status of the memories of a space, as lines of an export. The facts have the texts. '
    'Example: select row_to_json(m) from textrawl.export_memories(1) m;';
