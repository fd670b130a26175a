-- 0001_spaces
create table space (
    id          integer generated always as identity primary key,
    name        text not null unique check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    created_at  timestamptz not null default now(),
    archived_at timestamptz
);
insert into space (name) values ('default');
create table actor (
    id         integer generated always as identity primary key,
    name       text not null unique check (char_length(name) between 1 and 200),
    role_name  text unique,
    created_at timestamptz not null default now()
);
-- 0002_facts
create table entity (
    space_id     integer not null references space,
    id           uuid not null default gen_random_uuid(),
    name         text not null check (char_length(name) between 1 and 200),
    name_key     text not null,
    entity_type  text not null check (entity_type in
                 ('person', 'concept', 'project', 'preference', 'fact', 'location', 'organization')),
    type_guessed boolean not null default false,
    description  text,
    metadata     jsonb not null default '{}',
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    fts          tsvector not null,
    primary key (space_id, id),
    unique (space_id, name_key)
) with (fillfactor = 85);
create index entity_updated_at_idx on entity (space_id, updated_at desc, id);
create index entity_created_at_idx on entity (space_id, created_at, id);
create index entity_name_prefix_idx on entity (space_id, name_key text_pattern_ops);
create index entity_fts_idx on entity using gin (fts) with (fastupdate = off);
create table observation (
    space_id     integer not null,
    id           uuid not null default gen_random_uuid(),
    entity_id    uuid not null,
    entity_type  text not null,
    content      text not null check (char_length(content) between 1 and 2000),
    content_hash uuid not null,
    whole        uuid,
    part         smallint,
    source       text not null check (source in ('conversation', 'note', 'document', 'manual')),
    confidence   real not null default 1 check (confidence between 0 and 1),
    valid_from   timestamptz not null default now() check (isfinite(valid_from)),
    valid_until  timestamptz check (isfinite(valid_until)),
    replaced_by  uuid,
    author_id    integer not null references actor,
    client       text,
    tool         text not null,
    request      text,
    created_at   timestamptz not null default now() check (isfinite(created_at)),
    ordinal      bigint not null,
    fts          tsvector not null,
    primary key (space_id, id),
    foreign key (space_id, entity_id) references entity on delete cascade,
    foreign key (space_id, replaced_by) references observation on delete set null (replaced_by),
    check ((whole is null) = (part is null) and part > 0)
) with (fillfactor = 85);
create index observation_entity_idx on observation (space_id, entity_id, content_hash);
create index observation_replaced_by_idx on observation (space_id, replaced_by) where replaced_by is not null;
create index observation_valid_until_idx on observation (space_id, valid_until) where valid_until is not null;
create index observation_fts_idx on observation using gin (fts) with (fastupdate = off);
create index observation_type_idx on observation (space_id, entity_type);
create index observation_ordinal_idx on observation (space_id, ordinal);
create function number_fact() returns trigger
language plpgsql
set search_path from current
as $$
begin
    new.ordinal := coalesce((select max(o.ordinal) from observation o where o.space_id = new.space_id), 0) + 1;
    return new;
