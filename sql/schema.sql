-- All tables of textrawl with their indexes, policies and triggers.
-- This file is generated from a database after `textrawl migrate`. Do not edit it. Update it with
--     UPDATE_SNAPSHOTS=1 .venv/bin/pytest tests/sql/test_schema.py
-- Nothing in textrawl runs it. The tables are made by sql/migrations, the policies by
-- sql/access/protect_tables.sql, and one table embedding_N for each model by
-- sql/vectors/create_embedding_model.sql.

CREATE SCHEMA textrawl;
SET search_path = textrawl, public;

CREATE OR REPLACE FUNCTION textrawl.keep_events()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$
begin
    -- settle_events() sets the transaction to 0: transaction numbers of another cluster mean nothing.
    if tg_op = 'UPDATE' and to_jsonb(new) = to_jsonb(old) || '{"transaction": "0"}' then
        return new;
    end if;
    raise exception 'the trail is append-only' using errcode = 'object_not_in_prerequisite_state';
end
$function$
;
COMMENT ON FUNCTION keep_events IS 'Refuses to change or delete an event, also for the owner of the memory.';

CREATE OR REPLACE FUNCTION textrawl.number_fact()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$
begin
    -- No lock: two writers at once may take the same number. Their facts then count as neighbours.
    new.ordinal := coalesce((select max(o.ordinal) from observation o where o.space_id = new.space_id), 0) + 1;
    return new;
end
$function$
;
COMMENT ON FUNCTION number_fact IS 'Gives a fact the next number in its space.';

CREATE OR REPLACE FUNCTION textrawl.session_spaces()
 RETURNS integer[]
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE SECURITY DEFINER
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$begin return readable_spaces(); end$function$
;
COMMENT ON FUNCTION session_spaces IS 'Spaces that this session may read, for row-level security. These are the spaces of its login, or all spaces for the owner.';

CREATE TABLE migration (
    name text NOT NULL,
    applied_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT migration_pkey PRIMARY KEY (name)
);
COMMENT ON TABLE migration IS 'Migrations that were applied: the numbered files of tables.';
COMMENT ON COLUMN migration.name IS 'Name of the file.';
COMMENT ON COLUMN migration.applied_at IS 'When it was applied.';

CREATE TABLE code (
    singleton boolean DEFAULT true NOT NULL,
    fingerprint text NOT NULL,
    CONSTRAINT code_pkey PRIMARY KEY (singleton),
    CONSTRAINT code_singleton_check CHECK (singleton)
);
COMMENT ON TABLE code IS 'Fingerprint of the functions and views in this database.';
COMMENT ON COLUMN code.singleton IS 'Always true, because the table has one row.';
COMMENT ON COLUMN code.fingerprint IS 'SHA-256 of the files of functions, views and grants.';

