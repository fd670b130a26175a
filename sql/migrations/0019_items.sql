-- Items and logs that programs keep: values under a namespace and a key, and values in the order in which they were
-- appended. Each is a document, so undo, purge, export and backup know them.

alter table document drop constraint document_kind_check;
alter table document add constraint document_kind_check check (kind in ('identity', 'journal', 'source', 'item', 'log'));
comment on column document.kind is 'identity, journal, source, item (a value under a key) or log (an entry of a log).';
comment on column document.path is 'Key of the document in its space: category/filename of an identity file, granularity/date of a journal entry, with its instance or slug, file/path of an ingested file, clip/id of a remembered text, or the namespace and key of an item as JSON.';
comment on column document.entity_id is 'Entity whose facts are the parts of a journal entry or the chunks of a source. Deleting the entity deletes the document. Null: an identity file or an item.';
comment on column document_version.version is 'Number of the change, from document_clock. Of an item or an entry of a log: its own number.';
comment on column document_version.content is 'The text, or the JSON of an item exactly as it was given. Null: this version deletes the document.';
comment on column document_version.attributes is 'For a journal entry: chat_ids, participants and the first instance of the text. For an identity file: label, its prompt label. If it is missing, the label is the filename without .md. For a source: sha256, the hash of the file or the text, and chunks, a list of [part, start, length, tokens]. start is the number of characters before the chunk. For an item: metadata, its JSON as a text, ttl, the time to live in seconds, and index, what search reads.';

-- No other program has to learn that an item was deleted.
drop trigger document_is_buried on document;
create trigger document_is_buried after delete on document
for each row when (old.kind not in ('item', 'log')) execute function bury_document();

create table item_namespace (
    space_id integer not null references space,
    id       uuid not null default gen_random_uuid(),
    labels   text[] collate "C" not null,
    appended bigint not null default 0 check (appended >= 0),
    primary key (space_id, id),
    unique (space_id, labels)
);
comment on table item_namespace is 'A namespace with items or with a log.';
comment on column item_namespace.space_id is 'Space of the namespace.';
comment on column item_namespace.id is 'Id of the namespace.';
comment on column item_namespace.labels is 'Labels of the namespace, the outermost first, compared exactly.';
comment on column item_namespace.appended is 'Position of the last entry that was appended to the log of the namespace.';

create table item (
    space_id     integer not null,
    document_id  uuid not null,
    namespace_id uuid not null,
    key          text collate "C" check (char_length(key) between 1 and 500),
    position     bigint check (position > 0),
    present      boolean not null default false,
    created_at   timestamptz check (isfinite(created_at)),
    updated_at   timestamptz check (isfinite(updated_at)),
    expires_at   timestamptz,
    fields       jsonb,
    fts          tsvector,
    primary key (space_id, document_id),
    unique (space_id, namespace_id, key),
    unique (space_id, namespace_id, position),
    foreign key (space_id, document_id) references document on delete cascade,
    foreign key (space_id, namespace_id) references item_namespace,
    check (num_nonnulls(key, position) = 1),
    check (not present or num_nonnulls(created_at, updated_at) = 2)
);
comment on table item is 'The place of an item or of an entry of a log, and what is found by its present value. The values are in document_version.';
comment on column item.space_id is 'Space of the item.';
comment on column item.document_id is 'The document with the values.';
comment on column item.namespace_id is 'Namespace of the item.';
comment on column item.key is 'Key of the item in its namespace, compared exactly. Null: an entry of a log.';
comment on column item.position is 'Place of an entry of a log, in the order of appending. Null: an item.';
comment on column item.present is 'False: the item is deleted, or an undo took back all its values.';
comment on column item.created_at is 'When the item was first stored after it had not been there. Null: it was never present.';
comment on column item.updated_at is 'When the present value was stored.';
comment on column item.expires_at is 'From this instant on, nobody sees the item or its former values. Null: it does not expire.';
comment on column item.fields is 'The present value and metadata for filters, with U+FFFD in place of U+0000. Null: an entry of a log.';
comment on column item.fts is 'Words of the present value, with the space as ~s<space>. Null: search does not find the item.';
create index item_updated_idx on item (space_id, updated_at desc) where present and key is not null;
create index item_expiry_idx on item (space_id, expires_at) where expires_at is not null;
create index item_absent_idx on item (space_id) where not present;
create index item_fields_idx on item using gin (fields jsonb_path_ops) with (fastupdate = off);
create index item_fts_idx on item using gin (fts) with (fastupdate = off);

create table item_vector (
    space_id     integer not null,
    document_id  uuid not null,
    model_id     integer not null references embedding_model on delete cascade,
    text_id      uuid not null,
    vector       halfvec,
    attempts     integer not null default 0,
    next_attempt timestamptz not null default now(),
    primary key (space_id, document_id, model_id),
    unique (space_id, text_id, model_id),
    foreign key (space_id, document_id) references item on delete cascade
);
comment on table item_vector is 'Vectors of items for each embedding model. The index item_vector_N_idx covers the vectors of model N.';
comment on column item_vector.space_id is 'Space of the item.';
comment on column item_vector.document_id is 'The item.';
comment on column item_vector.model_id is 'Model that makes the vector.';
comment on column item_vector.text_id is 'Id of the text of which the vector is made. A changed item has another one, so a late vector of its former text is not stored.';
comment on column item_vector.vector is 'Vector of the text of the item in half precision. Null: the item still needs it.';
comment on column item_vector.attempts is 'Number of attempts to make the vector, including an attempt that runs now.';
comment on column item_vector.next_attempt is 'When the next attempt is due.';
create index item_vector_due_idx on item_vector (model_id, next_attempt) where vector is null;

do $$
declare
    model record;
begin
    for model in select m.id, m.dimensions from embedding_model m loop
        execute format(
            'create index item_vector_%s_idx on item_vector using hnsw ((vector::halfvec(%s)) halfvec_cosine_ops) '
            'with (m = 16, ef_construction = 128) where model_id = %1$s', model.id, model.dimensions);
    end loop;
end
$$;
