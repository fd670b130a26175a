-- 0001_spaces
create table space (
    id          integer generated always as identity primary key,
    name        text not null unique check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    language    text not null default 'english',
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
create index entity_digest_idx on entity (space_id, entity_type, updated_at desc, id) where entity_type in ('preference', 'person');
create index entity_name_prefix_idx on entity (space_id, name_key text_pattern_ops);
create index entity_fts_idx on entity using gin (fts) with (fastupdate = off);
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
create table observation (
    space_id     integer not null,
    id           uuid not null default gen_random_uuid(),
    entity_id    uuid not null,
    entity_type  text not null,
    content      text not null check (char_length(content) between 1 and case when whole is null then 2000 else 8000 end),
    content_hash uuid not null,
    whole        uuid,
    part         smallint,
    source       text not null check (source in ('conversation', 'note', 'document', 'manual')),
    confidence   real not null default 1 check (confidence between 0 and 1),
    valid_from   timestamptz not null default now() check (isfinite(valid_from)),
    valid_until  timestamptz check (isfinite(valid_until)),
    replaced_by  uuid,
    relation_id  uuid,
    author_id    integer not null references actor,
    client       text,
    tool         text not null,
    request      text,
    created_at   timestamptz not null default now() check (isfinite(created_at)),
    said_at      timestamptz not null check (isfinite(said_at)),
    ordinal      bigint not null,
    fts          tsvector not null,
    primary key (space_id, id),
    foreign key (space_id, entity_id) references entity on delete cascade,
    foreign key (space_id, replaced_by) references observation on delete set null (replaced_by),
    foreign key (space_id, relation_id) references relation on delete cascade,
    check ((whole is null) = (part is null) and part > 0),
    check (relation_id = id)
) with (fillfactor = 85);
create index observation_entity_idx on observation (space_id, entity_id, content_hash);
create index observation_replaced_by_idx on observation (space_id, replaced_by) where replaced_by is not null;
create unique index observation_relation_idx on observation (space_id, relation_id) where relation_id is not null;
create index observation_valid_until_idx on observation (space_id, valid_until) where valid_until is not null;
create index observation_fts_idx on observation using gin (fts) with (fastupdate = off);
create index observation_type_idx on observation (space_id, entity_type);
create index observation_ordinal_idx on observation (space_id, ordinal);
create index observation_said_at_idx on observation (space_id, said_at);
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
create function date_fact() returns trigger
language plpgsql
set search_path from current
as $$
begin
    new.said_at := new.created_at;
    return new;
end
$$;
create trigger fact_is_dated before insert on observation
for each row when (new.said_at is null) execute function date_fact();
create function state_relations() returns trigger
language plpgsql
set search_path from current
as $$
begin
    with stated as (
        insert into observation (space_id, id, entity_id, entity_type, content, content_hash, source, valid_from, valid_until,
                                 relation_id, author_id, client, tool, request, created_at, fts)
        select r.space_id, r.id, r.from_entity, source.entity_type, text.content, fact_hash(text.content), 'conversation',
            r.valid_from, r.valid_until, r.id, r.author_id, r.client, r.tool, r.request, r.created_at,
            search_document(r.space_id, space_language(r.space_id), document_names(r.space_id, r.from_entity, r.id), text.content)
        from added r
        cross join lateral (
            select e.name, e.entity_type from entity e where e.space_id = r.space_id and e.id = r.from_entity limit 1) source
        cross join lateral (select e.name from entity e where e.space_id = r.space_id and e.id = r.to_entity limit 1) target
        cross join lateral (select statement_text(coalesce(r.label, r.relation_type), target.name) as content) text
        order by r.created_at, r.id
        returning space_id, id
    )
    insert into embedding_pending (space_id, observation_id, model_id)
    select s.space_id, s.id, m.id from stated s cross join embedding_model m;
    return null;
end
$$;
create function update_statements() returns trigger
language plpgsql
set search_path from current
as $$
begin
    update observation o
    set valid_until = r.valid_until, author_id = r.author_id, client = r.client, tool = r.tool, request = r.request
    from changed r
    where o.space_id = r.space_id and o.relation_id = r.id
      and (o.valid_until, o.author_id, o.client, o.tool, o.request)
          is distinct from (r.valid_until, r.author_id, r.client, r.tool, r.request);
    return null;
end
$$;
create trigger relation_is_stated after insert on relation
referencing new table as added for each statement execute function state_relations();
create trigger relation_was_changed after update on relation
referencing new table as changed for each statement execute function update_statements();
create type new_fact as (
    id uuid, entity_id uuid, entity_name text, entity_type text, content text, content_hash uuid,
    source text, confidence real, valid_until timestamptz, said_at timestamptz, replaces text, vector halfvec, alias uuid
);
create table removal_lock ();
-- 0003_search
create table word_form (
    stem     text not null,
    other    text not null check (other <> stem),
    language text not null default 'english',
    primary key (language, stem, other)
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
    space_id  integer primary key references space on delete cascade,
    facts     bigint not null,
    coherence real
);
create table document_rebuild (
    space_id         integer primary key references space on delete cascade,
    former_languages text[] not null,
    reflections      boolean not null default false,
    reached          uuid,
    started_at       timestamptz not null default now()
);
-- 0004_models
create table embedding_model (
    id                 integer generated always as identity primary key,
    name               text not null unique,
    dimensions         integer not null check (dimensions between 1 and 4000),
    cosine_floor       real not null default 0,
    cosine_ceiling     real not null default 1 check (cosine_ceiling > cosine_floor),
    trust              real not null default 0.8 check (trust between 0 and 1),
    calibrated_at      timestamptz,
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
    scopes     text[] not null check (scopes <@ array['read', 'propose', 'write', 'forget', 'review', 'admin', 'metrics'] and scopes <> '{}'),
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
    scopes        text[] not null check (scopes <@ array['read', 'propose', 'write', 'forget', 'review', 'admin', 'metrics'] and scopes <> '{}'),
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
as 'begin return readable_spaces(graphs => true); end';
create type origin as (space_id integer, author_id integer, client text, tool text, request text, proposed boolean);
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
    kind     text not null check (kind in ('entity', 'observation', 'relation', 'reflection', 'document', 'proposal')),
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
-- 0009_word_forms
insert into word_form (language, stem, other)
with written as (
    select language, string_to_array(line, ' ') as forms
    from (values ('german', $forms$
beginnen beginnt begann begonnen
beißen beißt biss gebissen
biegen biegt bog gebogen
bieten bietet bot geboten
anbieten anbietet anbot angeboten
bitten bittet bat gebeten
bleiben bleibt blieb geblieben
brechen bricht brach gebrochen
abbrechen abgebrochen
brennen brennt brannte gebrannt
bringen bringt brachte gebracht
mitbringen mitbringt mitgebracht
verbringen verbringt verbrachte verbracht
denken denkt dachte gedacht
dürfen darf durfte
empfehlen empfiehlt empfahl empfohlen
entscheiden entscheidet entschied entschieden
essen isst aß gegessen
fahren fährt fuhr gefahren
abfahren abfährt abgefahren
fallen fällt fiel gefallen
gefallen gefällt gefiel
ausfallen ausfällt ausgefallen
fangen fängt fing gefangen
anfangen anfängt anfing angefangen
finden findet fand gefunden
stattfinden stattfindet stattfand stattgefunden
erfinden erfand erfunden
fliegen fliegt flog geflogen
fliehen flieht floh geflohen
fließen fließt floss geflossen
fressen frisst fraß gefressen
frieren friert fror gefroren
geben gibt gab gegeben
abgeben abgibt abgegeben
aufgeben aufgibt aufgab aufgegeben
ausgeben ausgibt ausgab ausgegeben
gehen geht ging gegangen
ausgehen ausgeht ausgegangen
gelten gilt galt gegolten
gewinnen gewinnt gewann gewonnen
gießen gießt goss gegossen
greifen greift griff gegriffen
haben hat hatte gehabt
halten hält hielt gehalten
behalten behält behielt
erhalten erhält erhielt
enthalten enthält enthielt
hängen hängt hing gehangen
heben hebt hob gehoben
heißen heißt hieß geheißen
helfen hilft half geholfen
kennen kennt kannte gekannt
klingen klingt klang geklungen
kommen kommt kam gekommen
ankommen ankommt ankam angekommen
bekommen bekommt bekam
können kann konnte gekonnt
laden lädt lud geladen
einladen einlädt einlud eingeladen
lassen lässt ließ gelassen
verlassen verlässt verließ
laufen läuft lief gelaufen
leiden leidet litt gelitten
leihen leiht lieh geliehen
ausleihen ausgeliehen
verleihen verleiht verlieh verliehen
lesen liest las gelesen
liegen liegt lag gelegen
lügen lügt log gelogen
meiden meidet mied gemieden
vermeiden vermeidet vermied vermieden
messen misst maß gemessen
mögen mag mochte gemocht
müssen muss musste gemusst
nehmen nimmt nahm genommen
aufnehmen aufnimmt aufnahm aufgenommen
teilnehmen teilnimmt teilnahm teilgenommen
übernehmen übernimmt übernahm übernommen
abnehmen abnimmt abnahm abgenommen
nennen nennt nannte genannt
pfeifen pfeift pfiff gepfiffen
raten rät riet geraten
reißen reißt riss gerissen
reiten reitet ritt geritten
rennen rennt rannte gerannt
riechen riecht roch gerochen
rufen ruft rief gerufen
anrufen anruft anrief angerufen
schaffen schafft schuf geschaffen
scheiden scheidet schied geschieden
scheinen scheint schien geschienen
erscheinen erscheint erschien erschienen
schieben schiebt schob geschoben
verschieben verschiebt verschob verschoben
schießen schießt schoss geschossen
schlafen schläft schlief geschlafen
einschlafen einschläft eingeschlafen
schlagen schlägt schlug geschlagen
vorschlagen vorschlägt vorschlug vorgeschlagen
schließen schließt schloss geschlossen
abschließen abschließt abschloss abgeschlossen
schneiden schneidet schnitt geschnitten
schreiben schreibt schrieb geschrieben
unterschreiben unterschreibt unterschrieb unterschrieben
beschreiben beschreibt beschrieb beschrieben
schreien schreit schrie geschrien
schweigen schweigt schwieg geschwiegen
schwimmen schwimmt schwamm geschwommen
sehen sieht sah gesehen
fernsehen fernsieht ferngesehen
sein ist war gewesen
senden sendet sandte gesandt
singen singt sang gesungen
sinken sinkt sank gesunken
sitzen sitzt saß gesessen
besitzen besitzt besaß besessen
spinnen spinnt spann gesponnen
sprechen spricht sprach gesprochen
besprechen bespricht besprach besprochen
versprechen verspricht versprach versprochen
springen springt sprang gesprungen
stechen sticht stach gestochen
stehen steht stand gestanden
aufstehen aufsteht aufstand aufgestanden
bestehen besteht bestand bestanden
verstehen versteht verstand verstanden
entstehen entsteht entstand entstanden
stehlen stiehlt stahl gestohlen
steigen steigt stieg gestiegen
umsteigen umsteigt umgestiegen
sterben stirbt starb gestorben
streichen streicht strich gestrichen
streiten streitet stritt gestritten
tragen trägt trug getragen
treffen trifft traf getroffen
treiben treibt trieb getrieben
treten tritt trat getreten
trinken trinkt trank getrunken
tun tut tat getan
verbieten verbietet verbot verboten
verbinden verbindet verband verbunden
vergessen vergisst vergaß
vergleichen vergleicht verglich verglichen
verlieren verliert verlor verloren
verschwinden verschwindet verschwand verschwunden
wachsen wächst wuchs gewachsen
waschen wäscht wusch gewaschen
weisen weist wies gewiesen
wenden wendet wandte gewandt
werben wirbt warb geworben
bewerben bewirbt bewarb beworben
werden wird wurde geworden
werfen wirft warf geworfen
wiegen wiegt wog gewogen
wissen weiß wusste gewusst
ziehen zieht zog gezogen
umziehen umzieht umzog umgezogen
ausziehen auszieht ausgezogen
einziehen einzieht eingezogen
zwingen zwingt zwang gezwungen
eins 1
zwei 2
drei 3
vier 4
fünf 5
sechs 6
sieben 7
acht 8
neun 9
zehn 10
elf 11
zwölf 12
zwanzig 20
dreißig 30
vierzig 40
fünfzig 50
hundert 100
tausend 1000
januar jan january
februar feb february
märz march
mai may
juni june
juli july
august aug
september sep
oktober okt october
november nov
dezember dez december
$forms$), ('french', $forms$
être est était sera été
avoir a avait aura eu
aller va vont allait ira allé
acquérir acquiert acquis
apprendre apprend apprenait appris
asseoir assied assis
atteindre atteint atteignait
attendre attend attendu
battre bat battait battu
boire boit boivent buvait boira bu
comprendre comprend comprenait compris
conduire conduit conduisait
connaître connaît connaissait connu
construire construit construisait
coudre coud cousait cousu
courir court courait courra couru
couvrir couvre couvrait couvert
craindre craint craignait
croire croit croyait cru
croître croît croissait
cuire cuit cuisait
décevoir déçoit déçu
découvrir découvre découvert
descendre descend descendu
détruire détruit détruisait
devenir devient devenait deviendra devenu
devoir doit doivent devait devra dû
dire dit disent disait
dormir dort dormait dormi
écrire écrit écrivent écrivait
élire élit élu
entendre entend entendu
envoyer envoie enverra envoyé
éteindre éteint éteignait
faire fait font faisait fera
falloir faut fallait faudra fallu
fuir fuit fuyait
inscrire inscrit inscrivait
interdire interdit
joindre joint joignait
lire lit lisent lisait lu
mettre met mettait mis
mourir meurt mourait mourra mort
naître naît naissait né
nuire nuit nuisait
obtenir obtient obtenait obtenu
offrir offre offrait offert
ouvrir ouvre ouvrait ouvert
paraître paraît paru
partir part partait parti
peindre peint peignait
perdre perd perdait perdu
permettre permet permettait permis
plaindre plaint plaignait
plaire plaît plaisait plu
pleuvoir pleut pleuvait
pouvoir peut peuvent pouvait pourra pu
prendre prend prennent prenait pris
prévoir prévoit prévoyait prévu
produire produit produisait
promettre promet promis
recevoir reçoit reçoivent recevait recevra reçu
rendre rend rendait rendu
répondre répond répondait répondu
résoudre résout résolu
rire rit riait
savoir sait savent savait saura su
sentir sent sentait senti
servir sert servait servi
sortir sort sortait sorti
souffrir souffre souffrait souffert
souvenir souvient souvenait souvenu
suivre suit suivait suivi
surprendre surprend surpris
tenir tient tiennent tenait tiendra tenu
traduire traduit traduisait
vaincre vainc vaincu
valoir vaut valait vaudra valu
vendre vend vendait vendu
venir vient viennent venait viendra venu
revenir revient revenait revenu
vêtir vêt vêtu
vivre vit vivent vivait vécu
voir voit voient voyait verra vu
vouloir veut veulent voulait voudra voulu
appeler appelle appelait
jeter jette jetait
acheter achète achetait
payer paie payait
essayer essaie essayait
employer emploie employait
œil yeux
cheval chevaux
journal journaux
animal animaux
travail travaux
hôpital hôpitaux
général généraux
canal canaux
local locaux
monsieur messieurs
madame mesdames
beau belle beaux
nouveau nouvelle nouveaux
vieux vieille vieil
blanc blanche
long longue
sec sèche
doux douce
faux fausse
actif active
un 1
deux 2
trois 3
quatre 4
cinq 5
six 6
sept 7
huit 8
neuf 9
dix 10
onze 11
douze 12
vingt 20
trente 30
quarante 40
cinquante 50
cent 100
mille 1000
janvier january
février february
mars march
avril april
mai may
juin june
juillet july
août august
septembre september
octobre october
novembre november
décembre december
$forms$), ('spanish', $forms$
ser es era fue sido
estar está estaba estuvo
haber ha había hubo hay
ir va iba fue ido
tener tiene tenía tuvo tendrá
hacer hace hacía hizo hará hecho
decir dice decía dijo dirá dicho
poder puede podía pudo podrá podido
poner pone ponía puso pondrá puesto
querer quiere quería quiso querrá querido
saber sabe sabía supo sabrá sabido
venir viene venía vino vendrá venido
ver ve veía vio visto
dar da daba dio dado
salir sale salía salió saldrá
traer trae traía trajo
conducir conduce condujo
producir produce produjo
traducir traduce tradujo
andar anda anduvo
caber cabe cupo
caer cae cayó caído
leer lee leyó leído
oír oye oyó oído
creer cree creyó creído
construir construye construyó
incluir incluye incluyó
sustituir sustituye sustituyó
huir huye huyó
pedir pide pidió pedido
despedir despide despidió
servir sirve sirvió
seguir sigue siguió seguido
conseguir consigue consiguió
vestir viste vistió
repetir repite repitió
medir mide midió
elegir elige eligió
corregir corrige corrigió
sentir siente sintió
mentir miente mintió
preferir prefiere prefirió preferido
sugerir sugiere sugirió
divertir divierte divirtió
dormir duerme durmió dormido
morir muere murió muerto
jugar juega jugó jugado
contar cuenta contó contado
encontrar encuentra encontró encontrado
mostrar muestra mostró mostrado
recordar recuerda recordó recordado
soñar sueña soñó soñado
volar vuela voló volado
costar cuesta costó costado
probar prueba probó probado
aprobar aprueba aprobó
almorzar almuerza almorzó
acostar acuesta acostó
mover mueve movió movido
volver vuelve volvió vuelto
devolver devuelve devolvió devuelto
resolver resuelve resolvió resuelto
llover llueve llovió
doler duele dolió
soler suele solía
pensar piensa pensó pensado
empezar empieza empezó empezado
comenzar comienza comenzó
cerrar cierra cerró cerrado
calentar calienta calentó calentado
sentar sienta sentó sentado
despertar despierta despertó
recomendar recomienda recomendó
perder pierde perdió perdido
entender entiende entendió entendido
encender enciende encendió
defender defiende defendió
atender atiende atendió
nacer nace nació nacido
conocer conoce conoció conocido
crecer crece creció
parecer parece pareció
escribir escribe escribió escrito
describir describe describió descrito
abrir abre abrió abierto
cubrir cubre cubrió cubierto
descubrir descubre descubrió descubierto
romper rompe rompió roto
freír fríe frió frito
reír ríe rió
buscar busca buscó busque
tocar toca tocó toque
pagar paga pagó pague
llegar llega llegó llegue
un uno una 1
dos 2
tres 3
cuatro 4
cinco 5
seis 6
siete 7
ocho 8
nueve 9
diez 10
once 11
doce 12
veinte 20
treinta 30
cuarenta 40
cincuenta 50
cien ciento 100
mil 1000
enero january
febrero february
marzo march
abril april
mayo may
junio june
julio july
agosto august
septiembre september
octubre october
noviembre november
diciembre december
$forms$)) list(language, lines), unnest(string_to_array(trim(both e'\n' from lines), e'\n')) as line
), stemmed as (
    select distinct language, word, normalize(regexp_replace(normalize(lexeme, nfd), '[\u0300-\u036f]', '', 'g'), nfc) as stem
    from (select row_number() over () as word, language, forms from written) numbered, unnest(forms) as form,
         unnest(array[form, regexp_replace(normalize(form, nfd), '[\u0300-\u036f]', '', 'g')]) spelling,
         unnest(tsvector_to_array(to_tsvector(language::regconfig, replace(replace(spelling, 'ß', 'ss'), 'œ', 'oe')))) as lexeme
)
select distinct one.language, one.stem, other.stem from stemmed one join stemmed other using (language, word)
where one.stem <> other.stem;
-- 0010_decay
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
create index memory_link_to_idx on memory_link (space_id, to_id);
create index observation_whole_idx on observation (space_id, whole, part) where whole is not null;
-- 0011_documents
create table instance (
    space_id      integer not null references space,
    id            text not null check (id ~ '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$'),
    instance_type text not null default 'other' check (instance_type in
                  ('psycheros', 'sby', 'sillytavern', 'openwebui', 'claude-code', 'other')),
    name          text check (char_length(name) between 1 and 200),
    version       text check (char_length(version) between 1 and 100),
    created_at    timestamptz not null default clock_timestamp(),
    last_sync     timestamptz check (isfinite(last_sync)),
    primary key (space_id, id)
);
create table document_clock (
    space_id integer primary key references space,
    version  bigint not null
);
create table document (
    space_id    integer not null references space,
    id          uuid not null default gen_random_uuid(),
    kind        text not null check (kind in ('identity', 'journal', 'source')),
    path        text not null check (char_length(path) between 1 and 300),
    entity_id   uuid,
    version     bigint,
    changed     bigint not null,
    created_at  timestamptz not null default clock_timestamp() check (isfinite(created_at)),
    primary key (space_id, id),
    unique (space_id, kind, path),
    foreign key (space_id, entity_id) references entity on delete cascade
);
create index document_changed_idx on document (space_id, changed);
create index document_entity_idx on document (space_id, entity_id) where entity_id is not null;
create table document_version (
    space_id    integer not null,
    document_id uuid not null,
    version     bigint not null,
    number      integer not null check (number > 0),
    content     text check (char_length(content) <= 5000000),
    attributes  jsonb not null default '{}',
    lost        boolean not null default false,
    modified_at timestamptz not null check (isfinite(modified_at)),
    modified_by text check (char_length(modified_by) between 1 and 200),
    author_id   integer not null references actor,
    client      text,
    tool        text not null,
    request     text,
    created_at  timestamptz not null default clock_timestamp() check (isfinite(created_at)),
    primary key (space_id, document_id, version),
    foreign key (space_id, document_id) references document on delete cascade
);
create table document_tombstone (
    space_id   integer not null references space,
    kind       text not null,
    path       text not null,
    changed    bigint not null,
    deleted_at timestamptz not null default clock_timestamp(),
    primary key (space_id, kind, path)
);
create table journal_entry (
    space_id    integer not null,
    document_id uuid not null,
    granularity text not null check (granularity in ('daily', 'weekly', 'monthly', 'yearly', 'significant')),
    date        text not null,
    period      daterange not null,
    instance_id text not null,
    slug        text check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and char_length(slug) <= 100),
    primary key (space_id, document_id),
    foreign key (space_id, document_id) references document on delete cascade
);
create index journal_entry_period_idx on journal_entry (space_id, granularity, date desc);
create table identity_snapshot (
    space_id    integer not null,
    id          text not null,
    document_id uuid not null,
    version     bigint not null,
    reason      text not null check (reason in ('manual', 'scheduled', 'pre-replace')),
    source      text check (char_length(source) between 1 and 200),
    pinned      boolean not null default false,
    created_at  timestamptz not null check (isfinite(created_at)),
    primary key (space_id, id),
    foreign key (space_id, document_id, version) references document_version on delete cascade
);
create index identity_snapshot_document_idx on identity_snapshot (space_id, document_id, version);
create index identity_snapshot_created_idx on identity_snapshot (space_id, created_at desc);
create function bury_document() returns trigger
language plpgsql
set search_path from current
as $$
declare
    number bigint;
begin
    insert into document_clock as c (space_id, version) values (old.space_id, 1)
    on conflict (space_id) do update set version = c.version + 1
    returning c.version into number;
    insert into document_tombstone as t (space_id, kind, path, changed) values (old.space_id, old.kind, old.path, number)
    on conflict (space_id, kind, path) do update set changed = excluded.changed, deleted_at = clock_timestamp();
    return null;
end
$$;
create trigger document_is_buried after delete on document
for each row execute function bury_document();
create index event_document_idx on event (space_id, (detail ->> 'document')) where detail ? 'document';
-- 0012_llm
create table llm_use (
    space_id     integer not null references space on delete cascade,
    id           bigint generated always as identity,
    at           timestamptz not null default clock_timestamp() check (isfinite(at)),
    actor_id     integer references actor on delete set null,
    purpose      text not null check (purpose ~ '^[a-z_]{1,40}$'),
    model        text not null check (char_length(model) between 1 and 200),
    requests     integer not null check (requests >= 0),
    tokens_in    bigint not null check (tokens_in >= 0),
    tokens_out   bigint not null check (tokens_out >= 0),
    milliseconds real not null check (milliseconds >= 0),
    error        text check (error ~ '^[A-Z_]{1,40}$'),
    primary key (space_id, id)
);
create index llm_use_at_idx on llm_use (space_id, at);
create index llm_use_actor_idx on llm_use (actor_id) where actor_id is not null;
create table extraction_pending (
    space_id     integer not null,
    document_id  uuid not null,
    version      bigint not null,
    attempts     integer not null default 0 check (attempts >= 0),
    next_attempt timestamptz not null default clock_timestamp(),
    primary key (space_id, document_id),
    foreign key (space_id, document_id) references document on delete cascade
);
create index extraction_pending_next_idx on extraction_pending (next_attempt);
create table extraction_total (
    space_id      integer primary key references space on delete cascade,
    attempts      bigint not null default 0 check (attempts >= 0),
    successes     bigint not null default 0 check (successes >= 0),
    nodes_created bigint not null default 0 check (nodes_created >= 0),
    edges_created bigint not null default 0 check (edges_created >= 0),
    last_attempt  timestamptz,
    last_success  timestamptz,
    last_error    text
);
create table consolidation (
    space_id      integer not null references space on delete cascade,
    granularity   text not null check (granularity in ('weekly', 'monthly', 'yearly')),
    period        text not null check (char_length(period) between 4 and 10),
    claimant      uuid not null,
    claimed_until timestamptz not null,
    primary key (space_id, granularity, period)
);
-- 0013_mind
create table graph_node (
    space_id          integer not null,
    entity_id         uuid not null,
    label             text check (char_length(label) between 1 and 200),
    label_key         text check ((label_key is null) = (label is null)),
    description_id    uuid,
    confidence        real check (confidence between 0 and 1),
    properties        jsonb check (jsonb_typeof(properties) = 'object'),
    instance          text check (char_length(instance) between 1 and 200),
    memory            text check (char_length(memory) between 1 and 200),
    first_learned_at  timestamptz check (isfinite(first_learned_at)),
    last_confirmed_at timestamptz check (isfinite(last_confirmed_at)),
    version           integer not null default 1 check (version > 0),
    deleted_at        timestamptz check (isfinite(deleted_at)),
    primary key (space_id, entity_id),
    foreign key (space_id, entity_id) references entity on delete cascade,
    foreign key (space_id, description_id) references observation on delete set null (description_id)
) with (fillfactor = 85);
create index graph_node_label_idx on graph_node (space_id, label_key) where label_key is not null;
create index graph_node_description_idx on graph_node (space_id, description_id) where description_id is not null;
create index graph_node_deleted_idx on graph_node (space_id, deleted_at) where deleted_at is not null;
create table graph_edge (
    space_id          integer not null,
    relation_id       uuid not null,
    evidence          text check (char_length(evidence) between 1 and 2000),
    properties        jsonb check (jsonb_typeof(properties) = 'object'),
    instance          text check (char_length(instance) between 1 and 200),
    occurred_at       timestamptz check (isfinite(occurred_at)),
    last_confirmed_at timestamptz check (isfinite(last_confirmed_at)),
    version           integer not null default 1 check (version > 0),
    deleted_at        timestamptz check (isfinite(deleted_at)),
    primary key (space_id, relation_id),
    foreign key (space_id, relation_id) references relation on delete cascade
) with (fillfactor = 85);
create table graph_change (
    space_id    integer not null,
    event_id    bigint not null,
    entity_id   uuid,
    relation_id uuid,
    before      jsonb not null,
    after       jsonb not null,
    primary key (space_id, event_id),
    foreign key (space_id, entity_id) references entity on delete cascade,
    foreign key (space_id, relation_id) references relation on delete cascade,
    check (num_nonnulls(entity_id, relation_id) = 1)
);
create index graph_change_entity_idx on graph_change (space_id, entity_id) where entity_id is not null;
create index graph_change_relation_idx on graph_change (space_id, relation_id) where relation_id is not null;
-- 0014_corpus
alter table space
    add column tier text check (tier in ('public', 'personal', 'sensitive')),
    add column recall_tokens integer check (recall_tokens between 0 and 100000),
    add check (recall_tokens is null or tier is not null);
create table source (
    space_id     integer not null,
    document_id  uuid not null,
    source_kind  text not null check (source_kind in ('clip', 'ai-conversation', 'file')),
    label        text not null check (char_length(label) between 1 and 200),
    content_hash text,
    chunks       integer not null default 0 check (chunks >= 0),
    tokens       bigint not null default 0 check (tokens >= 0),
    primary key (space_id, document_id),
    foreign key (space_id, document_id) references document on delete cascade
);
create index source_hash_idx on source (space_id, content_hash) where content_hash is not null;
create table chunk (
    space_id       integer not null,
    observation_id uuid not null,
    tokens         integer not null check (tokens >= 0),
    line           integer not null check (line > 0),
    primary key (space_id, observation_id),
    foreign key (space_id, observation_id) references observation on delete cascade
);
create table correction (
    space_id      integer not null,
    id            uuid not null default gen_random_uuid(),
    document_id   uuid not null,
    part          smallint not null check (part > 0),
    proposal      text not null check (char_length(proposal) between 1 and 10000),
    original_text text not null,
    proposed_text text not null check (char_length(proposed_text) between 1 and 8000),
    tokens        integer not null check (tokens >= 0),
    mode          text not null check (mode in ('llm', 'deterministic')),
    author_id     integer not null references actor,
    client        text,
    request       text,
    created_at    timestamptz not null default clock_timestamp(),
    apply_until    timestamptz not null,
    applied_at    timestamptz,
    event_id      bigint,
    primary key (space_id, id),
    foreign key (space_id, document_id) references source on delete cascade,
    check ((applied_at is null) = (event_id is null))
);
create index correction_document_idx on correction (space_id, document_id);
create index correction_created_idx on correction (space_id, created_at) where applied_at is null;
-- 0015_review
alter table space
    add column reviewed boolean not null default false,
    add column proposal_days integer check (proposal_days between 1 and 3650),
    add check (not reviewed or tier is null);
create table proposal (
    space_id       integer not null references space,
    id             uuid not null default gen_random_uuid(),
    kind           text not null check (kind in ('fact', 'relation')),
    entity_name    text not null check (char_length(entity_name) between 1 and 200),
    entity_key     text not null,
    entity_type    text,
    content        text check (char_length(content) between 1 and 2000),
    content_hash   uuid not null,
    relation_type  text check (char_length(relation_type) between 1 and 100),
    to_name        text check (char_length(to_name) between 1 and 200),
    to_key         text,
    to_type        text,
    source         text check (source in ('conversation', 'note', 'document', 'manual')),
    confidence     real check (confidence between 0 and 1),
    valid_until    timestamptz check (isfinite(valid_until)),
    said_at        timestamptz check (isfinite(said_at)),
    replaces       text,
    replaces_edges boolean not null default false,
    model_id       integer references embedding_model on delete set null,
    vector         halfvec,
    fts            tsvector not null,
    author_id      integer not null references actor,
    client         text,
    tool           text not null,
    request        text,
    created_at     timestamptz not null default clock_timestamp(),
    decision       text check (decision in ('accepted', 'rejected', 'withdrawn')),
    decided_at     timestamptz,
    decided_by     integer references actor,
    reason         text check (char_length(reason) between 1 and 1000),
    observation_id uuid,
    relation_id    uuid,
    primary key (space_id, id),
    check ((kind = 'fact') = (content is not null)),
    check ((kind = 'relation') = (relation_type is not null and to_name is not null and to_key is not null)),
    check ((decision is null) = (decided_at is null))
);
create unique index proposal_text_idx on proposal (space_id, author_id, kind, entity_key, content_hash) where decision is null;
create index proposal_author_idx on proposal (space_id, author_id, created_at);
create index proposal_pending_idx on proposal (space_id, created_at, id) where decision is null;
create index proposal_entity_idx on proposal (space_id, entity_key);
create index proposal_to_idx on proposal (space_id, to_key) where to_key is not null;
create index proposal_observation_idx on proposal (space_id, observation_id) where observation_id is not null;
create index proposal_relation_idx on proposal (space_id, relation_id) where relation_id is not null;
create index event_proposal_idx on event (space_id, (detail ->> 'proposal')) where detail ? 'proposal';
create index event_accepted_idx on event (space_id, at) where action = 'accepted';
create function session_reviews() returns integer[]
language plpgsql stable parallel safe security definer set search_path from current
as 'begin return reviewed_spaces(); end';
alter table proposal enable row level security;
alter table proposal force row level security;
create policy owner on proposal to current_user using (true) with check (true);
create policy readers on proposal for select using (space_id = any((select session_reviews())::integer[]));
create policy proposals on event as restrictive for select to textrawl_analyst
    using (not detail ? 'proposal' or action = 'accepted' or space_id = any((select session_reviews())::integer[]));
create policy proposals on undone as restrictive for select to textrawl_analyst
    using (kind <> 'proposal' or space_id = any((select session_reviews())::integer[]));
-- 0016_aliases
create table entity_alias (
    space_id   integer not null,
    id         uuid not null default gen_random_uuid(),
    entity_id  uuid not null,
    name       text not null check (char_length(name) between 1 and 200),
    name_key   text not null,
    author_id  integer not null references actor,
    client     text,
    tool       text not null,
    request    text,
    created_at timestamptz not null default now(),
    removed_at timestamptz,
    primary key (space_id, id),
    foreign key (space_id, entity_id) references entity on delete cascade
);
create unique index entity_alias_key_idx on entity_alias (space_id, name_key) where removed_at is null;
create index entity_alias_entity_idx on entity_alias (space_id, entity_id);
create index entity_alias_prefix_idx on entity_alias (space_id, name_key text_pattern_ops) where removed_at is null;
create table merge (
    space_id     integer not null,
    id           uuid not null default gen_random_uuid(),
    kept_id      uuid not null,
    merged_id    uuid not null,
    entity       jsonb not null,
    facts        uuid[] not null,
    sources      uuid[] not null,
    targets      uuid[] not null,
    reflections  uuid[] not null,
    aliases      uuid[] not null,
    merges       uuid[] not null,
    former       jsonb not null,
    given        jsonb not null,
    actor_id     integer not null references actor,
    at           timestamptz not null,
    primary key (space_id, id),
    unique (space_id, merged_id),
    foreign key (space_id, kept_id) references entity on delete cascade
);
create index merge_kept_idx on merge (space_id, kept_id);
create table merged (
    space_id    integer not null,
    merge_id    uuid not null,
    id          uuid not null,
    kind        text not null check (kind in ('fact', 'relation')),
    twin        uuid,
    valid_until timestamptz,
    ended       timestamptz not null,
    primary key (space_id, merge_id, id),
    foreign key (space_id, merge_id) references merge on delete cascade
);
create index merged_id_idx on merged (space_id, id);
create index merged_twin_idx on merged (space_id, twin) where twin is not null;
-- 0017_revisions
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