CREATE TABLE space (
    id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
    name text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    archived_at timestamptz,
    CONSTRAINT space_pkey PRIMARY KEY (id),
    CONSTRAINT space_name_key UNIQUE (name),
    CONSTRAINT space_name_check CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text)
);
COMMENT ON TABLE space IS 'A named memory of a team, a project or a person. All other rows belong to a space.';
COMMENT ON COLUMN space.id IS 'Id of the space. It comes first in every key of its rows.';
COMMENT ON COLUMN space.name IS 'Lower-case letters, digits, - and _. Part of addresses such as /mcp/team.';
COMMENT ON COLUMN space.created_at IS 'When the space was created.';
COMMENT ON COLUMN space.archived_at IS 'Since when tokens can neither read nor write the space. Null: in use.';
ALTER TABLE space ENABLE ROW LEVEL SECURITY;
ALTER TABLE space FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON space FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON space FOR SELECT TO public USING ((id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE actor (
    id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
    name text NOT NULL,
    role_name text,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT actor_pkey PRIMARY KEY (id),
    CONSTRAINT actor_name_key UNIQUE (name),
    CONSTRAINT actor_role_name_key UNIQUE (role_name),
    CONSTRAINT actor_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 200)
);
COMMENT ON TABLE actor IS 'A person, an agent or a service that writes.';
COMMENT ON COLUMN actor.id IS 'Id of the actor.';
COMMENT ON COLUMN actor.name IS 'Unique name of the actor.';
COMMENT ON COLUMN actor.role_name IS 'Database login whose sessions act as this actor, such as the login of an analyst. Null: the actor uses tokens only.';
COMMENT ON COLUMN actor.created_at IS 'When the actor was registered.';

CREATE TABLE entity (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    entity_type text NOT NULL,
    type_guessed boolean DEFAULT false NOT NULL,
    description text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    fts tsvector NOT NULL,
    CONSTRAINT entity_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT entity_space_id_name_key_key UNIQUE (space_id, name_key),
    CONSTRAINT entity_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id),
    CONSTRAINT entity_entity_type_check CHECK (entity_type = ANY (ARRAY['person'::text, 'concept'::text, 'project'::text, 'preference'::text, 'fact'::text, 'location'::text, 'organization'::text])),
    CONSTRAINT entity_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 200)
) WITH (fillfactor=85);
COMMENT ON TABLE entity IS 'A thing that facts are about. Each name has one entity per space.';
COMMENT ON COLUMN entity.space_id IS 'Space of the entity.';
COMMENT ON COLUMN entity.id IS 'Id of the entity, unique in its space.';
COMMENT ON COLUMN entity.name IS 'Name as it was first written.';
COMMENT ON COLUMN entity.name_key IS 'name_key(name), the form in which names are compared. Unique in the space.';
COMMENT ON COLUMN entity.entity_type IS 'person, concept, project, preference, fact, location or organization.';
COMMENT ON COLUMN entity.type_guessed IS 'True: no caller has given a type yet. The first type that a caller gives replaces the guess.';
COMMENT ON COLUMN entity.description IS 'A description in one sentence. Null: none was given.';
COMMENT ON COLUMN entity.metadata IS 'Two optional keys. type: the type as it was given, if it is not one of the seven, such as Proyecto. retyped: former types with the event of each change, oldest first.';
COMMENT ON COLUMN entity.created_at IS 'When the entity was created.';
COMMENT ON COLUMN entity.updated_at IS 'When a fact or relation of the entity was last added, changed or removed.';
COMMENT ON COLUMN entity.fts IS 'Words of the name. They find similar names for a wrong name.';
CREATE INDEX entity_created_at_idx ON entity USING btree (space_id, created_at, id);
CREATE INDEX entity_fts_idx ON entity USING gin (fts) WITH (fastupdate=off);
CREATE INDEX entity_name_prefix_idx ON entity USING btree (space_id, name_key text_pattern_ops);
CREATE INDEX entity_updated_at_idx ON entity USING btree (space_id, updated_at DESC, id);
ALTER TABLE entity ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON entity FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON entity FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE observation (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    entity_id uuid NOT NULL,
    entity_type text NOT NULL,
    content text NOT NULL,
    content_hash uuid NOT NULL,
    whole uuid,
    part smallint,
    source text NOT NULL,
    confidence real DEFAULT 1 NOT NULL,
    valid_from timestamptz DEFAULT now() NOT NULL,
    valid_until timestamptz,
    replaced_by uuid,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamptz DEFAULT now() NOT NULL,
    ordinal bigint NOT NULL,
    fts tsvector NOT NULL,
    CONSTRAINT observation_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT observation_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT observation_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT observation_space_id_replaced_by_fkey FOREIGN KEY (space_id, replaced_by) REFERENCES observation(space_id, id) ON DELETE SET NULL (replaced_by),
    CONSTRAINT observation_check CHECK ((whole IS NULL) = (part IS NULL) AND part > 0),
    CONSTRAINT observation_confidence_check CHECK (confidence >= 0::double precision AND confidence <= 1::double precision),
    CONSTRAINT observation_content_check CHECK (char_length(content) >= 1 AND char_length(content) <= 2000),
    CONSTRAINT observation_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT observation_source_check CHECK (source = ANY (ARRAY['conversation'::text, 'note'::text, 'document'::text, 'manual'::text])),
    CONSTRAINT observation_valid_from_check CHECK (isfinite(valid_from)),
    CONSTRAINT observation_valid_until_check CHECK (isfinite(valid_until))
) WITH (fillfactor=85);
COMMENT ON TABLE observation IS 'A fact: one atomic statement about an entity. Its text is never edited. A new fact replaces an old one.';
COMMENT ON COLUMN observation.space_id IS 'Space of the fact.';
COMMENT ON COLUMN observation.id IS 'Id of the fact, unique in its space.';
COMMENT ON COLUMN observation.entity_id IS 'Entity that the fact is about.';
COMMENT ON COLUMN observation.entity_type IS 'Type of the entity, copied here so that filters need no join.';
COMMENT ON COLUMN observation.content IS 'Text of the fact, 1 to 2000 characters.';
COMMENT ON COLUMN observation.content_hash IS 'md5 of fact_key(content). Texts that differ only in case, white space or a final full stop have the same hash.';
COMMENT ON COLUMN observation.whole IS 'md5 of the long text that this fact is a part of. The graph tools split texts that are too long for one fact. Null: the fact is not a part.';
COMMENT ON COLUMN observation.part IS 'Number of the part, from 1. The parts of one entity with the same whole, joined in this order, are the long text.';
COMMENT ON COLUMN observation.source IS 'conversation, note, document or manual.';
COMMENT ON COLUMN observation.confidence IS 'How sure the author was, 0 to 1.';
COMMENT ON COLUMN observation.valid_from IS 'The fact is valid from this instant on.';
COMMENT ON COLUMN observation.valid_until IS 'The fact is not valid from this instant on. Null: still valid.';
COMMENT ON COLUMN observation.replaced_by IS 'The newer fact that replaced this one.';
COMMENT ON COLUMN observation.author_id IS 'Actor who wrote the fact.';
COMMENT ON COLUMN observation.client IS 'Name and version of the MCP client that wrote it. Null: written from SQL.';
COMMENT ON COLUMN observation.tool IS 'Tool that wrote it. sql: written from psql.';
COMMENT ON COLUMN observation.request IS 'Id of the request that wrote it, as in the log of the server. Null: written from SQL.';
COMMENT ON COLUMN observation.created_at IS 'When the fact was stored.';
COMMENT ON COLUMN observation.ordinal IS 'Number of the fact in its space, in the order of storing. Two writers at once may use the same number. Search treats neighbours as parts of one conversation.';
COMMENT ON COLUMN observation.fts IS 'search_document(space_id, name of the entity, content). Contains the space as the lexeme ~s<space_id>.';
CREATE INDEX observation_entity_idx ON observation USING btree (space_id, entity_id, content_hash);
CREATE INDEX observation_fts_idx ON observation USING gin (fts) WITH (fastupdate=off);
CREATE INDEX observation_ordinal_idx ON observation USING btree (space_id, ordinal);
CREATE INDEX observation_replaced_by_idx ON observation USING btree (space_id, replaced_by) WHERE replaced_by IS NOT NULL;
CREATE INDEX observation_type_idx ON observation USING btree (space_id, entity_type);
CREATE INDEX observation_valid_until_idx ON observation USING btree (space_id, valid_until) WHERE valid_until IS NOT NULL;
ALTER TABLE observation ENABLE ROW LEVEL SECURITY;
ALTER TABLE observation FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON observation FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON observation FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));
CREATE TRIGGER fact_is_numbered BEFORE INSERT ON observation FOR EACH ROW WHEN (new.ordinal IS NULL) EXECUTE FUNCTION number_fact();

