create function textrawl.erasure_rows(
    space integer, pattern text, entities uuid[], actors integer[],
    keep text default null, before timestamptz default null
) returns table (
    kind text, key text, own boolean, redacted boolean, sample text
)
language sql stable
begin atomic
    with hit as materialized (
        select h.* from textrawl.erasure_hits(space, pattern, entities, actors, before) h
        -- What others wrote stays with keep = others, and what the person wrote about others with keep = own.
        where keep is null or keep = 'others' and h.own or keep = 'own' and h.about
    ), fact as (
        select o.id, o.entity_id, o.whole, o.relation_id, h.own, h.sample from hit h
        join textrawl.observation o on o.space_id = space and o.id = h.key::uuid
        where h.kind in ('observation', 'retention') and not h.redacted
    ), version as (
        select h.*, v.document_id, d.kind as document_kind, d.version is not distinct from v.version as is_current
        from hit h
        join textrawl.document_version v on v.space_id = space and v.document_id = split_part(h.key, ':', 1)::uuid and v.version = split_part(h.key, ':', 2)::bigint
        join textrawl.document d on d.space_id = space and d.id = v.document_id
        where h.kind = 'document_version' and not h.redacted
    ), chunk as (
        -- Of a source that others wrote, only the chunks go that name the person.
        select o.id, o.whole as document_id, f.own, f.sample from fact f
        join textrawl.observation o on o.space_id = space and o.id = f.id
        join textrawl.chunk c on c.space_id = space and c.observation_id = o.id
    ), document as (
        select h.key::uuid as id, h.own, h.sample from hit h where h.kind in ('document', 'journal_entry', 'source', 'item')
        union all
        select i.document_id, h.own, h.sample from hit h
        join textrawl.item i on i.space_id = space and i.namespace_id = h.key::uuid where h.kind = 'item_namespace'
        union all
        select v.document_id, v.own, v.sample from version v
        where v.is_current and (v.own or v.document_kind <> 'source' or not exists (select from chunk c where c.document_id = v.document_id))
        union all
        select d.id, f.own, f.sample from fact f
        join textrawl.document d on d.space_id = space and d.id = f.whole
        where not exists (select from chunk c where c.id = f.id)
    ), target as (
        select h.kind, h.key, h.own, h.redacted, h.sample from hit h
        where h.redacted or h.kind not in ('observation', 'retention', 'document', 'journal_entry', 'source', 'item', 'document_version')
        union all
        select 'relation', f.relation_id::text, f.own, false, f.sample from fact f where f.relation_id is not null
        union all
        -- A long text goes with all its parts.
        select 'observation', o.id::text, f.own, false, coalesce(nullif(o.content, ''), f.sample) from fact f
        join textrawl.observation o on o.space_id = space and (o.id = f.id or f.whole is not null and o.whole = f.whole and o.entity_id = f.entity_id)
        where f.relation_id is null and not exists (select from textrawl.document d where d.space_id = space and d.id = f.whole)
        union all
        select 'document', d.id::text, d.own, false, d.sample from document d
        union all
        select 'chunk', c.id::text, c.own, false, c.sample from chunk c where not exists (select from document d where d.id = c.document_id)
        union all
        select 'document_version', v.key, v.own, false, v.sample from version v
        where not v.is_current and not exists (select from document d where d.id = v.document_id)
    )
    select t.kind, t.key, bool_or(t.own), t.redacted,
        -- A relation has its type and its sentence.
        (array_agg(left(t.sample, 120) order by length(t.sample) desc, t.sample))[1]
    from target t
    -- A row that goes needs no redaction.
    where not t.redacted or not exists (select from target gone where not gone.redacted and gone.kind = t.kind and gone.key = t.key)
    group by t.kind, t.key, t.redacted;
end;

comment on function textrawl.erasure_rows is
    'The rows that an erasure deletes or redacts in a space, by table (chunk: a part of a source). A redacted row keeps everything but the text that names the '
    'person. keep: null, others (what others wrote stays) or own (what the person wrote about others stays).';
