create view textrawl.memory_items with (security_invoker) as
select s.name as space, i.labels as namespace, i.key, i.place as position, i.content::json as value,
    (i.attributes ->> 'metadata')::json as metadata, i.number as version, a.name as author, i.created_at, i.updated_at,
    i.expires_at, i.document_id
from textrawl.space s
cross join lateral textrawl.present_items(s.id) i
join textrawl.actor a on a.id = i.author_id;

comment on view textrawl.memory_items is 'Items and entries of logs with their present values. '
    'Example: select key, value ->> ''kind'' from textrawl.memory_items where namespace = array[''users'', ''ada''];';
comment on column textrawl.memory_items.space is 'Name of the space.';
comment on column textrawl.memory_items.namespace is 'Labels of the namespace, the outermost first.';
comment on column textrawl.memory_items.key is 'Key of the item. Null: an entry of a log.';
comment on column textrawl.memory_items.position is 'Place of an entry of a log, in the order of appending. Null: an item.';
comment on column textrawl.memory_items.value is 'The value, exactly as it was given.';
comment on column textrawl.memory_items.metadata is 'Metadata of the item. Null: an entry of a log.';
comment on column textrawl.memory_items.version is 'Number of the present version.';
comment on column textrawl.memory_items.author is 'Author of the present version.';
comment on column textrawl.memory_items.created_at is 'When the item was first stored.';
comment on column textrawl.memory_items.updated_at is 'When the present value was stored.';
comment on column textrawl.memory_items.expires_at is 'From this instant on, nobody sees the item. Null: it does not expire.';
comment on column textrawl.memory_items.document_id is 'Id of the document, as in the details of the trail.';
