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
        order by d.space_id, d.id) l
    union all
    select row_to_json(l) from (
        select 'pin' as kind, s.name as space, p.fact_id as id, a.name as author, p.pinned_at
        from textrawl.pin p join textrawl.space s on s.id = p.space_id join textrawl.actor a on a.id = p.author_id
        where export_rows.kind = 'pin' and p.space_id = export_rows.space
        order by p.space_id, p.fact_id) l
    union all
    select row_to_json(l) from (
        select 'revision' as kind, s.name as space, r.observation_id as id, r.reason, a.name as author, r.client, r.tool, r.request,
            r.revised_at
        from textrawl.revision r join textrawl.space s on s.id = r.space_id join textrawl.actor a on a.id = r.actor_id
        where export_rows.kind = 'revision' and r.space_id = export_rows.space
        order by r.space_id, r.observation_id) l
    union all
    select row_to_json(l) from (
        select 'reflection' as kind, s.name as space, f.id, f.target_type, f.entity_id as entity, f.relation_id as edge,
            f.content as text, f.voice, f.mood, a.name as author, f.client, f.tool, f.request, f.created_at
        from textrawl.reflection f join textrawl.space s on s.id = f.space_id join textrawl.actor a on a.id = f.author_id
        where export_rows.kind = 'reflection' and f.space_id = export_rows.space
        order by f.space_id, f.id) l
    union all
    select row_to_json(l) from (
        -- encode() breaks lines.
        select 'ciphertext' as kind, s.name as space, d.id, k.id as key, d.version, encode(d.digest, 'hex') as digest,
            translate(encode(d.head, 'base64'), E'\n', '') as head, translate(encode(d.content, 'base64'), E'\n', '') as content,
            d.created_at, d.stored_at
        from textrawl.encrypted_document d join textrawl.space s on s.id = d.space_id join textrawl.graph_key k on k.space_id = d.space_id
        where export_rows.kind = 'ciphertext' and d.space_id = export_rows.space
        order by d.created_at, d.id) l
    union all
    select row_to_json(l) from (
        -- Of a journal entry, a source, and an item or an entry of a log are the values of their own tables.
        select 'document' as kind, s.name as space, d.id, d.kind as type, d.path, d.entity_id as entity, d.created_at, j.granularity,
            j.date, j.instance_id as instance, j.slug, c.source_kind, c.label, n.labels as namespace, i.key, i.position, i.expires_at
        from textrawl.document d join textrawl.space s on s.id = d.space_id
        left join textrawl.journal_entry j on j.space_id = d.space_id and j.document_id = d.id
        left join textrawl.source c on c.space_id = d.space_id and c.document_id = d.id
        left join textrawl.item i on i.space_id = d.space_id and i.document_id = d.id
        left join textrawl.item_namespace n on n.space_id = i.space_id and n.id = i.namespace_id
        where export_rows.kind = 'document' and d.space_id = export_rows.space and textrawl.is_unexpired(i.expires_at)
        order by d.created_at, d.id) l
    union all
    select row_to_json(l) from (
        select 'version' as kind, s.name as space, textrawl.version_key(v.created_at, v.content) as id, v.document_id as document,
            v.number, v.content as text, d.kind in ('item', 'log') as exact, v.attributes, v.lost,
            d.version is not distinct from v.version as current, v.modified_at, v.modified_by, a.name as author, v.client, v.tool,
            v.request, v.created_at
        from textrawl.document_version v
        join textrawl.document d on d.space_id = v.space_id and d.id = v.document_id
        join textrawl.space s on s.id = v.space_id join textrawl.actor a on a.id = v.author_id
        left join textrawl.item i on i.space_id = d.space_id and i.document_id = d.id
        where export_rows.kind = 'version' and v.space_id = export_rows.space and textrawl.is_unexpired(i.expires_at)
        order by v.version, v.document_id) l;
end;

comment on function textrawl.export_rows is
    'The rows of a space as lines of an export of one kind of content_tables(): memory (tags, uses and status of a fact), '
    'snapshot (which names the version that it keeps), node or edge (the values that the entity or the relation does not '
    'have), document (without its texts), version (all texts, in the order in which they were stored; without a text, it '
    'deletes the document), ciphertext (still encrypted) and others. Aliases, entities, facts and relations have functions of '
    'their own. Example: select export_rows from textrawl.export_rows(1, ''link'');';
