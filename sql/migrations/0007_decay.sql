-- Tables of the decay toolset: the policy of a space, how well a memory is retained, and the links between memories.

create table decay_policy (
    space_id             integer primary key references space on delete cascade,
    model                text check (model in ('power_law', 'exponential', 'two_component')),
    half_life_days       double precision check (half_life_days between 1e-6 and 36500),
    alpha                double precision check (alpha between 0.01 and 100),
    lambda               double precision check (lambda between 1e-12 and 1),
    beta                 double precision check (beta between 0 and 10),
    lambda_fast          double precision check (lambda_fast between 1e-12 and 1),
    lambda_slow          double precision check (lambda_slow between 1e-12 and 1),
    weight_fast          double precision check (weight_fast between 0 and 1),
    forget_threshold     double precision check (forget_threshold between 0 and 1),
    promote_threshold    double precision check (promote_threshold between 0 and 1),
    promote_use_count    integer check (promote_use_count >= 0),
    promote_days         double precision check (promote_days between 0 and 36500),
    review_share         double precision check (review_share between 0 and 1),
    review_from          double precision check (review_from between 0 and 1),
    review_until         double precision check (review_until between 0 and 1),
    auto_reinforce       boolean,
    cross_domain_boost   double precision check (cross_domain_boost between 0 and 1),
    check (review_from < review_until)
);
comment on table decay_policy is 'How the memories of a space fade. A space without a row, and a column that is null, have the value of default_policy().';
comment on column decay_policy.space_id is 'Space of the policy.';
comment on column decay_policy.model is 'Formula of the score: power_law, exponential or two_component.';
comment on column decay_policy.half_life_days is 'power_law: days in which the score of an unused memory falls to a half for the first time.';
comment on column decay_policy.alpha is 'power_law: exponent. A larger exponent makes old memories fade faster.';
comment on column decay_policy.lambda is 'exponential: decay in a second.';
comment on column decay_policy.beta is 'Exponent of the use count. 0: uses do not change the score.';
comment on column decay_policy.lambda_fast is 'two_component: decay of the fast component in a second.';
comment on column decay_policy.lambda_slow is 'two_component: decay of the slow component in a second.';
comment on column decay_policy.weight_fast is 'two_component: share of the fast component, from 0 to 1.';
comment on column decay_policy.forget_threshold is 'gc takes active memories with a lower score.';
comment on column decay_policy.promote_threshold is 'A memory with at least this score can be promoted.';
comment on column decay_policy.promote_use_count is 'A memory that was used at least this often within promote_days of its creation can be promoted.';
comment on column decay_policy.promote_days is 'Largest age in days of a memory that can be promoted because of its use count.';
comment on column decay_policy.review_share is 'Largest share of the results of a search that are there for review.';
comment on column decay_policy.review_from is 'Lowest score at which a memory is due for review.';
comment on column decay_policy.review_until is 'Highest score at which a memory is due for review.';
comment on column decay_policy.auto_reinforce is 'False: observe_memory_usage changes nothing.';
comment on column decay_policy.cross_domain_boost is 'Added to the strength of a memory that is used in another domain.';

create table retention (
    space_id           integer not null,
    observation_id     uuid not null,
    saved              boolean not null default false,
    tags               text[] not null default '{}',
    entities           text[] not null default '{}',
    source             text check (char_length(source) <= 500),
    context            text check (char_length(context) <= 1000),
    extra              jsonb not null default '{}',
    strength           double precision not null default 1 check (strength between 0 and 2),
    use_count          integer not null default 0 check (use_count >= 0),
    last_used          timestamptz not null check (isfinite(last_used)),
    status             text not null default 'active' check (status in ('active', 'promoted', 'archived', 'removed')),
    ended_at           timestamptz check (isfinite(ended_at)),
    promoted_at        timestamptz check (isfinite(promoted_at)),
    promoted_to        text,
    last_review_at     timestamptz check (isfinite(last_review_at)),
    review_count       integer not null default 0 check (review_count >= 0),
    cross_domain_count integer not null default 0 check (cross_domain_count >= 0),
    primary key (space_id, observation_id),
    foreign key (space_id, observation_id) references observation on delete cascade
) with (fillfactor = 80);
comment on table retention is 'Tags, strength, uses, reviews and status of a memory. A fact without a row is a memory with strength 1 that was last used when it was stored.';
comment on column retention.space_id is 'Space of the memory.';
comment on column retention.observation_id is 'The fact that holds the text. For a long text: its first part.';
comment on column retention.saved is 'True: save_memory or an import stored the memory, so gc can take it. False: another tool stored the fact, and gc leaves it.';
comment on column retention.tags is 'Tags in lower case.';
comment on column retention.entities is 'Names of entities that the memory is about. The fact belongs to the first one.';
comment on column retention.source is 'Source of the memory, as the caller gave it.';
comment on column retention.context is 'Context in which the memory was saved, as the caller gave it.';
comment on column retention.extra is 'Further data of the caller.';
comment on column retention.strength is 'Factor of the score, 1 to 2. Imported memories can have less.';
comment on column retention.use_count is 'Number of uses that touch_memory and observe_memory_usage recorded.';
comment on column retention.last_used is 'When the memory was last used or saved.';
comment on column retention.status is 'active, promoted (it is also a note), archived or removed. The fact of an archived or removed memory is no longer valid.';
comment on column retention.ended_at is 'When the memory was archived or removed. Null: it was not.';
comment on column retention.promoted_at is 'When the memory was promoted.';
comment on column retention.promoted_to is 'Path of the note, in the folder of notes.';
comment on column retention.last_review_at is 'When observe_memory_usage last recorded a use.';
comment on column retention.review_count is 'Number of uses that observe_memory_usage recorded.';
comment on column retention.cross_domain_count is 'Number of these uses with tags unlike those of the memory.';
create index retention_last_used_idx on retention (space_id, last_used desc) where status in ('active', 'promoted');
create index retention_status_idx on retention (space_id, status, ended_at) where status in ('archived', 'removed');
create index retention_tags_idx on retention using gin (tags) with (fastupdate = off);

create table memory_link (
    space_id      integer not null,
    id            uuid not null default gen_random_uuid(),
    from_id       uuid not null,
    to_id         uuid not null,
    relation_type text not null check (relation_type in
                  ('related', 'causes', 'supports', 'contradicts', 'has_decision', 'consolidated_from')),
    strength      double precision not null default 1 check (strength between 0 and 1),
    metadata      jsonb not null default '{}',
    created_at    timestamptz not null default now() check (isfinite(created_at)),
    primary key (space_id, id),
    unique (space_id, from_id, to_id, relation_type),
    foreign key (space_id, from_id) references observation on delete cascade
);
comment on table memory_link is 'A directed link between two memories.';
comment on column memory_link.space_id is 'Space of both memories.';
comment on column memory_link.id is 'Id of the link, unique in its space.';
comment on column memory_link.from_id is 'Memory that the link starts at.';
comment on column memory_link.to_id is 'Memory that the link leads to. It is kept when that memory is deleted, so that consolidated_from shows where a text came from.';
comment on column memory_link.relation_type is 'related, causes, supports, contradicts, has_decision or consolidated_from.';
comment on column memory_link.strength is 'Strength of the link, from 0 to 1.';
comment on column memory_link.metadata is 'Further data of the caller.';
comment on column memory_link.created_at is 'When the link was stored.';
create index memory_link_to_idx on memory_link (space_id, to_id);
