create function textrawl.export_facts(space integer)
returns table (
    kind text, space text, id uuid, entity uuid, text text, source text, confidence real,
    valid_from timestamptz, valid_until timestamptz, closed_at timestamptz, replaced_by uuid,
    author text, client text, tool text, request text, created_at timestamptz,
    said_at timestamptz,  -- null if the author did not give this time
    whole uuid, part smallint, confirmed_at timestamptz,
    evidence text, evidence_start integer,
    origin text,
    repository text, anchors text[]
)
language sql stable
begin atomic
    select 'fact'::text, s.name, o.id, o.entity_id, o.content, o.source, o.confidence,
        o.valid_from, o.valid_until, o.closed_at, o.replaced_by, a.name, o.client, o.tool, o.request, o.created_at,
        nullif(o.said_at, o.created_at), o.whole, o.part, o.confirmed_at, o.evidence, o.evidence_start,
        textrawl.find_origin(o.origin, o.tool, o.client, o.source),
        o.repository, o.anchors
    from textrawl.fact o
    join textrawl.space s on s.id = o.space_id
    join textrawl.actor a on a.id = o.author_id
    where o.space_id = export_facts.space
      -- The parts of a journal entry, and the chunks of a source, are made again from its text.
      and not exists (select from textrawl.document d where d.space_id = o.space_id and d.id = o.whole)
    order by o.ordinal, o.id;
end;

comment on function textrawl.export_facts is
    'Facts of a space as lines of an export, including facts that have ended. '
    'Example: select row_to_json(f) from textrawl.export_facts(1) f;';
