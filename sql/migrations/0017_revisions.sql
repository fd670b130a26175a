-- Facts that were wrong, and why. Facts that went to another space.

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

-- A move to another space keeps the rows that it took away like an undo, so that an undo of the move can return them.
alter table undo
    add column moved_to integer,
    add column joint bigint;
comment on column undo.moved_to is 'For a move: the space to which the rows went. The undo then holds what the move took away, and no events. Null: an undo.';
comment on column undo.joint is 'Number of one undo of the call, if the call returned rows of moves. Such undos are reverted together. Null: the undo is reverted alone.';
create index undo_joint_idx on undo (joint) where joint is not null;
create index undone_copy_idx on undone ((after ->> 'copy')) where after ? 'copy';
