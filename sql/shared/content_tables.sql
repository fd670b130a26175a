create function textrawl.content_tables() returns table (
    name text,
    kind text,     -- of the lines of an export that have the rows; null: none of their own
    key text,      -- the key of a row without its space
    author text,   -- expression for the actor; null: the rows have no author
    about text,    -- condition for rows about the entities $1; null: none
    texts text,    -- columns that can name a person: an erasure deletes such a row; null: none
    emptied text   -- columns that an erasure empties instead; null: none, apart from `client` and `request`
)
language sql immutable parallel safe
begin atomic
    values
        ('entity', 'entity', 'id', null, 'id = any($1)', 'name', 'description, metadata'),
        ('entity_alias', 'alias', 'id', 'author_id', 'entity_id = any($1)', 'name', null),
        ('relation', 'relation', 'id', 'author_id', '$1 && array[from_entity, to_entity]', 'relation_type, label', null),
        ('observation', 'fact', 'id', 'author_id', 'entity_id = any($1)', 'content', 'evidence'),
        ('retention', 'memory', 'observation_id', null, null, 'tags, entities, source, context, extra, promoted_to', null),
        ('reflection', 'reflection', 'id', 'author_id', 'entity_id = any($1)', 'content, voice, mood', null),
        ('proposal', null, 'id', 'author_id', null, 'entity_name, entity_type, content, relation_type, to_name, to_type, replaces, reason, evidence', null),
        ('document', 'document', 'id', null, 'entity_id = any($1)', 'path', null),
        ('document_version', 'version', 'document_id || '':'' || version', 'author_id', null, 'content, attributes, modified_by', null),
        ('document_tombstone', null, 'kind || '':'' || path', null, null, 'path', null),
        ('journal_entry', null, 'document_id', null, null, 'date, slug, instance_id', null),
        ('identity_snapshot', 'snapshot', 'id', null, null, 'id, source', null),
        ('source', null, 'document_id', null, null, 'label', null),
        ('correction', null, 'id', 'author_id', null, 'proposal, original_text, proposed_text, mode', null),
        ('item', null, 'document_id', null, null, 'key, fields', null),
        ('item_namespace', null, 'id', null, null, 'labels', null),
        ('merge', null, 'id', null, null, 'entity, former, given', null),
        ('undone', null, 'undo_id || '':'' || id || '':'' || action', '(before ->> ''author_id'')::integer', null, 'names, entities, before, after', null),
        ('graph_change', null, 'event_id', null, null, 'before, after', null),
        ('recall', null, 'id', 'actor_id', null, 'query', null),
        ('imported_item', null, 'system || '':'' || source_id', null, null, 'source_id', null),
        ('instance', 'instance', 'id', null, null, 'id, instance_type, name, version', null),
        ('summary_clause', null, 'entity_id || '':'' || place', null, null, 'content', null),
        ('own_entity', null, 'actor_id', 'actor_id', 'entity_id = any($1)', '', null),
        ('webhook', null, 'id', null, null, 'url, host', null),
        ('graph_node', 'node', 'entity_id', null, null, null, 'label, label_key, properties, instance, memory'),
        ('graph_edge', 'edge', 'relation_id', null, null, null, 'evidence, properties, instance'),
        ('memory_link', 'link', 'id', null, null, null, 'metadata'),
        ('revision', 'revision', 'observation_id', 'actor_id', null, null, 'reason'),
        ('dismissal', 'dismissal', 'id', 'author_id', null, null, null),
        ('pin', 'pin', 'fact_id', 'author_id', null, null, null),
        ('encrypted_document', 'ciphertext', 'id', null, null, null, null),
        ('extraction_total', null, 'space_id', null, null, null, 'last_error'),
        ('event', null, 'id', null, null, null, 'detail');
end;

comment on function textrawl.content_tables is
    'The tables with what a space holds: the lines of an export that have their rows, and what an erasure does with them. A '
    'test compares this list with the tables. Example: select name, key from textrawl.content_tables() where kind = ''link'';';