end
$$;
create trigger fact_is_numbered before insert on observation
for each row when (new.ordinal is null) execute function number_fact();
create table relation (
    space_id      integer not null,
    id            uuid not null default gen_random_uuid(),
    from_entity   uuid not null,
    relation_type text not null check (char_length(relation_type) between 1 and 100),
    label         text check (char_length(label) between 1 and 100),
    to_entity     uuid not null,
    strength      real not null default 1 check (strength between 0 and 1),
    valid_from    timestamptz not null default now() check (isfinite(valid_from)),
    valid_until   timestamptz check (isfinite(valid_until)),
    author_id     integer not null references actor,
    client        text,
    tool          text not null,
    request       text,
    created_at    timestamptz not null default now(),
    primary key (space_id, id),
    foreign key (space_id, from_entity) references entity on delete cascade,
    foreign key (space_id, to_entity) references entity on delete cascade
);
create unique index relation_live_idx on relation (space_id, from_entity, relation_type, to_entity) where valid_until is null;
create index relation_from_entity_idx on relation (space_id, from_entity);
create index relation_to_entity_idx on relation (space_id, to_entity);
create type new_fact as (
    id uuid, entity_id uuid, entity_name text, entity_type text, content text, content_hash uuid,
    source text, confidence real, valid_until timestamptz, replaces text, vector halfvec
);
create table removal_lock ();
-- 0003_search
create table word_form (
    stem  text not null,
    other text not null check (other <> stem),
    primary key (stem, other)
);
insert into word_form (stem, other)
with written as (
    select string_to_array(line, ' ') as forms from unnest(string_to_array(trim(both e'\n' from $forms$
arise arose arisen
awake awoke awoken
bear borne
beat beaten
become became
begin began begun
bend bent
bite bit bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen
come came
creep crept
deal dealt
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
dwell dwelt
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fly flew flown
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go went gone
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
kneel knelt
know knew known
lay laid
lead led
lean leant
leap leapt
learn learnt
leave left
lend lent
lose lost
make made
mean meant
meet met
pay paid
prove proven
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
sew sewn
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
speak spoke spoken
spell spelt
spend spent
spill spilt
spin spun
spoil spoilt
stand stood
steal stole stolen
stick stuck
sting stung
strike struck
swear swore sworn
sweep swept
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
weave wove woven
weep wept
win won
write wrote written
child children
person people
man men
woman women
foot feet
tooth teeth
goose geese
mouse mice
wife wives
knife knives
life lives
half halves
shelf shelves
wolf wolves
thief thieves
leaf leaves
loaf loaves
one 1
two 2
three 3
four 4
five 5
six 6
seven 7
eight 8
nine 9
ten 10
eleven 11
twelve 12
thirteen 13
fourteen 14
fifteen 15
sixteen 16
seventeen 17
eighteen 18
nineteen 19
twenty 20
thirty 30
forty 40
fifty 50
hundred 100
thousand 1000
first 1st
second 2nd
third 3rd
january jan
february feb
april apr
august aug
september sept sep
october oct
november nov
december dec
tuesday tue tues
thursday thu thurs
friday fri
colour color
favourite favorite
flavour flavor
behaviour behavior
neighbour neighbor
honour honor
humour humor
labour labor
harbour harbor
centre center
theatre theater
litre liter
metre meter
fibre fiber
grey gray
cheque check
programme program
catalogue catalog
dialogue dialog
licence license
defence defense
organise organize
realise realize
analyse analyze
apologise apologize
recognise recognize
travelling traveling
travelled traveled
cancelled canceled
jewellery jewelry
aeroplane airplane
pyjamas pajamas
mum mom mother
dad father
bicycle bike
photograph photo
telephone phone
television tv
refrigerator fridge
examination exam
university uni
mathematics maths math
analysis analyses
crisis crises
thesis theses
hypothesis hypotheses
diagnosis diagnoses
synthesis syntheses
criterion criteria
phenomenon phenomena
matrix matrices
vertex vertices
index indices
    $forms$), e'\n')) as line
), stemmed as (
    select word, lexeme as stem
    from (select row_number() over () as word, forms from written) numbered,
         unnest(forms) as form, unnest(tsvector_to_array(to_tsvector('english', form))) as lexeme
)
select distinct one.stem, other.stem from stemmed one join stemmed other using (word)
where one.stem <> other.stem;
create table lexeme (
    space_id  integer not null references space on delete cascade,
    word      text not null,
    frequency integer not null check (frequency > 0),
    primary key (space_id, word)
);
create index lexeme_word_idx on lexeme (word, space_id) include (frequency);
create table search_statistics (
    singleton    boolean primary key default true check (singleton),
    facts        double precision not null,
    refreshed_at timestamptz not null default now()
);
create table space_statistics (
    space_id integer primary key references space on delete cascade,
    facts    bigint not null
);
-- 0004_models
create table embedding_model (
    id                 integer generated always as identity primary key,
    name               text not null unique,
    dimensions         integer not null check (dimensions between 1 and 4000),
    cosine_floor       real not null default 0,
    cosine_ceiling     real not null default 1 check (cosine_ceiling > cosine_floor),
    trust              real not null default 0.8 check (trust between 0 and 1),
    status             text not null default 'active' check (status in ('building', 'active', 'previous')),
    status_since       timestamptz not null default now(),
    queued             boolean not null default true,
    queued_space       integer,
    queued_observation uuid,
    created_at         timestamptz not null default now()
);
create unique index embedding_model_status_idx on embedding_model (status) where status <> 'previous';
create table embedding_pending (
    space_id       integer not null,
    observation_id uuid not null,
    model_id       integer not null references embedding_model on delete cascade,
    attempts       integer not null default 0,
    next_attempt   timestamptz not null default now(),
    primary key (space_id, observation_id, model_id),
    foreign key (space_id, observation_id) references observation on delete cascade
);
create index embedding_pending_due_idx on embedding_pending (model_id, next_attempt);
create table vector_index_claim (
    singleton     boolean primary key default true check (singleton),
    pid           integer,
    backend_start timestamptz
);
insert into vector_index_claim default values;
-- 0005_access
create table space_grant (
    space_id   integer not null references space on delete cascade,
    actor_id   integer not null references actor on delete cascade,
    scopes     text[] not null check (scopes <@ array['read', 'write', 'forget', 'admin', 'metrics'] and scopes <> '{}'),
    for_login  boolean not null default false,
    granted_at timestamptz not null default now(),
    primary key (space_id, actor_id)
);
create index space_grant_actor_id_idx on space_grant (actor_id);
create table token (
    id            integer generated always as identity primary key,
    hash          bytea not null unique check (octet_length(hash) = 32),
    kind          text not null check (kind in ('bearer', 'local', 'federated')),
    prefix        text,
    actor_id      integer not null references actor on delete cascade,
    home_space_id integer references space on delete set null,
    scopes        text[] not null check (scopes <@ array['read', 'write', 'forget', 'admin', 'metrics'] and scopes <> '{}'),
    issuer        text check (char_length(issuer) between 1 and 2000),
    voucher_id    integer references token on delete cascade,
    created_at    timestamptz not null default now(),
    expires_at    timestamptz check (isfinite(expires_at)),
    last_used_at  timestamptz,
    revoked_at    timestamptz,
    check ((voucher_id is not null) = (kind = 'federated'))
);
create unique index token_local_idx on token (actor_id) where kind = 'local';
create index token_actor_id_idx on token (actor_id);
create index token_voucher_id_idx on token (voucher_id) where voucher_id is not null;
create function session_spaces() returns integer[]
language plpgsql stable parallel safe security definer set search_path from current
as 'begin return readable_spaces(); end';
create type origin as (space_id integer, author_id integer, client text, tool text, request text);
-- 0006_trail
create table event (
    space_id       integer not null references space,
    id             bigint generated always as identity,
    at             timestamptz not null default now(),
    actor_id       integer not null references actor,
    client         text,
    tool           text not null,
    request        text,
    action         text not null,
    entity_id      uuid,
    observation_id uuid,
    relation_id    uuid,
    detail         jsonb not null default '{}',
    transaction    xid8 not null default pg_current_xact_id(),
    primary key (space_id, id)
);
create index event_entity_idx on event (space_id, entity_id);
create index event_observation_idx on event (space_id, observation_id) where observation_id is not null;
create index event_relation_idx on event (space_id, relation_id) where relation_id is not null;
create index event_replaced_idx on event (space_id, (detail ->> 'replaced')) where detail ? 'replaced';
create index event_actor_idx on event (space_id, actor_id, at);
create index event_feed_idx on event (space_id, transaction, id);
create function keep_events() returns trigger
language plpgsql
set search_path from current
as $$
begin
    if tg_op = 'UPDATE' and to_jsonb(new) = to_jsonb(old) || '{"transaction": "0"}' then
        return new;
    end if;
    raise exception 'the trail is append-only' using errcode = 'object_not_in_prerequisite_state';
