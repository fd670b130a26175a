-- What recalls cost, so that `textrawl cost` can tell. Costs alone: a query, an answer or a name of an
-- entity would be a second copy of the memory that forget_entity does not reach.

create table recall (
    space_id   integer not null references space on delete cascade,
    id         bigint generated always as identity,
    at         timestamptz not null check (isfinite(at)),
    client     text,
    mode       text not null,
    format     text not null,
    structured boolean not null,
    tokens     integer not null check (tokens >= 0),
    budget     integer not null check (budget > 0),
    items      integer not null check (items >= 0),
    dropped    integer not null check (dropped >= 0),
    primary key (space_id, id)
);
comment on table recall is 'What the newest 10,000 answers of query_memory cost in tokens. Holds neither queries nor content.';
comment on column recall.at is 'When it was answered; rows come seconds later.';
comment on column recall.client is 'Name and version of the MCP client that asked; null if it did not say.';
comment on column recall.mode is 'search, entity, list.';
comment on column recall.format is 'Format of the text: compact, lines, verbose.';
comment on column recall.structured is 'Whether structured content was sent beside the text.';
comment on column recall.tokens is 'Tokens of the whole answer, all channels together.';
comment on column recall.budget is 'Most tokens that it might have cost.';
comment on column recall.items is 'Facts, relations or entities in it.';
comment on column recall.dropped is 'Those left out because they did not fit the budget.';
