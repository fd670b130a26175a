create function textrawl.erasure_tables() returns table (
    name text, key text,    -- the key of a row without its space
    author text,            -- expression for the actor; null: the rows have no author
    about text,             -- condition for rows about the entities $1; null: none
    texts text,             -- columns that can name a person
    redacted boolean        -- false: such a row is deleted. true: only these columns are emptied
)
language sql immutable parallel safe
begin atomic
    values
        ('entity', 'id', null, 'id = any($1)', 'name', false),
        ('entity_alias', 'id', 'author_id', 'entity_id = any($1)', 'name', false),
        ('relation', 'id', 'author_id', '$1 && array[from_entity, to_entity]', 'relation_type, label', false),
        ('observation', 'id', 'author_id', 'entity_id = any($1)', 'content', false),
        ('retention', 'observation_id', null, null, 'tags, entities, source, context, extra, promoted_to', false),
        ('reflection', 'id', 'author_id', 'entity_id = any($1)', 'content, voice, mood', false),
        ('proposal', 'id', 'author_id', null, 'entity_name, entity_type, content, relation_type, to_name, to_type, replaces, reason, evidence', false),
        ('document', 'id', null, 'entity_id = any($1)', 'path', false),
        ('document_version', 'document_id || '':'' || version', 'author_id', null, 'content, attributes, modified_by', false),
        ('document_tombstone', 'kind || '':'' || path', null, null, 'path', false),
        ('journal_entry', 'document_id', null, null, 'date, slug, instance_id', false),
        ('identity_snapshot', 'id', null, null, 'id, source', false),
        ('source', 'document_id', null, null, 'label', false),
        ('correction', 'id', 'author_id', null, 'proposal, original_text, proposed_text, mode', false),
        ('item', 'document_id', null, null, 'key, fields', false),
        ('item_namespace', 'id', null, null, 'labels', false),
        ('merge', 'id', null, null, 'entity, former, given', false),
        ('undone', 'undo_id || '':'' || id || '':'' || action', '(before ->> ''author_id'')::integer', null, 'names, entities, before, after', false),
        ('graph_change', 'event_id', null, null, 'before, after', false),
        ('recall', 'id', 'actor_id', null, 'query', false),
        ('imported_item', 'system || '':'' || source_id', null, null, 'source_id', false),
        ('instance', 'id', null, null, 'id, instance_type, name, version', false),
        ('summary_clause', 'entity_id || '':'' || place', null, null, 'content', false),
        ('own_entity', 'actor_id', 'actor_id', 'entity_id = any($1)', '', false),
        ('webhook', 'id', null, null, 'url, host', false),
        ('entity', 'id', null, null, 'description, metadata', true),
        ('observation', 'id', null, null, 'evidence', true),
        ('graph_node', 'entity_id', null, null, 'label, label_key, properties, instance, memory', true),
        ('graph_edge', 'relation_id', null, null, 'evidence, properties, instance', true),
        ('memory_link', 'id', null, null, 'metadata', true),
        ('revision', 'observation_id', 'actor_id', null, 'reason', true),
        ('extraction_total', 'space_id', null, null, 'last_error', true),
        ('event', 'id', null, null, 'detail', true)
    union all
    -- Clients state their own names and the ids of their requests.
    select t, 'tool', null, null, 'client, request', true
    from unnest('{entity_alias,relation,observation,revision,reflection,proposal,document_version,correction,recall,event,dismissal}'::text[]) t;
end;

comment on function textrawl.erasure_tables is
    'What an erasure does with each table that can name a person. A test compares this list with the catalogue.';