CREATE TABLE relation (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    from_entity uuid NOT NULL,
    relation_type text NOT NULL,
    label text,
    to_entity uuid NOT NULL,
    strength real DEFAULT 1 NOT NULL,
    valid_from timestamptz DEFAULT now() NOT NULL,
    valid_until timestamptz,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT relation_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT relation_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT relation_space_id_from_entity_fkey FOREIGN KEY (space_id, from_entity) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT relation_space_id_to_entity_fkey FOREIGN KEY (space_id, to_entity) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT relation_label_check CHECK (char_length(label) >= 1 AND char_length(label) <= 100),
    CONSTRAINT relation_relation_type_check CHECK (char_length(relation_type) >= 1 AND char_length(relation_type) <= 100),
    CONSTRAINT relation_strength_check CHECK (strength >= 0::double precision AND strength <= 1::double precision),
    CONSTRAINT relation_valid_from_check CHECK (isfinite(valid_from)),
    CONSTRAINT relation_valid_until_check CHECK (isfinite(valid_until))
);
COMMENT ON TABLE relation IS 'A directed and named connection of two entities.';
COMMENT ON COLUMN relation.space_id IS 'Space of the relation.';
COMMENT ON COLUMN relation.id IS 'Id of the relation, unique in its space.';
COMMENT ON COLUMN relation.from_entity IS 'Entity that the relation starts at.';
COMMENT ON COLUMN relation.relation_type IS 'Type in lower case with _ instead of white space, such as works_at.';
COMMENT ON COLUMN relation.label IS 'Type as it was given, such as worksAt. Null: it was given in the form of relation_type.';
COMMENT ON COLUMN relation.to_entity IS 'Entity that the relation leads to. The graph tools may relate an entity to itself.';
COMMENT ON COLUMN relation.strength IS 'Strength of the connection, 0 to 1.';
COMMENT ON COLUMN relation.valid_from IS 'The relation is valid from this instant on.';
COMMENT ON COLUMN relation.valid_until IS 'The relation is not valid from this instant on. Null: still valid.';
COMMENT ON COLUMN relation.author_id IS 'Actor who wrote the relation.';
COMMENT ON COLUMN relation.client IS 'Name and version of the MCP client that wrote it. Null: written from SQL.';
COMMENT ON COLUMN relation.tool IS 'Tool that wrote it. sql: written from psql.';
COMMENT ON COLUMN relation.request IS 'Id of the request that wrote it, as in the log of the server. Null: written from SQL.';
COMMENT ON COLUMN relation.created_at IS 'When the relation was stored.';
CREATE INDEX relation_from_entity_idx ON relation USING btree (space_id, from_entity);
CREATE UNIQUE INDEX relation_live_idx ON relation USING btree (space_id, from_entity, relation_type, to_entity) WHERE valid_until IS NULL;
CREATE INDEX relation_to_entity_idx ON relation USING btree (space_id, to_entity);
ALTER TABLE relation ENABLE ROW LEVEL SECURITY;
ALTER TABLE relation FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON relation FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON relation FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TYPE new_fact AS (
    id uuid,
    entity_id uuid,
    entity_name text,
    entity_type text,
    content text,
    content_hash uuid,
    source text,
    confidence real,
    valid_until timestamptz,
    replaces text,
    vector halfvec
);
COMMENT ON TYPE new_fact IS 'A fact that will be stored. read_facts() makes it after the entity was found or created. Each step of storing handles an array of facts in one statement.';
COMMENT ON COLUMN new_fact.id IS 'Id of the fact, if it is stored.';
COMMENT ON COLUMN new_fact.entity_id IS 'Entity that the fact is about.';
COMMENT ON COLUMN new_fact.entity_name IS 'Name of the entity. The fact can be found by the words of the name.';
COMMENT ON COLUMN new_fact.entity_type IS 'Type of the entity. An existing entity keeps its type.';
COMMENT ON COLUMN new_fact.content IS 'Text of the fact.';
COMMENT ON COLUMN new_fact.content_hash IS 'md5 of fact_key(content).';
COMMENT ON COLUMN new_fact.source IS 'conversation, note, document or manual. Null: not given.';
COMMENT ON COLUMN new_fact.confidence IS 'From 0 to 1. Null: not given.';
COMMENT ON COLUMN new_fact.valid_until IS 'The fact is not valid from this instant on. Null: not given.';
COMMENT ON COLUMN new_fact.replaces IS 'Fact that it replaces: an id, the start of an id, or the text. Null: none.';
COMMENT ON COLUMN new_fact.vector IS 'Vector of the active model. Null: not computed yet.';

CREATE TABLE removal_lock (
);
COMMENT ON TABLE removal_lock IS 'Has no rows. claim_removal() locks it while facts are removed. refresh_search_statistics() locks it while words are counted.';

CREATE TABLE word_form (
    stem text NOT NULL,
    other text NOT NULL,
    CONSTRAINT word_form_pkey PRIMARY KEY (stem, other),
    CONSTRAINT word_form_check CHECK (other <> stem)
);
COMMENT ON TABLE word_form IS 'Words with the same meaning but different stems, such as go and went. A search for one also finds the other.';
COMMENT ON COLUMN word_form.stem IS 'Stem as to_tsvector(''english'', …) produces it.';
COMMENT ON COLUMN word_form.other IS 'Another stem with the same meaning.';

CREATE TABLE lexeme (
    space_id integer NOT NULL,
    word text NOT NULL,
    frequency integer NOT NULL,
    CONSTRAINT lexeme_pkey PRIMARY KEY (space_id, word),
    CONSTRAINT lexeme_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON DELETE CASCADE,
    CONSTRAINT lexeme_frequency_check CHECK (frequency > 0)
);
COMMENT ON TABLE lexeme IS 'Number of facts of a space that contain a word, as of the last refresh_search_statistics(). Counts are kept per space, so that the scores of one space reveal nothing about another.';
COMMENT ON COLUMN lexeme.space_id IS 'Space whose facts are counted.';
COMMENT ON COLUMN lexeme.word IS 'Stem as the text index stores it.';
COMMENT ON COLUMN lexeme.frequency IS 'Number of facts of the space that contain the stem.';
CREATE INDEX lexeme_word_idx ON lexeme USING btree (word, space_id) INCLUDE (frequency);
ALTER TABLE lexeme ENABLE ROW LEVEL SECURITY;
ALTER TABLE lexeme FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON lexeme FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON lexeme FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE search_statistics (
    singleton boolean DEFAULT true NOT NULL,
    facts double precision NOT NULL,
    refreshed_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT search_statistics_pkey PRIMARY KEY (singleton),
    CONSTRAINT search_statistics_singleton_check CHECK (singleton)
);
COMMENT ON TABLE search_statistics IS 'Number of all facts at the last refresh_search_statistics().';
COMMENT ON COLUMN search_statistics.singleton IS 'Always true, because the table has one row.';
COMMENT ON COLUMN search_statistics.facts IS 'Number of facts.';
COMMENT ON COLUMN search_statistics.refreshed_at IS 'When the facts were counted.';

