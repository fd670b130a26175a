-- Facts that were wrong, and why.

create table revision (
    space_id       integer not null,
    observation_id uuid not null,
    reason         text not null check (char_length(reason) between 1 and 500),
    actor_id       integer not null references actor,
    client         text,
    tool           text not null,
    request        text,
    revised_at     timestamptz not null default clock_timestamp(),
    primary key (space_id, observation_id),
    foreign key (space_id, observation_id) references observation on delete cascade
);
comment on table revision is 'Facts that somebody marked as wrong. A wrong fact ends at its valid_from, so it is valid at no time. Its replaced_by names the fact that is right.';
comment on column revision.space_id is 'Space of the fact.';
comment on column revision.observation_id is 'The wrong fact.';
comment on column revision.reason is 'Why the fact was wrong, 1 to 500 characters.';
comment on column revision.actor_id is 'Actor who revised the fact.';
comment on column revision.client is 'Name and version of the MCP client that revised the fact. Null: it was revised from SQL.';
comment on column revision.tool is 'Tool that revised the fact. sql: it was revised from psql.';
comment on column revision.request is 'Id of the request that revised the fact, as in the log of the server. Null: it was revised from SQL.';
comment on column revision.revised_at is 'When the fact was revised.';
