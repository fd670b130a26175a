create function textrawl.export_rows(space integer, kind text) returns setof json
language sql stable
begin atomic
    select row_to_json(l) from (
        select 'memory' as kind, s.name as space, r.observation_id as id, r.saved, r.tags, r.entities, r.source, r.context,
            r.extra, r.strength, r.use_count, r.last_used, r.status, r.ended_at, r.promoted_at, r.promoted_to, r.last_review_at,
            r.review_count, r.cross_domain_count
        from textrawl.retention r join textrawl.space s on s.id = r.space_id
        where export_rows.kind = 'memory' and r.space_id = export_rows.space
          and not exists (
              select from textrawl.fact o join textrawl.document d on d.space_id = o.space_id and d.id = o.whole
              where o.space_id = r.space_id and o.id = r.observation_id)
        order by r.space_id, r.observation_id) l
    union all
    select row_to_json(l) from (
        select 'link' as kind, s.name as space, k.id, k.from_id as from_memory, k.to_id as to_memory,
            k.relation_type as relation, k.strength, k.metadata, k.created_at
        from textrawl.memory_link k join textrawl.space s on s.id = k.space_id
        where export_rows.kind = 'link' and k.space_id = export_rows.space
        order by k.space_id, k.id) l
    union all
    select row_to_json(l) from (
        select 'instance' as kind, s.name as space, i.id, i.instance_type, i.name, i.version, i.created_at, i.last_sync
        from textrawl.instance i join textrawl.space s on s.id = i.space_id
        where export_rows.kind = 'instance' and i.space_id = export_rows.space
        order by i.id) l
    union all
    select row_to_json(l) from (
        select 'snapshot' as kind, s.name as space, n.id, n.document_id as document,
            textrawl.version_key(v.created_at, v.content) as version, n.reason, n.source, n.pinned, n.created_at
        from textrawl.identity_snapshot n join textrawl.space s on s.id = n.space_id
        join textrawl.document_version v
            on v.space_id = n.space_id and v.document_id = n.document_id and v.version = n.version
        where export_rows.kind = 'snapshot' and n.space_id = export_rows.space
        order by n.created_at, n.id) l
    union all
    select row_to_json(l) from (
        select 'node' as kind, s.name as space, n.entity_id as id, n.label, n.description_id as described_by, n.confidence,
            n.properties, n.instance, n.memory, n.first_learned_at, n.last_confirmed_at, n.version, n.deleted_at
        from textrawl.graph_node n join textrawl.space s on s.id = n.space_id
        where export_rows.kind = 'node' and n.space_id = export_rows.space
        order by n.space_id, n.entity_id) l
    union all
    select row_to_json(l) from (
        select 'edge' as kind, s.name as space, d.relation_id as id, d.evidence, d.properties, d.instance, d.occurred_at,
            d.last_confirmed_at, d.version, d.deleted_at
        from textrawl.graph_edge d join textrawl.space s on s.id = d.space_id
        where export_rows.kind = 'edge' and d.space_id = export_rows.space
        order by d.space_id, d.relation_id) l
    union all
    select row_to_json(l) from (
        select 'dismissal' as kind, s.name as space, d.id, d.kind as candidate, d.one, d.other, a.name as author, d.client, d.tool,
            d.request, d.created_at
        from textrawl.dismissal d join textrawl.space s on s.id = d.space_id join textrawl.actor a on a.id = d.author_id
        where export_rows.kind = 'dismissal' and d.space_id = export_rows.space
        order by d.space_id, d.id) l;
end;

comment on function textrawl.export_rows is
    'Rows that belong to facts, entities, relations or documents, as lines of an export of one kind: memory (tags, uses and '
    'status of a fact), link (between memories), instance, snapshot (which names the version that it keeps), node or edge (the '
    'values that the entity or the relation does not have), or dismissal (of a candidate). Example: select export_rows from textrawl.export_rows(1, ''link'');';