CREATE TABLE space_statistics (
    space_id integer NOT NULL,
    facts bigint NOT NULL,
    CONSTRAINT space_statistics_pkey PRIMARY KEY (space_id),
    CONSTRAINT space_statistics_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON DELETE CASCADE
);
COMMENT ON TABLE space_statistics IS 'Number of facts per space at the last refresh_search_statistics(). Search scans small spaces exactly and uses an index for large ones.';
COMMENT ON COLUMN space_statistics.space_id IS 'The space.';
COMMENT ON COLUMN space_statistics.facts IS 'Number of facts in the space.';
ALTER TABLE space_statistics ENABLE ROW LEVEL SECURITY;
ALTER TABLE space_statistics FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON space_statistics FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON space_statistics FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE embedding_model (
    id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
    name text NOT NULL,
    dimensions integer NOT NULL,
    cosine_floor real DEFAULT 0 NOT NULL,
    cosine_ceiling real DEFAULT 1 NOT NULL,
    trust real DEFAULT 0.8 NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    status_since timestamptz DEFAULT now() NOT NULL,
    queued boolean DEFAULT true NOT NULL,
    queued_space integer,
    queued_observation uuid,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT embedding_model_pkey PRIMARY KEY (id),
    CONSTRAINT embedding_model_name_key UNIQUE (name),
    CONSTRAINT embedding_model_check CHECK (cosine_ceiling > cosine_floor),
    CONSTRAINT embedding_model_dimensions_check CHECK (dimensions >= 1 AND dimensions <= 4000),
    CONSTRAINT embedding_model_status_check CHECK (status = ANY (ARRAY['building'::text, 'active'::text, 'previous'::text])),
    CONSTRAINT embedding_model_trust_check CHECK (trust >= 0::double precision AND trust <= 1::double precision)
);
COMMENT ON TABLE embedding_model IS 'An embedding model. The table embedding_N has the vectors of model N.';
COMMENT ON COLUMN embedding_model.id IS 'Number of the model. The name of its table of vectors ends with it.';
COMMENT ON COLUMN embedding_model.name IS 'provider:model, such as openai:text-embedding-3-small.';
COMMENT ON COLUMN embedding_model.dimensions IS 'Number of dimensions of its vectors.';
COMMENT ON COLUMN embedding_model.cosine_floor IS 'Two texts with this cosine or less are unrelated.';
COMMENT ON COLUMN embedding_model.cosine_ceiling IS 'Two texts with this cosine or more mean the same.';
COMMENT ON COLUMN embedding_model.trust IS 'Highest score of a fact that matches by cosine alone, without a common word. 0.5 for averaged word vectors, more for better models.';
COMMENT ON COLUMN embedding_model.status IS 'building: gets vectors. active: gets vectors and answers questions. previous: was active, and still gets vectors for a rollback.';
COMMENT ON COLUMN embedding_model.status_since IS 'When the model got its status.';
COMMENT ON COLUMN embedding_model.queued IS 'True: all facts that are older than the model have been added to embedding_pending.';
COMMENT ON COLUMN embedding_model.queued_space IS 'Space of the last fact that was added, see queued_observation. Facts are added in the order of both columns.';
COMMENT ON COLUMN embedding_model.queued_observation IS 'Last fact that was added to embedding_pending. Null: none yet.';
COMMENT ON COLUMN embedding_model.created_at IS 'When the model was first used in this database.';
CREATE UNIQUE INDEX embedding_model_status_idx ON embedding_model USING btree (status) WHERE status <> 'previous'::text;