end
$$;
create trigger event_is_kept before update or delete on event
for each row execute function keep_events();
create trigger events_are_kept before truncate on event
for each statement execute function keep_events();
create table undo (
    space_id    integer not null references space,
    id          bigint generated always as identity,
    author_id   integer not null references actor,
    actor_id    integer not null references actor,
    since       timestamptz not null check (isfinite(since)),
    at          timestamptz not null default now(),
    events      bigint[] not null,
    reverted_at timestamptz,
    purged_at   timestamptz,
    primary key (space_id, id)
);
create table undone (
    space_id integer not null,
    undo_id  bigint not null,
    action   text not null check (action in
             ('remove', 'hand over', 'revive', 'reset', 'drop entity', 'move back', 'retype')),
    kind     text not null check (kind in ('entity', 'observation', 'relation', 'reflection')),
    id       uuid not null,
    names    text[] not null,
    entities jsonb not null default '[]',
    before   jsonb not null,
    after    jsonb,
    primary key (space_id, undo_id, id, action),
    foreign key (space_id, undo_id) references undo on delete cascade
);
create index undone_id_idx on undone (space_id, id);
create index undone_names_idx on undone using gin (names);
-- 0007_recalls
create table recall (
    space_id       integer not null references space on delete cascade,
    id             bigint generated always as identity,
    at             timestamptz not null check (isfinite(at)),
    actor_id       integer references actor on delete set null,
    client         text,
    mode           text not null,
    query          text check (char_length(query) <= 500),
    query_hash     text,
    hits           integer check (hits >= 0),
    score          real,
    cosine         real,
    coverage       real,
    facts          uuid[] not null default '{}',
    format         text not null,
    structured     boolean not null,
    tokens         integer not null check (tokens >= 0),
    verbose_tokens integer check (verbose_tokens >= 0),
    budget         integer not null check (budget > 0),
    items          integer not null check (items >= 0),
    dropped        integer not null check (dropped >= 0),
    milliseconds   real check (milliseconds >= 0),
    primary key (space_id, id)
);
create index recall_at_idx on recall (space_id, at);
create index recall_actor_idx on recall (actor_id) where actor_id is not null;
create table recalled (
    space_id       integer not null,
    observation_id uuid not null,
    recalls        bigint not null check (recalls > 0),
    last_at        timestamptz not null,
    primary key (space_id, observation_id),
    foreign key (space_id, observation_id) references observation on delete cascade
) with (fillfactor = 80);
-- 0008_graph
create table entity_use (
    space_id  integer not null,
    entity_id uuid not null,
    day       date not null,
    count     integer not null check (count > 0),
    last_at   timestamptz not null check (isfinite(last_at)),
    primary key (space_id, entity_id, day),
    foreign key (space_id, entity_id) references entity on delete cascade
);
create table joint_use (
    space_id integer not null,
    one      uuid not null,
    other    uuid not null check (one < other),
    count    integer not null check (count > 0),
    last_at  timestamptz not null check (isfinite(last_at)),
    primary key (space_id, one, other),
    foreign key (space_id, one) references entity on delete cascade,
    foreign key (space_id, other) references entity on delete cascade
);
create index joint_use_other_idx on joint_use (space_id, other);
create table reflection (
    space_id    integer not null references space,
    id          uuid not null default gen_random_uuid(),
    target_type text not null check (target_type in ('entity', 'session', 'relation', 'global')),
    entity_id   uuid check ((entity_id is not null) = (target_type = 'entity')),
    relation_id uuid check ((relation_id is not null) = (target_type = 'relation')),
    content     text not null check (char_length(content) between 1 and 10000),
    voice       text not null check (char_length(voice) between 1 and 200),
    mood        text check (char_length(mood) between 1 and 100),
    author_id   integer not null references actor,
    client      text,
    tool        text not null,
    request     text,
    created_at  timestamptz not null default clock_timestamp() check (isfinite(created_at)),
    fts         tsvector not null,
    model_id    integer references embedding_model on delete set null,
    vector      halfvec,
    primary key (space_id, id),
    foreign key (space_id, entity_id) references entity on delete cascade,
    foreign key (space_id, relation_id) references relation on delete cascade
);
create index reflection_entity_idx on reflection (space_id, entity_id) where entity_id is not null;
create index reflection_relation_idx on reflection (space_id, relation_id) where relation_id is not null;
create index reflection_fts_idx on reflection using gin (fts) with (fastupdate = off);