CREATE TABLE embedding_pending (
    space_id integer NOT NULL,
    observation_id uuid NOT NULL,
    model_id integer NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT embedding_pending_pkey PRIMARY KEY (space_id, observation_id, model_id),
    CONSTRAINT embedding_pending_model_id_fkey FOREIGN KEY (model_id) REFERENCES embedding_model(id) ON DELETE CASCADE,
    CONSTRAINT embedding_pending_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES observation(space_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE embedding_pending IS 'Facts that still need a vector of a model. They were stored while the provider was down, or before the model was added.';
COMMENT ON COLUMN embedding_pending.space_id IS 'Space of the fact.';
COMMENT ON COLUMN embedding_pending.observation_id IS 'Fact without a vector.';
COMMENT ON COLUMN embedding_pending.model_id IS 'Model that has to make the vector.';
COMMENT ON COLUMN embedding_pending.attempts IS 'Number of failed attempts.';
COMMENT ON COLUMN embedding_pending.next_attempt IS 'When the next attempt is due.';
CREATE INDEX embedding_pending_due_idx ON embedding_pending USING btree (model_id, next_attempt);
ALTER TABLE embedding_pending ENABLE ROW LEVEL SECURITY;
ALTER TABLE embedding_pending FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON embedding_pending FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON embedding_pending FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE vector_index_claim (
    singleton boolean DEFAULT true NOT NULL,
    pid integer,
    backend_start timestamptz,
    CONSTRAINT vector_index_claim_pkey PRIMARY KEY (singleton),
    CONSTRAINT vector_index_claim_singleton_check CHECK (singleton)
);
COMMENT ON TABLE vector_index_claim IS 'Session that drops and builds vector indexes. claim_vector_indexes() sets it and release_vector_indexes() clears it.';
COMMENT ON COLUMN vector_index_claim.singleton IS 'Always true, because the table has one row.';
COMMENT ON COLUMN vector_index_claim.pid IS 'Process id of the session. Null: no session. The claim of a session that has ended does not count.';
COMMENT ON COLUMN vector_index_claim.backend_start IS 'When the session began. A later session can have the same process id.';

CREATE TABLE space_grant (
    space_id integer NOT NULL,
    actor_id integer NOT NULL,
    scopes text[] NOT NULL,
    for_login boolean DEFAULT false NOT NULL,
    granted_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT space_grant_pkey PRIMARY KEY (space_id, actor_id),
    CONSTRAINT space_grant_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES actor(id) ON DELETE CASCADE,
    CONSTRAINT space_grant_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON DELETE CASCADE,
    CONSTRAINT space_grant_scopes_check CHECK (scopes <@ ARRAY['read'::text, 'write'::text, 'forget'::text, 'admin'::text, 'metrics'::text] AND scopes <> '{}'::text[])
);
COMMENT ON TABLE space_grant IS 'Scopes of an actor in a space. Without a row the actor has no access.';
COMMENT ON COLUMN space_grant.space_id IS 'Space that the grant is for.';
COMMENT ON COLUMN space_grant.actor_id IS 'Actor who has the grant.';
COMMENT ON COLUMN space_grant.scopes IS 'read, write, forget (permanent deletion), admin (grants, trail, undo), metrics (figures of the servers, no content of the space).';
COMMENT ON COLUMN space_grant.for_login IS 'True: create_analyst() granted read for the database login of the actor, and drop_analyst() removes it.';
COMMENT ON COLUMN space_grant.granted_at IS 'When it was granted or last changed.';
CREATE INDEX space_grant_actor_id_idx ON space_grant USING btree (actor_id);
ALTER TABLE space_grant ENABLE ROW LEVEL SECURITY;
ALTER TABLE space_grant FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON space_grant FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON space_grant FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE token (
    id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
    hash bytea NOT NULL,
    kind text NOT NULL,
    prefix text,
    actor_id integer NOT NULL,
    home_space_id integer,
    scopes text[] NOT NULL,
    issuer text,
    voucher_id integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    CONSTRAINT token_pkey PRIMARY KEY (id),
    CONSTRAINT token_hash_key UNIQUE (hash),
    CONSTRAINT token_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES actor(id) ON DELETE CASCADE,
    CONSTRAINT token_home_space_id_fkey FOREIGN KEY (home_space_id) REFERENCES space(id) ON DELETE SET NULL,
    CONSTRAINT token_voucher_id_fkey FOREIGN KEY (voucher_id) REFERENCES token(id) ON DELETE CASCADE,
    CONSTRAINT token_check CHECK ((voucher_id IS NOT NULL) = (kind = 'federated'::text)),
    CONSTRAINT token_expires_at_check CHECK (isfinite(expires_at)),
    CONSTRAINT token_hash_check CHECK (octet_length(hash) = 32),
    CONSTRAINT token_issuer_check CHECK (char_length(issuer) >= 1 AND char_length(issuer) <= 2000),
    CONSTRAINT token_kind_check CHECK (kind = ANY (ARRAY['bearer'::text, 'local'::text, 'federated'::text])),
    CONSTRAINT token_scopes_check CHECK (scopes <@ ARRAY['read'::text, 'write'::text, 'forget'::text, 'admin'::text, 'metrics'::text] AND scopes <> '{}'::text[])
);
COMMENT ON TABLE token IS 'Access tokens. A token can use a scope in a space only if both the token and a grant of its actor include it. Only hashes are stored.';
COMMENT ON COLUMN token.id IS 'Number of the token.';
COMMENT ON COLUMN token.hash IS 'SHA-256 of the token. Only its holder has the token itself.';
COMMENT ON COLUMN token.kind IS 'bearer: created by textrawl token. local: for the owner of an embedded memory. federated: a server verified it at an identity provider.';
COMMENT ON COLUMN token.prefix IS 'First characters of the token. People recognise tokens by them.';
COMMENT ON COLUMN token.actor_id IS 'Actor of the token, who is the author of its writes.';
COMMENT ON COLUMN token.home_space_id IS 'Space for writes if the address names no space. Null: the only space that the token may write.';
COMMENT ON COLUMN token.scopes IS 'Scopes that the token can have at most: read, write, forget, admin, metrics.';
COMMENT ON COLUMN token.issuer IS 'Identity provider that a server with this token may vouch for, as in OAUTH_ISSUER. Null: none.';
COMMENT ON COLUMN token.voucher_id IS 'Token of the server that verified a federated token. The federated token ends with it. It reaches only spaces where the token of the server has the scope admin.';
COMMENT ON COLUMN token.created_at IS 'When the token was created.';
COMMENT ON COLUMN token.expires_at IS 'When the token expires. Null: never.';
COMMENT ON COLUMN token.last_used_at IS 'When the token was last used, to the minute.';
COMMENT ON COLUMN token.revoked_at IS 'When the token was revoked. Null: it was not.';
CREATE INDEX token_actor_id_idx ON token USING btree (actor_id);
CREATE UNIQUE INDEX token_local_idx ON token USING btree (actor_id) WHERE kind = 'local'::text;
CREATE INDEX token_voucher_id_idx ON token USING btree (voucher_id) WHERE voucher_id IS NOT NULL;
ALTER TABLE token ENABLE ROW LEVEL SECURITY;
ALTER TABLE token FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON token FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);

CREATE TYPE origin AS (
    space_id integer,
    author_id integer,
    client text,
    tool text,
    request text
);
COMMENT ON TYPE origin IS 'Where a write goes and where it comes from. open_write() determines it once per call.';
COMMENT ON COLUMN origin.space_id IS 'Space that is written.';
COMMENT ON COLUMN origin.author_id IS 'Actor who writes.';
COMMENT ON COLUMN origin.client IS 'Name and version of the MCP client. Null: written from SQL.';
COMMENT ON COLUMN origin.tool IS 'Tool that writes. sql: written from psql.';
COMMENT ON COLUMN origin.request IS 'Id of the request, as in the log of the server. Null: written from SQL.';

CREATE TABLE event (
    space_id integer NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    actor_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    action text NOT NULL,
    entity_id uuid,
    observation_id uuid,
    relation_id uuid,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    transaction xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT event_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT event_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES actor(id),
    CONSTRAINT event_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id)
);
COMMENT ON TABLE event IS 'Append-only trail of all writes: who did what, when, with which client and tool. It contains no text of facts.';
COMMENT ON COLUMN event.space_id IS 'Space of the event.';
COMMENT ON COLUMN event.id IS 'Number of the event. A higher number is later, except for transactions that overlap.';
COMMENT ON COLUMN event.at IS 'When it happened.';
COMMENT ON COLUMN event.actor_id IS 'Actor who did it.';
COMMENT ON COLUMN event.client IS 'Name and version of the MCP client. Null: done from SQL.';
COMMENT ON COLUMN event.tool IS 'Tool that did it. sql: done from psql.';
COMMENT ON COLUMN event.request IS 'Id of the request, as in the log of the server. Null: done from SQL.';
COMMENT ON COLUMN event.action IS 'Of an entity: created, retyped. Of a fact: remembered, repeated (the same text again, perhaps by another author), updated (the same text with another source, confidence or end), replaced, moved (to another entity). Of a relation: related, ended. Also reflected, forgotten, undone, restored, imported.';
COMMENT ON COLUMN event.entity_id IS 'Entity of the event. The id is kept after the entity is forgotten.';
COMMENT ON COLUMN event.observation_id IS 'Fact of the event. Null: none, or several.';
COMMENT ON COLUMN event.relation_id IS 'Relation of the event.';
COMMENT ON COLUMN event.detail IS 'Counts, ids and values of the action, such as the values before and after an update. Never the text of a fact.';
COMMENT ON COLUMN event.transaction IS 'Transaction of the event. Followers of the trail read in the order of transaction and id, because ids alone become visible out of order.';
CREATE INDEX event_actor_idx ON event USING btree (space_id, actor_id, at);
CREATE INDEX event_entity_idx ON event USING btree (space_id, entity_id);
CREATE INDEX event_feed_idx ON event USING btree (space_id, transaction, id);
CREATE INDEX event_observation_idx ON event USING btree (space_id, observation_id) WHERE observation_id IS NOT NULL;
CREATE INDEX event_relation_idx ON event USING btree (space_id, relation_id) WHERE relation_id IS NOT NULL;
CREATE INDEX event_replaced_idx ON event USING btree (space_id, (detail ->> 'replaced'::text)) WHERE detail ? 'replaced'::text;
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
ALTER TABLE event FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON event FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON event FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));
CREATE TRIGGER event_is_kept BEFORE DELETE OR UPDATE ON event FOR EACH ROW EXECUTE FUNCTION keep_events();
CREATE TRIGGER events_are_kept BEFORE TRUNCATE ON event FOR EACH STATEMENT EXECUTE FUNCTION keep_events();

CREATE TABLE undo (
    space_id integer NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    author_id integer NOT NULL,
    actor_id integer NOT NULL,
    since timestamptz NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    events bigint[] NOT NULL,
    reverted_at timestamptz,
    purged_at timestamptz,
    CONSTRAINT undo_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT undo_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES actor(id),
    CONSTRAINT undo_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT undo_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id),
    CONSTRAINT undo_since_check CHECK (isfinite(since))
);
COMMENT ON TABLE undo IS 'An undo of the writes of one author in one space.';
COMMENT ON COLUMN undo.space_id IS 'Space of the undo.';
COMMENT ON COLUMN undo.id IS 'Number of the undo.';
COMMENT ON COLUMN undo.author_id IS 'Author whose writes were undone.';
COMMENT ON COLUMN undo.actor_id IS 'Actor who started the undo.';
COMMENT ON COLUMN undo.since IS 'Writes from this instant on were undone.';
COMMENT ON COLUMN undo.at IS 'When the writes were undone.';
COMMENT ON COLUMN undo.events IS 'Ids of the events that no longer count. They count again after a revert.';
COMMENT ON COLUMN undo.reverted_at IS 'When the undo was reverted. Null: it was not.';
COMMENT ON COLUMN undo.purged_at IS 'When the undone content was deleted permanently. Null: it is kept.';
ALTER TABLE undo ENABLE ROW LEVEL SECURITY;
ALTER TABLE undo FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON undo FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON undo FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE undone (
    space_id integer NOT NULL,
    undo_id bigint NOT NULL,
    action text NOT NULL,
    kind text NOT NULL,
    id uuid NOT NULL,
    names text[] NOT NULL,
    entities jsonb DEFAULT '[]'::jsonb NOT NULL,
    before jsonb NOT NULL,
    after jsonb,
    CONSTRAINT undone_pkey PRIMARY KEY (space_id, undo_id, id, action),
    CONSTRAINT undone_space_id_undo_id_fkey FOREIGN KEY (space_id, undo_id) REFERENCES undo(space_id, id) ON DELETE CASCADE,
    CONSTRAINT undone_action_check CHECK (action = ANY (ARRAY['remove'::text, 'hand over'::text, 'revive'::text, 'reset'::text, 'drop entity'::text, 'move back'::text, 'retype'::text])),
    CONSTRAINT undone_kind_check CHECK (kind = ANY (ARRAY['entity'::text, 'observation'::text, 'relation'::text, 'reflection'::text]))
);
COMMENT ON TABLE undone IS 'Rows that an undo removed or changed. They are kept until the undo is purged or their entity is forgotten.';
COMMENT ON COLUMN undone.space_id IS 'Space of the row.';
COMMENT ON COLUMN undone.undo_id IS 'The undo.';
COMMENT ON COLUMN undone.action IS 'Change of the row. remove. hand over: to another author of the same fact. revive: valid again. reset: source, confidence and end as before. drop entity. move back: to the former entity. retype: to the former type.';
COMMENT ON COLUMN undone.kind IS 'entity, observation, relation or reflection.';
COMMENT ON COLUMN undone.id IS 'Id of the row.';
COMMENT ON COLUMN undone.names IS 'name_key of each entity that the row says something about.';
COMMENT ON COLUMN undone.entities IS 'These entities as they were, if no other row has them.';
COMMENT ON COLUMN undone.before IS 'The removed row, or the former values of the changed columns.';
COMMENT ON COLUMN undone.after IS 'The changed columns after the undo. Null: the row was removed.';
CREATE INDEX undone_id_idx ON undone USING btree (space_id, id);
CREATE INDEX undone_names_idx ON undone USING gin (names);
ALTER TABLE undone ENABLE ROW LEVEL SECURITY;
ALTER TABLE undone FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON undone FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON undone FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE recall (
    space_id integer NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    at timestamptz NOT NULL,
    actor_id integer,
    client text,
    mode text NOT NULL,
    query text,
    query_hash text,
    hits integer,
    score real,
    cosine real,
    coverage real,
    facts uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    format text NOT NULL,
    structured boolean NOT NULL,
    tokens integer NOT NULL,
    verbose_tokens integer,
    budget integer NOT NULL,
    items integer NOT NULL,
    dropped integer NOT NULL,
    milliseconds real,
    CONSTRAINT recall_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT recall_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES actor(id) ON DELETE SET NULL,
    CONSTRAINT recall_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON DELETE CASCADE,
    CONSTRAINT recall_at_check CHECK (isfinite(at)),
    CONSTRAINT recall_budget_check CHECK (budget > 0),
    CONSTRAINT recall_dropped_check CHECK (dropped >= 0),
    CONSTRAINT recall_hits_check CHECK (hits >= 0),
    CONSTRAINT recall_items_check CHECK (items >= 0),
    CONSTRAINT recall_milliseconds_check CHECK (milliseconds >= 0::double precision),
    CONSTRAINT recall_query_check CHECK (char_length(query) <= 500),
    CONSTRAINT recall_tokens_check CHECK (tokens >= 0),
    CONSTRAINT recall_verbose_tokens_check CHECK (verbose_tokens >= 0)
);
COMMENT ON TABLE recall IS 'Answers of query_memory and of the graph tools that read: the newest 100,000 of each space, at most 90 days old. RECORD_RECALLS decides whether the question is kept.';
COMMENT ON COLUMN recall.space_id IS 'Home space of the caller.';
COMMENT ON COLUMN recall.id IS 'Number of the recall.';
COMMENT ON COLUMN recall.at IS 'When it was answered. The row is written seconds later.';
COMMENT ON COLUMN recall.actor_id IS 'Actor who asked. Null: a session without a token.';
COMMENT ON COLUMN recall.client IS 'Name and version of the MCP client. Null: it sent none.';
COMMENT ON COLUMN recall.mode IS 'search, entity or list.';
COMMENT ON COLUMN recall.query IS 'The question or the entity name, its first 500 characters. Null: not kept because of RECORD_RECALLS=hash, or removed when the entity was forgotten.';
COMMENT ON COLUMN recall.query_hash IS 'First 16 hexadecimal digits of a SHA-256. Questions that differ only in case and white space have the same hash. It hides no question that can be guessed.';
COMMENT ON COLUMN recall.hits IS 'Number of facts that were found, including those that did not fit the answer.';
COMMENT ON COLUMN recall.score IS 'Score of the best fact, 0 to 1. Null: none found, or not a search.';
COMMENT ON COLUMN recall.cosine IS 'Highest cosine of the question and a fact. Null: no vectors.';
COMMENT ON COLUMN recall.coverage IS 'Largest weighted share of the words of the question that one fact contains.';
COMMENT ON COLUMN recall.facts IS 'Ids of the facts in the answer that belong to the space of this row, best first.';
COMMENT ON COLUMN recall.format IS 'Format of the text: compact, lines or verbose.';
COMMENT ON COLUMN recall.structured IS 'True: structured content was sent beside the text.';
COMMENT ON COLUMN recall.tokens IS 'Tokens that count against the budget: the sum of all channels, or the larger channel for the graph tools.';
COMMENT ON COLUMN recall.verbose_tokens IS 'Tokens of the same answer as verbose text, counted for one answer every few seconds.';
COMMENT ON COLUMN recall.budget IS 'Highest number of tokens that the answer was allowed to have.';
COMMENT ON COLUMN recall.items IS 'Number of facts, relations or entities in the answer.';
COMMENT ON COLUMN recall.dropped IS 'Number of items that did not fit the budget.';
COMMENT ON COLUMN recall.milliseconds IS 'Time from the arrival of the call to its answer.';
CREATE INDEX recall_actor_idx ON recall USING btree (actor_id) WHERE actor_id IS NOT NULL;
CREATE INDEX recall_at_idx ON recall USING btree (space_id, at);
ALTER TABLE recall ENABLE ROW LEVEL SECURITY;
ALTER TABLE recall FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON recall FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON recall FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE recalled (
    space_id integer NOT NULL,
    observation_id uuid NOT NULL,
    recalls bigint NOT NULL,
    last_at timestamptz NOT NULL,
    CONSTRAINT recalled_pkey PRIMARY KEY (space_id, observation_id),
    CONSTRAINT recalled_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES observation(space_id, id) ON DELETE CASCADE,
    CONSTRAINT recalled_recalls_check CHECK (recalls > 0)
) WITH (fillfactor=80);
COMMENT ON TABLE recalled IS 'How often a fact was in an answer of query_memory, for all callers together. A fact that never was has no row.';
COMMENT ON COLUMN recalled.space_id IS 'Space of the fact.';
COMMENT ON COLUMN recalled.observation_id IS 'The fact.';
COMMENT ON COLUMN recalled.recalls IS 'Number of recorded answers with the fact.';
COMMENT ON COLUMN recalled.last_at IS 'When the fact was last in an answer.';
ALTER TABLE recalled ENABLE ROW LEVEL SECURITY;
ALTER TABLE recalled FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON recalled FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON recalled FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE entity_use (
    space_id integer NOT NULL,
    entity_id uuid NOT NULL,
    day date NOT NULL,
    count integer NOT NULL,
    last_at timestamptz NOT NULL,
    CONSTRAINT entity_use_pkey PRIMARY KEY (space_id, entity_id, day),
    CONSTRAINT entity_use_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT entity_use_count_check CHECK (count > 0),
    CONSTRAINT entity_use_last_at_check CHECK (isfinite(last_at))
);
COMMENT ON TABLE entity_use IS 'How often the graph tools answered with an entity, per day. They rank entities by it.';
COMMENT ON COLUMN entity_use.space_id IS 'Space of the entity.';
COMMENT ON COLUMN entity_use.entity_id IS 'The entity.';
COMMENT ON COLUMN entity_use.day IS 'The day in UTC.';
COMMENT ON COLUMN entity_use.count IS 'Number of answers with the entity on that day.';
COMMENT ON COLUMN entity_use.last_at IS 'When the entity was last in an answer on that day.';
ALTER TABLE entity_use ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity_use FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON entity_use FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON entity_use FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE joint_use (
    space_id integer NOT NULL,
    one uuid NOT NULL,
    other uuid NOT NULL,
    count integer NOT NULL,
    last_at timestamptz NOT NULL,
    CONSTRAINT joint_use_pkey PRIMARY KEY (space_id, one, other),
    CONSTRAINT joint_use_space_id_one_fkey FOREIGN KEY (space_id, one) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT joint_use_space_id_other_fkey FOREIGN KEY (space_id, other) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT joint_use_check CHECK (one < other),
    CONSTRAINT joint_use_count_check CHECK (count > 0),
    CONSTRAINT joint_use_last_at_check CHECK (isfinite(last_at))
);
COMMENT ON TABLE joint_use IS 'How often one answer of the graph tools contained both entities.';
COMMENT ON COLUMN joint_use.space_id IS 'Space of both entities.';
COMMENT ON COLUMN joint_use.one IS 'The entity with the smaller id.';
COMMENT ON COLUMN joint_use.other IS 'The other entity.';
COMMENT ON COLUMN joint_use.count IS 'Number of answers with both entities.';
COMMENT ON COLUMN joint_use.last_at IS 'When both were last in one answer.';
CREATE INDEX joint_use_other_idx ON joint_use USING btree (space_id, other);
ALTER TABLE joint_use ENABLE ROW LEVEL SECURITY;
ALTER TABLE joint_use FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON joint_use FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON joint_use FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE reflection (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    target_type text NOT NULL,
    entity_id uuid,
    relation_id uuid,
    content text NOT NULL,
    voice text NOT NULL,
    mood text,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    fts tsvector NOT NULL,
    model_id integer,
    vector halfvec,
    CONSTRAINT reflection_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT reflection_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT reflection_model_id_fkey FOREIGN KEY (model_id) REFERENCES embedding_model(id) ON DELETE SET NULL,
    CONSTRAINT reflection_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT reflection_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id),
    CONSTRAINT reflection_space_id_relation_id_fkey FOREIGN KEY (space_id, relation_id) REFERENCES relation(space_id, id) ON DELETE CASCADE,
    CONSTRAINT reflection_check CHECK ((entity_id IS NOT NULL) = (target_type = 'entity'::text)),
    CONSTRAINT reflection_check1 CHECK ((relation_id IS NOT NULL) = (target_type = 'relation'::text)),
    CONSTRAINT reflection_content_check CHECK (char_length(content) >= 1 AND char_length(content) <= 10000),
    CONSTRAINT reflection_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT reflection_mood_check CHECK (char_length(mood) >= 1 AND char_length(mood) <= 100),
    CONSTRAINT reflection_target_type_check CHECK (target_type = ANY (ARRAY['entity'::text, 'session'::text, 'relation'::text, 'global'::text])),
    CONSTRAINT reflection_voice_check CHECK (char_length(voice) >= 1 AND char_length(voice) <= 200)
);
COMMENT ON TABLE reflection IS 'A thought about an entity, a relation, a session or the whole memory. It is prose and not a fact.';
COMMENT ON COLUMN reflection.space_id IS 'Space of the reflection.';
COMMENT ON COLUMN reflection.id IS 'Id of the reflection, unique in its space.';
COMMENT ON COLUMN reflection.target_type IS 'What the reflection is about: entity, session, relation or global.';
COMMENT ON COLUMN reflection.entity_id IS 'Entity that the reflection is about.';
COMMENT ON COLUMN reflection.relation_id IS 'Relation that the reflection is about.';
COMMENT ON COLUMN reflection.content IS 'Text of the reflection, 1 to 10000 characters.';
COMMENT ON COLUMN reflection.voice IS 'Name of the speaker, as the writer gave it. It is shown apart from the author and proves nothing.';
COMMENT ON COLUMN reflection.mood IS 'Mood of the reflection, such as insight. Null: not given.';
COMMENT ON COLUMN reflection.author_id IS 'Actor who wrote the reflection.';
COMMENT ON COLUMN reflection.client IS 'Name and version of the MCP client that wrote it. Null: written from SQL.';
COMMENT ON COLUMN reflection.tool IS 'Tool that wrote it. sql: written from psql.';
COMMENT ON COLUMN reflection.request IS 'Id of the request that wrote it, as in the log of the server. Null: written from SQL.';
COMMENT ON COLUMN reflection.created_at IS 'When the reflection was stored.';
COMMENT ON COLUMN reflection.fts IS 'Stems of its words.';
COMMENT ON COLUMN reflection.model_id IS 'Model of the vector. Null: there is no vector.';
COMMENT ON COLUMN reflection.vector IS 'Vector of the model model_id. Null: no model was active when the reflection was written.';
CREATE INDEX reflection_entity_idx ON reflection USING btree (space_id, entity_id) WHERE entity_id IS NOT NULL;
CREATE INDEX reflection_fts_idx ON reflection USING gin (fts) WITH (fastupdate=off);
CREATE INDEX reflection_relation_idx ON reflection USING btree (space_id, relation_id) WHERE relation_id IS NOT NULL;
ALTER TABLE reflection ENABLE ROW LEVEL SECURITY;
ALTER TABLE reflection FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON reflection FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON reflection FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));
