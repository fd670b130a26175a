-- All tables of textrawl with their indexes, policies and triggers.
-- This file is generated from a database after `textrawl migrate`. Do not edit it. Update it with
--     UPDATE_SNAPSHOTS=1 .venv/bin/pytest tests/sql/test_schema.py
-- textrawl never runs this file. sql/migrations creates the tables.
-- sql/access/protect_tables.sql creates the policies, and
-- sql/vectors/create_embedding_model.sql creates a table embedding_N for each model.

CREATE SCHEMA textrawl;
SET search_path = textrawl, public;

CREATE OR REPLACE FUNCTION textrawl.bury_document()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$
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
$function$
;
COMMENT ON FUNCTION bury_document IS 'Keep the path of a deleted document, also if the document was deleted with its entity.';

CREATE OR REPLACE FUNCTION textrawl.claim_fact()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$
begin
    new.claim := make_claim(new.content, space_language(new.space_id)::text);
    return new;
end
$function$
;
COMMENT ON FUNCTION claim_fact IS 'Store what a fact or a statement claims.';

CREATE OR REPLACE FUNCTION textrawl.date_fact()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$
begin
    new.said_at := new.created_at;
    return new;
end
$function$
;
COMMENT ON FUNCTION date_fact IS 'Set said_at of a fact to created_at, if said_at was not given.';

CREATE OR REPLACE FUNCTION textrawl.keep_events()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$
begin
    -- settle_events() sets the transaction to 0 if the event was restored from another cluster. The transaction numbers
    -- of that cluster have no meaning here.
    if tg_op = 'UPDATE' and to_jsonb(new) = to_jsonb(old) || '{"transaction": "0"}' then
        return new;
    end if;
    -- An erasure takes the person's name out of the details, and leaves a receipt in the same transaction.
    if tg_op = 'UPDATE' and to_jsonb(new) - '{client,request,detail}'::text[] = to_jsonb(old) - '{client,request,detail}'::text[]
       and exists (select from erasure e where e.space_id = old.space_id and e.at = now()) then
        return new;
    end if;
    -- When the last source of a sensitive graph is encrypted, wipe_graph() takes their paths out of its events.
    if tg_op = 'UPDATE' and old.detail @> new.detail
       and (new.client is null or new.client = old.client) and (new.request is null or new.request = old.request)
       and to_jsonb(new) - '{client,request,detail}'::text[] = to_jsonb(old) - '{client,request,detail}'::text[]
       and exists (select from space s where s.id = old.space_id and s.tier = 'sensitive') then
        return new;
    end if;
    raise exception 'the trail is append-only' using errcode = 'object_not_in_prerequisite_state';
end
$function$
;
COMMENT ON FUNCTION keep_events IS 'Raise an error if somebody changes or deletes an event. This applies also to the owner of the memory.';

CREATE OR REPLACE FUNCTION textrawl.note_origin()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$
begin
    new.origin := case when tg_op = 'INSERT' then find_origin(null, new.tool, new.client, new.source)
        when (new.tool, new.client) is distinct from (old.tool, old.client) then least(
            find_origin(old.origin, old.tool, old.client, old.source), find_origin(null, new.tool, new.client, new.source))
        else find_origin(old.origin, old.tool, old.client, old.source) end;
    return new;
end
$function$
;
COMMENT ON FUNCTION note_origin IS 'Give a new fact the origin of its call. A changed fact keeps its origin, or gets the lesser one of another call.';

CREATE OR REPLACE FUNCTION textrawl.number_fact()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$
begin
    -- There is no lock here, so two concurrent writers can take the same number. Their facts then count as neighbours.
    new.ordinal := coalesce((select max(o.ordinal) from observation o where o.space_id = new.space_id), 0) + 1;
    return new;
end
$function$
;
COMMENT ON FUNCTION number_fact IS 'Give a fact the next number in its space.';

CREATE OR REPLACE FUNCTION textrawl.read_told_period()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$
begin
    new.period := (
        select concat_ws('/', coalesce(p.starts, ''), p.ends)
        from read_period(new.content, new.said_at, space_language(new.space_id)::text) p where p.valid_until = new.valid_until);
    return new;
end
$function$
;
COMMENT ON FUNCTION read_told_period IS 'Find out whether the text of a fact that comes from a file says itself that it is over.';

CREATE OR REPLACE FUNCTION textrawl.refuse_clear_source()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$
begin
    if (select s.tier from space s where s.id = new.space_id) = 'sensitive' then
        raise exception using errcode = 'TR131', message = 'a sensitive graph holds only encrypted documents',
            detail = (select s.name from space s where s.id = new.space_id);
    end if;
    return new;
end
$function$
;
COMMENT ON FUNCTION refuse_clear_source IS 'Refuse a source in the clear in a sensitive graph.';

CREATE OR REPLACE FUNCTION textrawl.session_reviews()
 RETURNS integer[]
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE SECURITY DEFINER
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$begin return reviewed_spaces(); end$function$
;
COMMENT ON FUNCTION session_reviews IS 'The spaces whose proposals this session can see, for row-level security: the spaces in which its login has the scopes read and review, or all spaces for the owner.';

CREATE OR REPLACE FUNCTION textrawl.session_spaces()
 RETURNS integer[]
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE SECURITY DEFINER
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$begin return readable_spaces(graphs => true); end$function$
;
COMMENT ON FUNCTION session_spaces IS 'The spaces that this session can read, for row-level security: the spaces of its login, or all spaces for the owner.';

CREATE OR REPLACE FUNCTION textrawl.state_relations()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$
begin
    with stated as (
        insert into observation (space_id, id, entity_id, entity_type, content, content_hash, source, valid_from, valid_until,
                                 closed_at, relation_id, author_id, client, tool, request, created_at, fts)
        select r.space_id, r.id, r.from_entity, source.entity_type, text.content, fact_hash(text.content), 'conversation',
            r.valid_from, r.valid_until, r.closed_at, r.id, r.author_id, r.client, r.tool, r.request, r.created_at,
            search_document(r.space_id, space_language(r.space_id), document_names(r.space_id, r.from_entity, r.id), text.content)
        from added r
        -- `limit 1` makes the planner look up each entity by its key, however many relations are added.
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
$function$
;
COMMENT ON FUNCTION state_relations IS 'Store a statement for each new relation and queue it for embedding.';

CREATE OR REPLACE FUNCTION textrawl.update_statements()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'textrawl', 'public', 'pg_temp'
AS $function$
begin
    update observation o
    set valid_from = r.valid_from, valid_until = r.valid_until, closed_at = r.closed_at, author_id = r.author_id,
        client = r.client, tool = r.tool, request = r.request
    from changed r
    where o.space_id = r.space_id and o.relation_id = r.id
      and (o.valid_from, o.valid_until, o.closed_at, o.author_id, o.client, o.tool, o.request)
          is distinct from (r.valid_from, r.valid_until, r.closed_at, r.author_id, r.client, r.tool, r.request);
    return null;
end
$function$
;
COMMENT ON FUNCTION update_statements IS 'Set the period and the author of statements to those of their relations.';

CREATE TABLE migration (
    name text NOT NULL,
    applied_at timestamptz DEFAULT now() NOT NULL,
    hash text,
    CONSTRAINT migration_pkey PRIMARY KEY (name)
);
COMMENT ON TABLE migration IS 'Migrations that were applied: the numbered files of tables.';
COMMENT ON COLUMN migration.name IS 'Name of the file.';
COMMENT ON COLUMN migration.applied_at IS 'When it was applied.';
COMMENT ON COLUMN migration.hash IS 'SHA-256 of its text without comments.';

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
    language text DEFAULT 'english'::text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    archived_at timestamptz,
    tier text,
    recall_tokens integer,
    reviewed boolean DEFAULT false NOT NULL,
    proposal_days integer,
    external_reviewed boolean DEFAULT false NOT NULL,
    CONSTRAINT space_pkey PRIMARY KEY (id),
    CONSTRAINT space_name_key UNIQUE (name),
    CONSTRAINT space_check CHECK (recall_tokens IS NULL OR tier IS NOT NULL),
    CONSTRAINT space_check1 CHECK (NOT reviewed OR tier IS NULL),
    CONSTRAINT space_name_check CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text),
    CONSTRAINT space_proposal_days_check CHECK (proposal_days >= 1 AND proposal_days <= 3650),
    CONSTRAINT space_recall_tokens_check CHECK (recall_tokens >= 0 AND recall_tokens <= 100000),
    CONSTRAINT space_tier_check CHECK (tier = ANY (ARRAY['public'::text, 'personal'::text, 'sensitive'::text]))
);
COMMENT ON TABLE space IS 'A named part of the memory with its own grants: a team''s, a project''s or one person''s.';
COMMENT ON COLUMN space.id IS 'Id of the space. It is the first column in the keys of all tables with rows of a space.';
COMMENT ON COLUMN space.name IS 'Name of the space: lower-case letters, digits, - and _. It is a part of addresses such as /mcp/team.';
COMMENT ON COLUMN space.language IS 'Text search configuration whose rules stem the words of the space, such as english, german or simple. The type is text because pg_upgrade refuses columns of type regconfig.';
COMMENT ON COLUMN space.created_at IS 'When the space was created.';
COMMENT ON COLUMN space.archived_at IS 'Time from which tokens can neither read nor write the space. Null: the space is in use.';
COMMENT ON COLUMN space.tier IS 'public, personal or sensitive: the space is a graph, which holds sources instead of facts. MCP clients never get texts of sensitive graphs. Null: the space holds facts.';
COMMENT ON COLUMN space.recall_tokens IS 'Largest number of tokens of this graph in one answer. Null: the default of its tier (recall_cap).';
COMMENT ON COLUMN space.reviewed IS 'True: writes of tokens without the scope review are proposals.';
COMMENT ON COLUMN space.proposal_days IS 'Days after which a pending proposal expires. Null: proposals do not expire.';
COMMENT ON COLUMN space.external_reviewed IS 'True: external facts become proposals here, whoever stores them.';
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
COMMENT ON TABLE actor IS 'A person, an agent or a service that reads or writes.';
COMMENT ON COLUMN actor.id IS 'Id of the actor.';
COMMENT ON COLUMN actor.name IS 'Unique name of the actor.';
COMMENT ON COLUMN actor.role_name IS 'Database login of the actor, such as the login of an analyst. Sessions of the login act as this actor. Null: the actor uses only tokens.';
COMMENT ON COLUMN actor.created_at IS 'When the actor was registered.';

CREATE TABLE space_grant (
    space_id integer NOT NULL,
    actor_id integer NOT NULL,
    scopes text[] NOT NULL,
    for_login boolean DEFAULT false NOT NULL,
    granted_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT space_grant_pkey PRIMARY KEY (space_id, actor_id),
    CONSTRAINT space_grant_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES actor(id) ON DELETE CASCADE,
    CONSTRAINT space_grant_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON DELETE CASCADE,
    CONSTRAINT space_grant_scopes_check CHECK (scopes <@ ARRAY['read'::text, 'propose'::text, 'write'::text, 'forget'::text, 'review'::text, 'admin'::text, 'metrics'::text] AND scopes <> '{}'::text[])
);
COMMENT ON TABLE space_grant IS 'Scopes of an actor in a space. Without a row the actor has no access to the space.';
COMMENT ON COLUMN space_grant.space_id IS 'Space that the grant is for.';
COMMENT ON COLUMN space_grant.actor_id IS 'Actor who has the grant.';
COMMENT ON COLUMN space_grant.scopes IS 'read, propose (writes become proposals), write, forget (permanent deletion), review (see and decide proposals), admin (grants, trail, undo), metrics (measurements of the servers, without content of the space).';
COMMENT ON COLUMN space_grant.for_login IS 'True: create_analyst() granted read for the database login of the actor, and drop_analyst() removes it.';
COMMENT ON COLUMN space_grant.granted_at IS 'When the grant was made or last changed.';
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
    CONSTRAINT token_scopes_check CHECK (scopes <@ ARRAY['read'::text, 'propose'::text, 'write'::text, 'forget'::text, 'review'::text, 'admin'::text, 'metrics'::text] AND scopes <> '{}'::text[])
);
COMMENT ON TABLE token IS 'Access tokens. A token can use a scope in a space only if both the token and the grant of its actor include the scope. Only hashes are stored.';
COMMENT ON COLUMN token.id IS 'Number of the token.';
COMMENT ON COLUMN token.hash IS 'SHA-256 of the token. The token itself is not stored.';
COMMENT ON COLUMN token.kind IS 'bearer: created by textrawl token. local: for the owner of an embedded memory. federated: issued by an identity provider and verified by a server.';
COMMENT ON COLUMN token.prefix IS 'First characters of the token, by which people recognise it.';
COMMENT ON COLUMN token.actor_id IS 'Actor of the token, who is the author of its writes.';
COMMENT ON COLUMN token.home_space_id IS 'Space that writes go to if the address names no space. Null: writes go to the only space that the token can write.';
COMMENT ON COLUMN token.scopes IS 'Some of read, propose, write, forget, review, admin, metrics. In a space, the token can use a scope only if the grant of its actor includes the scope.';
COMMENT ON COLUMN token.issuer IS 'Identity provider, as in TEXTRAWL_OAUTH_ISSUER. A server with this token can vouch for users that this provider identified. Null: the token cannot vouch for users.';
COMMENT ON COLUMN token.voucher_id IS 'Token of the server that verified a federated token. When the server''s token is revoked or expires, the federated token is not accepted any more. It gives access only to spaces in which the server''s token has the scope admin.';
COMMENT ON COLUMN token.created_at IS 'When the token was created.';
COMMENT ON COLUMN token.expires_at IS 'When the token expires. Null: never.';
COMMENT ON COLUMN token.last_used_at IS 'When the token was last used, to the minute.';
COMMENT ON COLUMN token.revoked_at IS 'When the token was revoked. Null: the token was not revoked.';
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
    request text,
    proposed boolean
);
COMMENT ON TYPE origin IS 'The space that a write goes to, and the author, client, tool and request that it comes from. open_write() determines them once in each call.';
COMMENT ON COLUMN origin.space_id IS 'Space that the write goes to.';
COMMENT ON COLUMN origin.author_id IS 'Actor who writes.';
COMMENT ON COLUMN origin.client IS 'Name and version of the MCP client. Null: the write comes from SQL.';
COMMENT ON COLUMN origin.tool IS 'Tool that writes. sql: the write comes from psql.';
COMMENT ON COLUMN origin.request IS 'Id of the request, as in the log of the server. Null: the write comes from SQL.';
COMMENT ON COLUMN origin.proposed IS 'True: the caller can only propose, so the write becomes a proposal.';

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
COMMENT ON TABLE entity IS 'A person, project or other thing that facts are about. In one space a name belongs to one entity.';
COMMENT ON COLUMN entity.space_id IS 'Space of the entity.';
COMMENT ON COLUMN entity.id IS 'Id of the entity, unique in its space.';
COMMENT ON COLUMN entity.name IS 'Name as it was first written.';
COMMENT ON COLUMN entity.name_key IS 'name_key(name), the form in which names are compared. It is unique in the space.';
COMMENT ON COLUMN entity.entity_type IS 'One of person, concept, project, preference, fact, location, organization.';
COMMENT ON COLUMN entity.type_guessed IS 'True: no caller has given a type yet. The first type that a caller gives replaces the guess.';
COMMENT ON COLUMN entity.description IS 'Description in one sentence. Null: no description was given.';
COMMENT ON COLUMN entity.metadata IS 'Object with two optional keys. The key "type" holds the type as the caller gave it, such as Proyecto, if it is not one of the seven types. The key "retyped" holds the former types, oldest first, each with the event of the change.';
COMMENT ON COLUMN entity.created_at IS 'When the entity was created.';
COMMENT ON COLUMN entity.updated_at IS 'When a fact or relation of the entity was last added, changed or removed.';
COMMENT ON COLUMN entity.fts IS 'Words of the name. A search for similar names uses these words.';
CREATE INDEX entity_created_at_idx ON entity USING btree (space_id, created_at, id);
CREATE INDEX entity_digest_idx ON entity USING btree (space_id, entity_type, updated_at DESC, id) WHERE entity_type = ANY (ARRAY['preference'::text, 'person'::text]);
CREATE INDEX entity_fts_idx ON entity USING gin (fts) WITH (fastupdate=off);
CREATE INDEX entity_name_prefix_idx ON entity USING btree (space_id, name_key text_pattern_ops);
CREATE INDEX entity_updated_at_idx ON entity USING btree (space_id, updated_at DESC, id);
ALTER TABLE entity ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON entity FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON entity FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

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
    closed_at timestamptz,
    CONSTRAINT relation_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT relation_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT relation_space_id_from_entity_fkey FOREIGN KEY (space_id, from_entity) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT relation_space_id_to_entity_fkey FOREIGN KEY (space_id, to_entity) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT relation_closed_at_check CHECK (isfinite(closed_at)),
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
COMMENT ON COLUMN relation.relation_type IS 'Type of the relation as relation_key() writes it, such as works_at.';
COMMENT ON COLUMN relation.label IS 'Type as it is shown, such as worksAt or works-at. Null: it is shown as relation_type.';
COMMENT ON COLUMN relation.to_entity IS 'Entity that the relation leads to. The graph tools can relate an entity to itself.';
COMMENT ON COLUMN relation.strength IS 'Strength of the connection, from 0 to 1.';
COMMENT ON COLUMN relation.valid_from IS 'The relation is valid from this instant on: the given begin, or else the time when it was stored.';
COMMENT ON COLUMN relation.valid_until IS 'The relation is not valid from this instant on. Null: the relation has not ended.';
COMMENT ON COLUMN relation.author_id IS 'Actor who wrote the relation.';
COMMENT ON COLUMN relation.client IS 'Name and version of the MCP client that wrote the relation. Null: the relation was written from SQL.';
COMMENT ON COLUMN relation.tool IS 'Tool that wrote the relation. sql: the relation was written from psql.';
COMMENT ON COLUMN relation.request IS 'Id of the request that wrote the relation, as in the log of the server. Null: the relation was written from SQL.';
COMMENT ON COLUMN relation.created_at IS 'When the relation was stored: from then on the memory knows it.';
COMMENT ON COLUMN relation.closed_at IS 'The last end that was not in the future when it was set. If it equals valid_until, the relation has ended, whatever the clock says. Null: no such end was set.';
CREATE INDEX relation_from_entity_idx ON relation USING btree (space_id, from_entity);
CREATE UNIQUE INDEX relation_live_idx ON relation USING btree (space_id, from_entity, relation_type, to_entity) WHERE valid_until IS NULL;
CREATE INDEX relation_to_entity_idx ON relation USING btree (space_id, to_entity);
ALTER TABLE relation ENABLE ROW LEVEL SECURITY;
ALTER TABLE relation FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON relation FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON relation FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));
CREATE TRIGGER relation_is_stated AFTER INSERT ON relation REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION state_relations();
CREATE TRIGGER relation_was_changed AFTER UPDATE ON relation REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION update_statements();

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
    relation_id uuid,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamptz DEFAULT now() NOT NULL,
    said_at timestamptz NOT NULL,
    ordinal bigint NOT NULL,
    fts tsvector NOT NULL,
    closed_at timestamptz,
    confirmed_at timestamptz,
    evidence text,
    evidence_start integer,
    claim jsonb,
    period text,
    origin text,
    repository text,
    anchors text[],
    CONSTRAINT observation_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT observation_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT observation_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT observation_space_id_relation_id_fkey FOREIGN KEY (space_id, relation_id) REFERENCES relation(space_id, id) ON DELETE CASCADE,
    CONSTRAINT observation_space_id_replaced_by_fkey FOREIGN KEY (space_id, replaced_by) REFERENCES observation(space_id, id) ON DELETE SET NULL (replaced_by),
    CONSTRAINT observation_anchors_check CHECK (cardinality(anchors) >= 1 AND cardinality(anchors) <= 4),
    CONSTRAINT observation_check CHECK (char_length(content) >= 1 AND char_length(content) <=
CASE
    WHEN whole IS NULL THEN 2000
    ELSE 8000
END),
    CONSTRAINT observation_check1 CHECK ((whole IS NULL) = (part IS NULL) AND part > 0),
    CONSTRAINT observation_check2 CHECK (relation_id = id),
    CONSTRAINT observation_closed_at_check CHECK (isfinite(closed_at)),
    CONSTRAINT observation_confidence_check CHECK (confidence >= 0::double precision AND confidence <= 1::double precision),
    CONSTRAINT observation_confirmed_at_check CHECK (isfinite(confirmed_at)),
    CONSTRAINT observation_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT observation_evidence_check CHECK (char_length(evidence) >= 1 AND char_length(evidence) <= 2000),
    CONSTRAINT observation_evidence_start_check CHECK (evidence_start >= 0),
    CONSTRAINT observation_origin_check CHECK (origin = ANY (ARRAY['said'::text, 'inferred'::text, 'external'::text])),
    CONSTRAINT observation_repository_check CHECK (char_length(repository) >= 1 AND char_length(repository) <= 300),
    CONSTRAINT observation_said_at_check CHECK (isfinite(said_at)),
    CONSTRAINT observation_source_check CHECK (source = ANY (ARRAY['conversation'::text, 'note'::text, 'document'::text, 'manual'::text])),
    CONSTRAINT observation_valid_from_check CHECK (isfinite(valid_from)),
    CONSTRAINT observation_valid_until_check CHECK (isfinite(valid_until))
) WITH (fillfactor=85);
COMMENT ON TABLE observation IS 'A fact: one statement about an entity. Its text is never edited. A new fact can replace an old fact. Each relation also has a row here, its statement, so that search finds the relation. The view fact shows only facts.';
COMMENT ON COLUMN observation.space_id IS 'Space of the fact.';
COMMENT ON COLUMN observation.id IS 'Id of the fact, unique in its space.';
COMMENT ON COLUMN observation.entity_id IS 'Entity that the fact is about.';
COMMENT ON COLUMN observation.entity_type IS 'Type of the entity. It is copied here so that filters need no join.';
COMMENT ON COLUMN observation.content IS 'Text of the fact, 1 to 2000 characters. A chunk of a source has up to 8000.';
COMMENT ON COLUMN observation.content_hash IS 'md5 of fact_key(content). Texts with the same hash are the same fact.';
COMMENT ON COLUMN observation.whole IS 'The text that this fact is a part of: the md5 of a long text that the graph tools split, or the id of a document. Null: the fact is not a part.';
COMMENT ON COLUMN observation.part IS 'Number of the part, from 1. To get the long text, join the parts that have the same values in entity_id and whole, in the order of this number.';
COMMENT ON COLUMN observation.source IS 'Source of the fact: conversation, note, document or manual.';
COMMENT ON COLUMN observation.confidence IS 'Confidence of the author in the fact, from 0 to 1.';
COMMENT ON COLUMN observation.valid_from IS 'The fact is valid from this instant on: the given begin, or else the time when it was said.';
COMMENT ON COLUMN observation.valid_until IS 'The fact is not valid from this instant on. It equals valid_from if the fact was never valid. Null: the fact has not ended.';
COMMENT ON COLUMN observation.replaced_by IS 'The newer fact that replaced this fact. Null: no fact replaced it.';
COMMENT ON COLUMN observation.relation_id IS 'Relation that the row states in words. The row and the relation have the same id. If the relation changes, triggers of the table relation change the row. Null: the row is a fact.';
COMMENT ON COLUMN observation.author_id IS 'Actor who wrote the fact.';
COMMENT ON COLUMN observation.client IS 'Name and version of the MCP client that wrote the fact. Null: the fact was written from SQL.';
COMMENT ON COLUMN observation.tool IS 'Tool that wrote the fact. sql: the fact was written from psql.';
COMMENT ON COLUMN observation.request IS 'Id of the request that wrote the fact, as in the log of the server. Null: the fact was written from SQL.';
COMMENT ON COLUMN observation.created_at IS 'When the fact was stored: from then on the memory knows it.';
COMMENT ON COLUMN observation.said_at IS 'When the fact was said. If the author did not give this time, the value equals created_at.';
COMMENT ON COLUMN observation.ordinal IS 'Number of the fact in its space, in the order of storing. Facts of two concurrent writers can have the same number. Search treats facts with neighbouring numbers as parts of one conversation.';
COMMENT ON COLUMN observation.fts IS 'Words by which search finds the fact: search_document(space_id, language of the space, document_names() of the entity, content, said_at if the author gave it). The lexeme ~s<space_id> stands for the space.';
COMMENT ON COLUMN observation.closed_at IS 'The last end that was not in the future when it was set. If it equals valid_until, the fact has ended, whatever the clock says. A revision keeps it, so that an undo finds it again. Null: no such end was set.';
COMMENT ON COLUMN observation.confirmed_at IS 'When somebody last stored the same text again. Null: nobody did.';
COMMENT ON COLUMN observation.evidence IS 'The sentence of a text from which an LLM took the fact. Null: somebody stated it.';
COMMENT ON COLUMN observation.evidence_start IS 'The place of the first character of the sentence in its text, from 0. Null: not known.';
COMMENT ON COLUMN observation.claim IS 'What the fact claims: make_claim(content, language of the space). Null: the text claims nothing that can be compared, or it is a part of a text.';
COMMENT ON COLUMN observation.period IS 'The begin and the end that the text names, such as 2016/2021-03 or 2019/, if they are the times of the fact. Null: the text names none, or the fact is older than 0033.';
COMMENT ON COLUMN observation.origin IS 'said: a person typed or accepted it. inferred: an agent concluded it. external: a page, a tool, a file or an import said it. Null: find_origin() says it, of facts that are older than 0037.';
COMMENT ON COLUMN observation.repository IS 'Key of the repository of the session that stored the fact, such as github.com/acme/api. Null: of none, as facts about people and preferences are.';
COMMENT ON COLUMN observation.anchors IS 'What the fact speaks of: files of its repository, such as src/parse.py:40-52 with a hash of these lines, and URLs. Or "document", the id and the version of the document that has its evidence. Null: nothing named.';
CREATE INDEX observation_author_idx ON observation USING btree (space_id, author_id) WHERE author_id > 0;
CREATE INDEX observation_coming_idx ON observation USING btree (space_id, valid_from) WHERE valid_from > created_at;
CREATE INDEX observation_entity_idx ON observation USING btree (space_id, entity_id, content_hash);
CREATE INDEX observation_fts_idx ON observation USING gin (fts) WITH (fastupdate=off);
CREATE INDEX observation_growth_idx ON observation USING btree (space_id, created_at) INCLUDE (source, author_id, confidence, valid_until, closed_at, replaced_by, id) WHERE relation_id IS NULL AND created_at >= '-infinity'::timestamp with time zone;
CREATE INDEX observation_ordinal_idx ON observation USING btree (space_id, ordinal);
CREATE UNIQUE INDEX observation_relation_idx ON observation USING btree (space_id, relation_id) WHERE relation_id IS NOT NULL;
CREATE INDEX observation_replaced_by_idx ON observation USING btree (space_id, replaced_by) WHERE replaced_by IS NOT NULL;
CREATE INDEX observation_repository_idx ON observation USING btree (space_id, repository, created_at) WHERE repository IS NOT NULL;
CREATE INDEX observation_said_at_idx ON observation USING btree (space_id, said_at);
CREATE INDEX observation_sole_idx ON observation USING btree (space_id, entity_id, (claim ->> 'sole'::text)) WHERE claim ? 'sole'::text;
CREATE INDEX observation_type_idx ON observation USING btree (space_id, entity_type);
CREATE INDEX observation_valid_from_idx ON observation USING btree (space_id, valid_from, id);
CREATE INDEX observation_valid_until_idx ON observation USING btree (space_id, valid_until, id) WHERE valid_until IS NOT NULL;
CREATE INDEX observation_whole_idx ON observation USING btree (space_id, whole, part) WHERE whole IS NOT NULL;
ALTER TABLE observation ENABLE ROW LEVEL SECURITY;
ALTER TABLE observation FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON observation FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON observation FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));
CREATE TRIGGER fact_has_origin BEFORE INSERT ON observation FOR EACH ROW WHEN (new.origin IS NULL) EXECUTE FUNCTION note_origin();
CREATE TRIGGER fact_is_claimed BEFORE INSERT ON observation FOR EACH ROW WHEN (new.claim IS NULL AND new.whole IS NULL) EXECUTE FUNCTION claim_fact();
CREATE TRIGGER fact_is_dated BEFORE INSERT ON observation FOR EACH ROW WHEN (new.said_at IS NULL) EXECUTE FUNCTION date_fact();
CREATE TRIGGER fact_is_numbered BEFORE INSERT ON observation FOR EACH ROW WHEN (new.ordinal IS NULL) EXECUTE FUNCTION number_fact();
CREATE TRIGGER fact_is_told BEFORE INSERT ON observation FOR EACH ROW WHEN (new.valid_until < new.created_at AND new.period IS NULL AND new.whole IS NULL AND new.relation_id IS NULL) EXECUTE FUNCTION read_told_period();
CREATE TRIGGER fact_keeps_origin BEFORE UPDATE OF source, client, tool ON observation FOR EACH ROW WHEN (NOT new.origin IS DISTINCT FROM old.origin AND (new.source IS DISTINCT FROM old.source OR new.client IS DISTINCT FROM old.client OR new.tool IS DISTINCT FROM old.tool)) EXECUTE FUNCTION note_origin();

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
    said_at timestamptz,
    replaces text,
    vector halfvec,
    alias uuid,
    valid_from timestamptz,
    evidence text,
    evidence_start integer,
    claim jsonb,
    period text,
    repository text,
    anchors text[]
);
COMMENT ON TYPE new_fact IS 'A fact that is going to be stored. read_facts() makes it after the entity was found or created. Each step of storing handles an array of these facts in one statement.';
COMMENT ON COLUMN new_fact.id IS 'Id that the fact gets if it is stored.';
COMMENT ON COLUMN new_fact.entity_id IS 'Entity that the fact is about.';
COMMENT ON COLUMN new_fact.entity_name IS 'Name of the entity. Search also finds the fact by the words of this name.';
COMMENT ON COLUMN new_fact.entity_type IS 'Type of the entity. An existing entity keeps its type.';
COMMENT ON COLUMN new_fact.content IS 'Text of the fact.';
COMMENT ON COLUMN new_fact.content_hash IS 'md5 of fact_key(content).';
COMMENT ON COLUMN new_fact.source IS 'Source of the fact: conversation, note, document or manual. Null: not given.';
COMMENT ON COLUMN new_fact.confidence IS 'Confidence of the author, from 0 to 1. Null: not given.';
COMMENT ON COLUMN new_fact.valid_until IS 'The fact is not valid from this instant on. Null: not given.';
COMMENT ON COLUMN new_fact.said_at IS 'When the fact was said. Null: not given.';
COMMENT ON COLUMN new_fact.replaces IS 'Fact that the new fact replaces: an id, the start of an id, or the text. Null: the new fact replaces no fact.';
COMMENT ON COLUMN new_fact.vector IS 'Vector of the active model. Null: not computed yet.';
COMMENT ON COLUMN new_fact.alias IS 'Alias by which the caller named the entity. Null: its name.';
COMMENT ON COLUMN new_fact.valid_from IS 'The fact is valid from this instant on. Null: not given.';
COMMENT ON COLUMN new_fact.evidence IS 'The sentence of a text from which an LLM took the fact. Null: somebody stated it.';
COMMENT ON COLUMN new_fact.evidence_start IS 'The place of the first character of the sentence in its text, from 0. Null: not known.';
COMMENT ON COLUMN new_fact.claim IS 'make_claim(content, language of the space). Null: the text claims nothing that can be compared.';
COMMENT ON COLUMN new_fact.period IS 'The begin and the end that were read from the text, such as 2016/2021-03 or 2019/. Null: none. Then valid_from and valid_until are what the caller gave.';
COMMENT ON COLUMN new_fact.repository IS 'Key of the repository of the fact. Null: of none.';
COMMENT ON COLUMN new_fact.anchors IS 'What the fact speaks of, as in observation. Null: nothing named.';

CREATE TABLE removal_lock (
);
COMMENT ON TABLE removal_lock IS 'A table without rows. claim_removal() locks it while facts are removed. refresh_search_statistics() locks it while words are counted.';

CREATE TABLE revision (
    space_id integer NOT NULL,
    observation_id uuid NOT NULL,
    reason text NOT NULL,
    actor_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    revised_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT revision_pkey PRIMARY KEY (space_id, observation_id),
    CONSTRAINT revision_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES actor(id),
    CONSTRAINT revision_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES observation(space_id, id) ON DELETE CASCADE,
    CONSTRAINT revision_reason_check CHECK (char_length(reason) >= 1 AND char_length(reason) <= 500)
);
COMMENT ON TABLE revision IS 'Facts that somebody marked as wrong. A wrong fact ends at its valid_from, so it is valid at no time. Its replaced_by names the fact that is right.';
COMMENT ON COLUMN revision.space_id IS 'Space of the fact.';
COMMENT ON COLUMN revision.observation_id IS 'The wrong fact.';
COMMENT ON COLUMN revision.reason IS 'Why the fact was wrong, 1 to 500 characters.';
COMMENT ON COLUMN revision.actor_id IS 'Actor who revised the fact.';
COMMENT ON COLUMN revision.client IS 'Name and version of the MCP client that revised the fact. Null: it was revised from SQL.';
COMMENT ON COLUMN revision.tool IS 'Tool that revised the fact. sql: it was revised from psql.';
COMMENT ON COLUMN revision.request IS 'Id of the request that revised the fact, as in the log of the server. Null: it was revised from SQL.';
COMMENT ON COLUMN revision.revised_at IS 'When the fact was revised.';
ALTER TABLE revision ENABLE ROW LEVEL SECURITY;
ALTER TABLE revision FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON revision FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON revision FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE entity_alias (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    entity_id uuid NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamptz DEFAULT now() NOT NULL,
    removed_at timestamptz,
    CONSTRAINT entity_alias_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT entity_alias_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT entity_alias_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT entity_alias_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 200)
);
COMMENT ON TABLE entity_alias IS 'Other names (aliases) of entities. In one space a name belongs to one entity, as its name or as an alias.';
COMMENT ON COLUMN entity_alias.space_id IS 'Space of the entity.';
COMMENT ON COLUMN entity_alias.id IS 'Id of the alias. The alias that a merge makes of the name of the merged entity has the id of that entity.';
COMMENT ON COLUMN entity_alias.entity_id IS 'Entity that has this alias.';
COMMENT ON COLUMN entity_alias.name IS 'The alias as it was first written.';
COMMENT ON COLUMN entity_alias.name_key IS 'name_key(name), the form in which names are compared. It is unique among the aliases of the space that are in use, and differs from the keys of all entities.';
COMMENT ON COLUMN entity_alias.author_id IS 'Actor who added the alias.';
COMMENT ON COLUMN entity_alias.client IS 'Name and version of the MCP client that added the alias. Null: the alias was added from SQL.';
COMMENT ON COLUMN entity_alias.tool IS 'Tool that added the alias. sql: the alias was added from psql.';
COMMENT ON COLUMN entity_alias.request IS 'Id of the request that added the alias, as in the log of the server. Null: the alias was added from SQL.';
COMMENT ON COLUMN entity_alias.created_at IS 'When the alias was added.';
COMMENT ON COLUMN entity_alias.removed_at IS 'When the alias was removed. The row is kept for an undo, and no name resolves to it. Null: the alias is in use.';
CREATE INDEX entity_alias_entity_idx ON entity_alias USING btree (space_id, entity_id);
CREATE UNIQUE INDEX entity_alias_key_idx ON entity_alias USING btree (space_id, name_key) WHERE removed_at IS NULL;
CREATE INDEX entity_alias_prefix_idx ON entity_alias USING btree (space_id, name_key text_pattern_ops) WHERE removed_at IS NULL;
ALTER TABLE entity_alias ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity_alias FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON entity_alias FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON entity_alias FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE merge (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    kept_id uuid NOT NULL,
    merged_id uuid NOT NULL,
    entity jsonb NOT NULL,
    facts uuid[] NOT NULL,
    sources uuid[] NOT NULL,
    targets uuid[] NOT NULL,
    reflections uuid[] NOT NULL,
    aliases uuid[] NOT NULL,
    merges uuid[] NOT NULL,
    former jsonb NOT NULL,
    given jsonb NOT NULL,
    actor_id integer NOT NULL,
    at timestamptz NOT NULL,
    CONSTRAINT merge_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT merge_space_id_merged_id_key UNIQUE (space_id, merged_id),
    CONSTRAINT merge_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES actor(id),
    CONSTRAINT merge_space_id_kept_id_fkey FOREIGN KEY (space_id, kept_id) REFERENCES entity(space_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE merge IS 'Merges of two entities that were not split. Each row has what a split needs. A split deletes the row.';
COMMENT ON COLUMN merge.space_id IS 'Space of both entities.';
COMMENT ON COLUMN merge.id IS 'Id of the merge.';
COMMENT ON COLUMN merge.kept_id IS 'Entity that has the facts and relations of both entities now.';
COMMENT ON COLUMN merge.merged_id IS 'Id of the entity that no longer exists. The alias of its name has the same id.';
COMMENT ON COLUMN merge.entity IS 'The row of the merged entity, with the values of its node, their changes and its use.';
COMMENT ON COLUMN merge.facts IS 'Facts of the merged entity.';
COMMENT ON COLUMN merge.sources IS 'Relations that started at the merged entity.';
COMMENT ON COLUMN merge.targets IS 'Relations that led to the merged entity.';
COMMENT ON COLUMN merge.reflections IS 'Reflections about the merged entity.';
COMMENT ON COLUMN merge.aliases IS 'Former aliases of the merged entity.';
COMMENT ON COLUMN merge.merges IS 'Earlier merges into the merged entity.';
COMMENT ON COLUMN merge.former IS 'Values of the kept entity before the merge, if the merge changed them: its type and its description.';
COMMENT ON COLUMN merge.given IS 'The same values after the merge. A split resets only values that nobody has changed since.';
COMMENT ON COLUMN merge.actor_id IS 'Actor who merged the entities.';
COMMENT ON COLUMN merge.at IS 'When the entities were merged.';
CREATE INDEX merge_kept_idx ON merge USING btree (space_id, kept_id);
ALTER TABLE merge ENABLE ROW LEVEL SECURITY;
ALTER TABLE merge FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON merge FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON merge FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE merged (
    space_id integer NOT NULL,
    merge_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    twin uuid,
    valid_until timestamptz,
    ended timestamptz NOT NULL,
    CONSTRAINT merged_pkey PRIMARY KEY (space_id, merge_id, id),
    CONSTRAINT merged_space_id_merge_id_fkey FOREIGN KEY (space_id, merge_id) REFERENCES merge(space_id, id) ON DELETE CASCADE,
    CONSTRAINT merged_kind_check CHECK (kind = ANY (ARRAY['fact'::text, 'relation'::text]))
);
COMMENT ON TABLE merged IS 'Facts and relations that a merge ended: because the kept entity has the same one, or because a relation would lead from the kept entity to itself.';
COMMENT ON COLUMN merged.space_id IS 'Space of the row.';
COMMENT ON COLUMN merged.merge_id IS 'The merge.';
COMMENT ON COLUMN merged.id IS 'Id of the fact or relation.';
COMMENT ON COLUMN merged.kind IS 'fact or relation.';
COMMENT ON COLUMN merged.twin IS 'The same fact or relation of the kept entity. Null: the relation connected the two entities.';
COMMENT ON COLUMN merged.valid_until IS 'End of the fact or relation before the merge. Null: it had no end.';
COMMENT ON COLUMN merged.ended IS 'End that the merge set.';
CREATE INDEX merged_id_idx ON merged USING btree (space_id, id);
CREATE INDEX merged_twin_idx ON merged USING btree (space_id, twin) WHERE twin IS NOT NULL;
ALTER TABLE merged ENABLE ROW LEVEL SECURITY;
ALTER TABLE merged FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON merged FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON merged FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE embedding_model (
    id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
    name text NOT NULL,
    dimensions integer NOT NULL,
    cosine_floor real DEFAULT 0 NOT NULL,
    cosine_ceiling real DEFAULT 1 NOT NULL,
    trust real DEFAULT 0.8 NOT NULL,
    calibrated_at timestamptz,
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
COMMENT ON TABLE embedding_model IS 'An embedding model. The table embedding_N contains the vectors of model N.';
COMMENT ON COLUMN embedding_model.id IS 'Number of the model. The name of its table of vectors ends with this number.';
COMMENT ON COLUMN embedding_model.name IS 'provider:model, such as openai:text-embedding-3-small.';
COMMENT ON COLUMN embedding_model.dimensions IS 'Number of dimensions of the model''s vectors.';
COMMENT ON COLUMN embedding_model.cosine_floor IS 'Two texts with this cosine or less are unrelated.';
COMMENT ON COLUMN embedding_model.cosine_ceiling IS 'Two texts with this cosine or more mean the same.';
COMMENT ON COLUMN embedding_model.trust IS 'Highest score of a fact that has no word of the query and matches only by its vector. The trust is 0.5 for a model that averages word vectors, and higher for better models.';
COMMENT ON COLUMN embedding_model.calibrated_at IS 'When floor, ceiling and trust were measured with the facts of this memory. Null: these three values are the defaults of textrawl.';
COMMENT ON COLUMN embedding_model.status IS 'building: the model gets vectors. active: the model gets vectors, and searches use them. previous: the model was active and still gets vectors, for a rollback.';
COMMENT ON COLUMN embedding_model.status_since IS 'When the model got its status.';
COMMENT ON COLUMN embedding_model.queued IS 'True: all facts that are older than the model were added to embedding_pending.';
COMMENT ON COLUMN embedding_model.queued_space IS 'Space of the fact in queued_observation. Facts are added in the order of space and id.';
COMMENT ON COLUMN embedding_model.queued_observation IS 'Last fact that was added to embedding_pending. Null: no fact was added yet.';
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
COMMENT ON TABLE embedding_pending IS 'Facts and statements of relations that still need a vector of a model. They were stored while the embedding provider was down, or before the model was added.';
COMMENT ON COLUMN embedding_pending.space_id IS 'Space of the fact.';
COMMENT ON COLUMN embedding_pending.observation_id IS 'Fact or statement without a vector.';
COMMENT ON COLUMN embedding_pending.model_id IS 'Model that has to make the vector.';
COMMENT ON COLUMN embedding_pending.attempts IS 'Number of attempts to make the vector, including an attempt that runs now.';
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
COMMENT ON TABLE vector_index_claim IS 'The session that drops and builds vector indexes. claim_vector_indexes() records it and release_vector_indexes() clears it.';
COMMENT ON COLUMN vector_index_claim.singleton IS 'Always true, because the table has one row.';
COMMENT ON COLUMN vector_index_claim.pid IS 'Process id of the session. Null: no session has the claim. The claim of a session that has ended does not count.';
COMMENT ON COLUMN vector_index_claim.backend_start IS 'When the session began. The time distinguishes the session from a later session with the same process id.';

CREATE TABLE word_form (
    stem text NOT NULL,
    other text NOT NULL,
    language text DEFAULT 'english'::text NOT NULL,
    CONSTRAINT word_form_pkey PRIMARY KEY (language, stem, other),
    CONSTRAINT word_form_check CHECK (other <> stem)
);
COMMENT ON TABLE word_form IS 'Pairs of words: a search for the first word also finds the second. They are forms with different stems, such as go and went, or a word of questions and a word of answers, such as job and work.';
COMMENT ON COLUMN word_form.stem IS 'Stem as word_lexemes(language, …) produces it.';
COMMENT ON COLUMN word_form.other IS 'Stem of a form of the word, or of a word that answers it.';
COMMENT ON COLUMN word_form.language IS 'Language of both stems, as in space.language.';

CREATE TABLE lexeme (
    space_id integer NOT NULL,
    word text NOT NULL,
    frequency integer NOT NULL,
    CONSTRAINT lexeme_pkey PRIMARY KEY (space_id, word),
    CONSTRAINT lexeme_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON DELETE CASCADE,
    CONSTRAINT lexeme_frequency_check CHECK (frequency > 0)
);
COMMENT ON TABLE lexeme IS 'Number of facts of a space that contain a word, at the last refresh_search_statistics(). Each space has its own numbers, so that the scores of one space reveal nothing about another space.';
COMMENT ON COLUMN lexeme.space_id IS 'Space of the counted facts.';
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
    coherence real,
    lives jsonb,
    CONSTRAINT space_statistics_pkey PRIMARY KEY (space_id),
    CONSTRAINT space_statistics_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON DELETE CASCADE
);
COMMENT ON TABLE space_statistics IS 'Number of facts of each space at the last refresh_search_statistics(). Search compares the query with all vectors of a small space and uses the vector index for a large space.';
COMMENT ON COLUMN space_statistics.space_id IS 'Space of the counted facts.';
COMMENT ON COLUMN space_statistics.facts IS 'Number of facts in the space.';
COMMENT ON COLUMN space_statistics.coherence IS 'Result of order_coherence() for the space. If it is below 1.2, the order of the facts has no meaning, and search ignores neighbours. Null: the space has too few facts.';
COMMENT ON COLUMN space_statistics.lives IS 'Days that states of a kind usually hold, as in {"work": 900}: the median of each state_kind() with at least five replaced facts. Answers show the day of older facts. Null: no kind has so many.';
ALTER TABLE space_statistics ENABLE ROW LEVEL SECURITY;
ALTER TABLE space_statistics FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON space_statistics FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON space_statistics FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE document_rebuild (
    space_id integer NOT NULL,
    former_languages text[] NOT NULL,
    reflections boolean DEFAULT false NOT NULL,
    reached uuid,
    started_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT document_rebuild_pkey PRIMARY KEY (space_id),
    CONSTRAINT document_rebuild_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON DELETE CASCADE
);
COMMENT ON TABLE document_rebuild IS 'Spaces whose language changed, until rebuild_documents() has made all their search documents anew. Until then, a search uses the stems of the former languages and of the new language.';
COMMENT ON COLUMN document_rebuild.space_id IS 'The space.';
COMMENT ON COLUMN document_rebuild.former_languages IS 'Languages in which some search documents of the space may still be.';
COMMENT ON COLUMN document_rebuild.reflections IS 'True: all facts have new search documents, and the reflections follow.';
COMMENT ON COLUMN document_rebuild.reached IS 'Last fact (or reflection) that got a new search document. Null: no fact (or reflection) has one yet.';
COMMENT ON COLUMN document_rebuild.started_at IS 'When the language changed.';
ALTER TABLE document_rebuild ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_rebuild FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON document_rebuild FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON document_rebuild FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

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
COMMENT ON COLUMN event.id IS 'Number of the event. A later event has a higher number, except for events of transactions that overlapped.';
COMMENT ON COLUMN event.at IS 'When the event happened.';
COMMENT ON COLUMN event.actor_id IS 'Actor who caused the event.';
COMMENT ON COLUMN event.client IS 'Name and version of the MCP client. Null: the event was caused from SQL.';
COMMENT ON COLUMN event.tool IS 'Tool that caused the event. sql: the event was caused from psql.';
COMMENT ON COLUMN event.request IS 'Id of the request, as in the log of the server. Null: the event was caused from SQL.';
COMMENT ON COLUMN event.action IS 'Action on an entity: created, retyped, described (values of its node changed). On a fact: remembered, repeated (the same text again, perhaps by another author), updated (the same text with another source, confidence, end or said_at), replaced, moved (to another entity), pinned, unpinned, ended (its node was deleted). On a relation: related, ended, described (values of its edge changed). On a document: written, deleted, outvoted (the text lost a conflict), erased (with all versions). On an entity and its names: named (it got an alias), unnamed, merged (another entity was merged into it), split. On a sensitive graph: keyed (it got a key), encrypted (a document was stored), discarded (a document was deleted), destroyed (its key and all its documents). On a proposal: proposed, accepted, rejected, expired. Other actions: reflected, faded, forgotten, undone, restored, imported.';
COMMENT ON COLUMN event.entity_id IS 'Entity of the event. The id is kept after the entity is forgotten.';
COMMENT ON COLUMN event.observation_id IS 'Fact of the event. Null: the event is about no fact, or about several facts.';
COMMENT ON COLUMN event.relation_id IS 'Relation of the event.';
COMMENT ON COLUMN event.detail IS 'Counts, ids and values of the action, such as the values before and after an update. Never the text of a fact.';
COMMENT ON COLUMN event.transaction IS 'Transaction of the event. Followers of the trail read in the order of transaction and id, because events do not become visible in the order of their ids.';
CREATE INDEX event_accepted_idx ON event USING btree (space_id, at) WHERE action = 'accepted'::text;
CREATE INDEX event_actor_idx ON event USING btree (space_id, actor_id, at);
CREATE INDEX event_alias_idx ON event USING btree (space_id, (detail ->> 'alias'::text)) WHERE detail ? 'alias'::text;
CREATE INDEX event_document_idx ON event USING btree (space_id, (detail ->> 'document'::text)) WHERE detail ? 'document'::text;
CREATE INDEX event_entity_idx ON event USING btree (space_id, entity_id);
CREATE INDEX event_feed_idx ON event USING btree (space_id, transaction, id);
CREATE INDEX event_merge_idx ON event USING btree (space_id, (detail ->> 'merge'::text)) WHERE detail ? 'merge'::text;
CREATE INDEX event_observation_idx ON event USING btree (space_id, observation_id) WHERE observation_id IS NOT NULL;
CREATE INDEX event_proposal_idx ON event USING btree (space_id, (detail ->> 'proposal'::text)) WHERE detail ? 'proposal'::text;
CREATE INDEX event_relation_idx ON event USING btree (space_id, relation_id) WHERE relation_id IS NOT NULL;
CREATE INDEX event_replaced_idx ON event USING btree (space_id, (detail ->> 'replaced'::text)) WHERE detail ? 'replaced'::text;
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
ALTER TABLE event FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON event FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY proposals ON event AS RESTRICTIVE FOR SELECT TO textrawl_analyst USING (((NOT (detail ? 'proposal'::text)) OR (action = 'accepted'::text) OR (space_id = ANY (( SELECT session_reviews() AS session_reviews)::integer[]))));
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
COMMENT ON COLUMN undo.events IS 'Ids of the events that the undo excludes. Later undos ignore these events, until a revert.';
COMMENT ON COLUMN undo.reverted_at IS 'When the undo was reverted. Null: the undo was not reverted.';
COMMENT ON COLUMN undo.purged_at IS 'When the undone content was deleted permanently. Null: the content is kept.';
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
    CONSTRAINT undone_action_check CHECK (action = ANY (ARRAY['remove'::text, 'hand over'::text, 'revive'::text, 'reset'::text, 'drop entity'::text, 'move back'::text, 'retype'::text, 'return'::text])),
    CONSTRAINT undone_kind_check CHECK (kind = ANY (ARRAY['entity'::text, 'observation'::text, 'relation'::text, 'reflection'::text, 'document'::text, 'proposal'::text, 'alias'::text, 'merge'::text, 'dismissal'::text]))
);
COMMENT ON TABLE undone IS 'Rows that an undo removed or changed. They are kept until the undo is purged or their entity is forgotten.';
COMMENT ON COLUMN undone.space_id IS 'Space of the row.';
COMMENT ON COLUMN undone.undo_id IS 'The undo.';
COMMENT ON COLUMN undone.action IS 'What the undo did to the row. remove: the row was removed, or the merge was split. hand over: another author of the same fact became the author of the fact. revive: the row is valid again, or the entities are merged again. reset: the row has its former source, confidence, end and said_at again, the node or edge its former values, the document its former text, or the proposal its former decision. drop entity: the entity was removed. move back: the fact belongs to its former entity again. retype: the entity has its former type again. return: a move to another space had taken the row away, and the undo returned it.';
COMMENT ON COLUMN undone.kind IS 'entity, observation, relation, reflection, document, proposal, alias, merge or dismissal.';
COMMENT ON COLUMN undone.id IS 'Id of the row.';
COMMENT ON COLUMN undone.names IS 'name_key(name) of each entity that the row is about.';
COMMENT ON COLUMN undone.entities IS 'For remove, move back and drop entity: the entities in names, as they were before the undo. For other actions: empty.';
COMMENT ON COLUMN undone.before IS 'The removed row, or the former values of the changed columns.';
COMMENT ON COLUMN undone.after IS 'Values of the changed columns after the undo. Null: the row was removed.';
CREATE INDEX undone_id_idx ON undone USING btree (space_id, id);
CREATE INDEX undone_names_idx ON undone USING gin (names);
ALTER TABLE undone ENABLE ROW LEVEL SECURITY;
ALTER TABLE undone FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON undone FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY proposals ON undone AS RESTRICTIVE FOR SELECT TO textrawl_analyst USING (((kind <> 'proposal'::text) OR (space_id = ANY (( SELECT session_reviews() AS session_reviews)::integer[]))));
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
COMMENT ON TABLE recall IS 'Answers of query_memory and of the graph tools that read: the newest 100,000 of each space, at most 90 days old. TEXTRAWL_RECORD_RECALLS decides whether the text of the query is kept.';
COMMENT ON COLUMN recall.space_id IS 'Home space of the caller.';
COMMENT ON COLUMN recall.id IS 'Number of the recall.';
COMMENT ON COLUMN recall.at IS 'When the answer was sent. The row is written seconds later.';
COMMENT ON COLUMN recall.actor_id IS 'Actor who sent the query. Null: the session had no token.';
COMMENT ON COLUMN recall.client IS 'Name and version of the MCP client. Null: the client sent no name.';
COMMENT ON COLUMN recall.mode IS 'Kind of the query: search, entity or list.';
COMMENT ON COLUMN recall.query IS 'First 500 characters of the query or of the entity name. Null: not kept because of TEXTRAWL_RECORD_RECALLS=hash, or removed because a fact or the entity was forgotten.';
COMMENT ON COLUMN recall.query_hash IS 'First 16 hexadecimal digits of the SHA-256 of the query. Queries that differ only in case and white space have the same hash. It does not hide a query that somebody can guess.';
COMMENT ON COLUMN recall.hits IS 'Number of facts that were found, including facts that did not fit into the answer.';
COMMENT ON COLUMN recall.score IS 'Score of the best fact, from 0 to 1. Null: no fact was found, or the call was not a search.';
COMMENT ON COLUMN recall.cosine IS 'Highest cosine of the query and a fact. Null: no vectors were compared.';
COMMENT ON COLUMN recall.coverage IS 'Highest coverage of the facts: the weighted share of the query''s words that a fact has.';
COMMENT ON COLUMN recall.facts IS 'Ids of the facts in the answer that belong to the space of this row, best first.';
COMMENT ON COLUMN recall.format IS 'Format of the text: compact, lines or verbose.';
COMMENT ON COLUMN recall.structured IS 'True: the answer had structured content beside the text.';
COMMENT ON COLUMN recall.tokens IS 'Tokens that count against the budget: text and structured content together. For the graph tools: the larger of the two.';
COMMENT ON COLUMN recall.verbose_tokens IS 'Tokens of the same answer as verbose text. Null: not counted, because only one answer every few seconds is counted.';
COMMENT ON COLUMN recall.budget IS 'Largest number of tokens that the answer may cost.';
COMMENT ON COLUMN recall.items IS 'Number of facts, relations or entities in the answer.';
COMMENT ON COLUMN recall.dropped IS 'Number of items that did not fit into the budget.';
COMMENT ON COLUMN recall.milliseconds IS 'Time in milliseconds from the arrival of the call to its answer.';
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
COMMENT ON TABLE recalled IS 'Number of answers of query_memory that contained a fact, for all callers together. A fact without a row was in no answer.';
COMMENT ON COLUMN recalled.space_id IS 'Space of the fact.';
COMMENT ON COLUMN recalled.observation_id IS 'The fact.';
COMMENT ON COLUMN recalled.recalls IS 'Number of recorded answers that contained the fact.';
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
COMMENT ON TABLE entity_use IS 'Number of answers of the graph tools that contained an entity, for each day. The graph tools rank entities by it.';
COMMENT ON COLUMN entity_use.space_id IS 'Space of the entity.';
COMMENT ON COLUMN entity_use.entity_id IS 'The entity.';
COMMENT ON COLUMN entity_use.day IS 'Day in UTC.';
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
COMMENT ON TABLE joint_use IS 'Number of answers of the graph tools that contained both entities.';
COMMENT ON COLUMN joint_use.space_id IS 'Space of both entities.';
COMMENT ON COLUMN joint_use.one IS 'The entity with the smaller id.';
COMMENT ON COLUMN joint_use.other IS 'The other entity.';
COMMENT ON COLUMN joint_use.count IS 'Number of answers with both entities.';
COMMENT ON COLUMN joint_use.last_at IS 'When both entities were last in one answer.';
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
COMMENT ON COLUMN reflection.voice IS 'Name of the speaker, as the caller gave it. It can differ from the author and does not prove who wrote the reflection.';
COMMENT ON COLUMN reflection.mood IS 'Mood of the reflection, such as insight. Null: not given.';
COMMENT ON COLUMN reflection.author_id IS 'Actor who wrote the reflection.';
COMMENT ON COLUMN reflection.client IS 'Name and version of the MCP client that wrote the reflection. Null: the reflection was written from SQL.';
COMMENT ON COLUMN reflection.tool IS 'Tool that wrote the reflection. sql: the reflection was written from psql.';
COMMENT ON COLUMN reflection.request IS 'Id of the request that wrote the reflection, as in the log of the server. Null: the reflection was written from SQL.';
COMMENT ON COLUMN reflection.created_at IS 'When the reflection was stored.';
COMMENT ON COLUMN reflection.fts IS 'Stems of the words of the reflection.';
COMMENT ON COLUMN reflection.model_id IS 'Model of the vector. Null: there is no vector.';
COMMENT ON COLUMN reflection.vector IS 'Vector of the model model_id. Null: no model was active when the reflection was written.';
CREATE INDEX reflection_entity_idx ON reflection USING btree (space_id, entity_id) WHERE entity_id IS NOT NULL;
CREATE INDEX reflection_fts_idx ON reflection USING gin (fts) WITH (fastupdate=off);
CREATE INDEX reflection_relation_idx ON reflection USING btree (space_id, relation_id) WHERE relation_id IS NOT NULL;
ALTER TABLE reflection ENABLE ROW LEVEL SECURITY;
ALTER TABLE reflection FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON reflection FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON reflection FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE graph_node (
    space_id integer NOT NULL,
    entity_id uuid NOT NULL,
    label text,
    label_key text,
    description_id uuid,
    confidence real,
    properties jsonb,
    instance text,
    memory text,
    first_learned_at timestamptz,
    last_confirmed_at timestamptz,
    version integer DEFAULT 1 NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT graph_node_pkey PRIMARY KEY (space_id, entity_id),
    CONSTRAINT graph_node_space_id_description_id_fkey FOREIGN KEY (space_id, description_id) REFERENCES observation(space_id, id) ON DELETE SET NULL (description_id),
    CONSTRAINT graph_node_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT graph_node_check CHECK ((label_key IS NULL) = (label IS NULL)),
    CONSTRAINT graph_node_confidence_check CHECK (confidence >= 0::double precision AND confidence <= 1::double precision),
    CONSTRAINT graph_node_deleted_at_check CHECK (isfinite(deleted_at)),
    CONSTRAINT graph_node_first_learned_at_check CHECK (isfinite(first_learned_at)),
    CONSTRAINT graph_node_instance_check CHECK (char_length(instance) >= 1 AND char_length(instance) <= 200),
    CONSTRAINT graph_node_label_check CHECK (char_length(label) >= 1 AND char_length(label) <= 200),
    CONSTRAINT graph_node_last_confirmed_at_check CHECK (isfinite(last_confirmed_at)),
    CONSTRAINT graph_node_memory_check CHECK (char_length(memory) >= 1 AND char_length(memory) <= 200),
    CONSTRAINT graph_node_properties_check CHECK (jsonb_typeof(properties) = 'object'::text),
    CONSTRAINT graph_node_version_check CHECK (version > 0)
) WITH (fillfactor=85);
COMMENT ON TABLE graph_node IS 'The values of a node that its entity does not have. An entity without a row is a node with the default values of node_states(). The type of a node is the free type of its entity.';
COMMENT ON COLUMN graph_node.space_id IS 'Space of the entity.';
COMMENT ON COLUMN graph_node.entity_id IS 'The entity. Its id is the id of the node.';
COMMENT ON COLUMN graph_node.label IS 'Label of the node, if it differs from the name of the entity: because an entity of another type has this name already, or because the label was changed. Null: the name of the entity.';
COMMENT ON COLUMN graph_node.label_key IS 'name_key(label).';
COMMENT ON COLUMN graph_node.description_id IS 'Fact of the entity that describes the node. If the fact was replaced, its successor describes the node.';
COMMENT ON COLUMN graph_node.confidence IS 'Confidence in the node, from 0 to 1. Null: 0.5.';
COMMENT ON COLUMN graph_node.properties IS 'Further data of the caller. Null: none.';
COMMENT ON COLUMN graph_node.instance IS 'Instance that created the node or changed it last, according to the caller.';
COMMENT ON COLUMN graph_node.memory IS 'Source from which the node was learned, such as a journal entry, according to the caller.';
COMMENT ON COLUMN graph_node.first_learned_at IS 'When the node was first learned. Null: when the entity was created.';
COMMENT ON COLUMN graph_node.last_confirmed_at IS 'When the node was last confirmed. Null: never.';
COMMENT ON COLUMN graph_node.version IS 'Number of the version. An update adds one.';
COMMENT ON COLUMN graph_node.deleted_at IS 'When the node was deleted. Its facts and relations ended then. Null: the node was not deleted.';
CREATE INDEX graph_node_deleted_idx ON graph_node USING btree (space_id, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX graph_node_description_idx ON graph_node USING btree (space_id, description_id) WHERE description_id IS NOT NULL;
CREATE INDEX graph_node_label_idx ON graph_node USING btree (space_id, label_key) WHERE label_key IS NOT NULL;
ALTER TABLE graph_node ENABLE ROW LEVEL SECURITY;
ALTER TABLE graph_node FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON graph_node FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON graph_node FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE graph_edge (
    space_id integer NOT NULL,
    relation_id uuid NOT NULL,
    evidence text,
    properties jsonb,
    instance text,
    occurred_at timestamptz,
    last_confirmed_at timestamptz,
    version integer DEFAULT 1 NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT graph_edge_pkey PRIMARY KEY (space_id, relation_id),
    CONSTRAINT graph_edge_space_id_relation_id_fkey FOREIGN KEY (space_id, relation_id) REFERENCES relation(space_id, id) ON DELETE CASCADE,
    CONSTRAINT graph_edge_deleted_at_check CHECK (isfinite(deleted_at)),
    CONSTRAINT graph_edge_evidence_check CHECK (char_length(evidence) >= 1 AND char_length(evidence) <= 2000),
    CONSTRAINT graph_edge_instance_check CHECK (char_length(instance) >= 1 AND char_length(instance) <= 200),
    CONSTRAINT graph_edge_last_confirmed_at_check CHECK (isfinite(last_confirmed_at)),
    CONSTRAINT graph_edge_occurred_at_check CHECK (isfinite(occurred_at)),
    CONSTRAINT graph_edge_properties_check CHECK (jsonb_typeof(properties) = 'object'::text),
    CONSTRAINT graph_edge_version_check CHECK (version > 0)
) WITH (fillfactor=85);
COMMENT ON TABLE graph_edge IS 'The values of an edge that its relation does not have. A relation without a row is an edge with the default values of edge_states(). The weight of an edge is the strength of its relation.';
COMMENT ON COLUMN graph_edge.space_id IS 'Space of the relation.';
COMMENT ON COLUMN graph_edge.relation_id IS 'The relation. Its id is the id of the edge.';
COMMENT ON COLUMN graph_edge.evidence IS 'Text that supports the edge, 1 to 2000 characters. Null: none.';
COMMENT ON COLUMN graph_edge.properties IS 'Further data of the caller. Null: none.';
COMMENT ON COLUMN graph_edge.instance IS 'Instance that created the edge or changed it last, according to the caller.';
COMMENT ON COLUMN graph_edge.occurred_at IS 'When the event that the edge describes occurred. Null: not given.';
COMMENT ON COLUMN graph_edge.last_confirmed_at IS 'When the edge was last confirmed. Null: never.';
COMMENT ON COLUMN graph_edge.version IS 'Number of the version. An update adds one.';
COMMENT ON COLUMN graph_edge.deleted_at IS 'When the edge was deleted. Its relation ended then. Null: the edge was not deleted.';
ALTER TABLE graph_edge ENABLE ROW LEVEL SECURITY;
ALTER TABLE graph_edge FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON graph_edge FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON graph_edge FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE graph_change (
    space_id integer NOT NULL,
    event_id bigint NOT NULL,
    entity_id uuid,
    relation_id uuid,
    before jsonb NOT NULL,
    after jsonb NOT NULL,
    CONSTRAINT graph_change_pkey PRIMARY KEY (space_id, event_id),
    CONSTRAINT graph_change_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT graph_change_space_id_relation_id_fkey FOREIGN KEY (space_id, relation_id) REFERENCES relation(space_id, id) ON DELETE CASCADE,
    CONSTRAINT graph_change_check CHECK (num_nonnulls(entity_id, relation_id) = 1)
);
COMMENT ON TABLE graph_change IS 'The values that an event of the trail changed in a node or an edge, for undo. Events do not hold content, so the values are in this table. They are deleted with the entity or the relation.';
COMMENT ON COLUMN graph_change.space_id IS 'Space of the event.';
COMMENT ON COLUMN graph_change.event_id IS 'The event. Its action is `described`.';
COMMENT ON COLUMN graph_change.entity_id IS 'Entity of the node. Null: an edge changed.';
COMMENT ON COLUMN graph_change.relation_id IS 'Relation of the edge. Null: a node changed.';
COMMENT ON COLUMN graph_change.before IS 'The values before the event, by column. Columns that did not change are left out.';
COMMENT ON COLUMN graph_change.after IS 'The values after the event, by column.';
CREATE INDEX graph_change_entity_idx ON graph_change USING btree (space_id, entity_id) WHERE entity_id IS NOT NULL;
CREATE INDEX graph_change_relation_idx ON graph_change USING btree (space_id, relation_id) WHERE relation_id IS NOT NULL;
ALTER TABLE graph_change ENABLE ROW LEVEL SECURITY;
ALTER TABLE graph_change FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON graph_change FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON graph_change FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE decay_policy (
    space_id integer NOT NULL,
    model text,
    half_life_days double precision,
    alpha double precision,
    lambda double precision,
    beta double precision,
    lambda_fast double precision,
    lambda_slow double precision,
    weight_fast double precision,
    forget_threshold double precision,
    promote_threshold double precision,
    promote_use_count integer,
    promote_days double precision,
    review_share double precision,
    review_from double precision,
    review_until double precision,
    auto_reinforce boolean,
    cross_domain_boost double precision,
    CONSTRAINT decay_policy_pkey PRIMARY KEY (space_id),
    CONSTRAINT decay_policy_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON DELETE CASCADE,
    CONSTRAINT decay_policy_alpha_check CHECK (alpha >= 0.01::double precision AND alpha <= 100::double precision),
    CONSTRAINT decay_policy_beta_check CHECK (beta >= 0::double precision AND beta <= 10::double precision),
    CONSTRAINT decay_policy_check CHECK (review_from < review_until),
    CONSTRAINT decay_policy_cross_domain_boost_check CHECK (cross_domain_boost >= 0::double precision AND cross_domain_boost <= 1::double precision),
    CONSTRAINT decay_policy_forget_threshold_check CHECK (forget_threshold >= 0::double precision AND forget_threshold <= 1::double precision),
    CONSTRAINT decay_policy_half_life_days_check CHECK (half_life_days >= 0.000001::double precision AND half_life_days <= 36500::double precision),
    CONSTRAINT decay_policy_lambda_check CHECK (lambda >= 0.000000000001::double precision AND lambda <= 1::double precision),
    CONSTRAINT decay_policy_lambda_fast_check CHECK (lambda_fast >= 0.000000000001::double precision AND lambda_fast <= 1::double precision),
    CONSTRAINT decay_policy_lambda_slow_check CHECK (lambda_slow >= 0.000000000001::double precision AND lambda_slow <= 1::double precision),
    CONSTRAINT decay_policy_model_check CHECK (model = ANY (ARRAY['power_law'::text, 'exponential'::text, 'two_component'::text])),
    CONSTRAINT decay_policy_promote_days_check CHECK (promote_days >= 0::double precision AND promote_days <= 36500::double precision),
    CONSTRAINT decay_policy_promote_threshold_check CHECK (promote_threshold >= 0::double precision AND promote_threshold <= 1::double precision),
    CONSTRAINT decay_policy_promote_use_count_check CHECK (promote_use_count >= 0),
    CONSTRAINT decay_policy_review_from_check CHECK (review_from >= 0::double precision AND review_from <= 1::double precision),
    CONSTRAINT decay_policy_review_share_check CHECK (review_share >= 0::double precision AND review_share <= 1::double precision),
    CONSTRAINT decay_policy_review_until_check CHECK (review_until >= 0::double precision AND review_until <= 1::double precision),
    CONSTRAINT decay_policy_weight_fast_check CHECK (weight_fast >= 0::double precision AND weight_fast <= 1::double precision)
);
COMMENT ON TABLE decay_policy IS 'How the memories of a space fade. A space without a row, and a column that is null, have the value of default_policy().';
COMMENT ON COLUMN decay_policy.space_id IS 'Space of the policy.';
COMMENT ON COLUMN decay_policy.model IS 'Formula of the score: power_law, exponential or two_component.';
COMMENT ON COLUMN decay_policy.half_life_days IS 'power_law: days in which the score of an unused memory falls to a half for the first time.';
COMMENT ON COLUMN decay_policy.alpha IS 'power_law: exponent. A larger exponent makes old memories fade faster.';
COMMENT ON COLUMN decay_policy.lambda IS 'exponential: decay in a second.';
COMMENT ON COLUMN decay_policy.beta IS 'Exponent of the use count. 0: uses do not change the score.';
COMMENT ON COLUMN decay_policy.lambda_fast IS 'two_component: decay of the fast component in a second.';
COMMENT ON COLUMN decay_policy.lambda_slow IS 'two_component: decay of the slow component in a second.';
COMMENT ON COLUMN decay_policy.weight_fast IS 'two_component: share of the fast component, from 0 to 1.';
COMMENT ON COLUMN decay_policy.forget_threshold IS 'gc takes active memories with a lower score.';
COMMENT ON COLUMN decay_policy.promote_threshold IS 'A memory with at least this score can be promoted.';
COMMENT ON COLUMN decay_policy.promote_use_count IS 'A memory that was used at least this often within promote_days of its creation can be promoted.';
COMMENT ON COLUMN decay_policy.promote_days IS 'Largest age in days of a memory that can be promoted because of its use count.';
COMMENT ON COLUMN decay_policy.review_share IS 'Largest share of the results of a search that are there for review.';
COMMENT ON COLUMN decay_policy.review_from IS 'Lowest score at which a memory is due for review.';
COMMENT ON COLUMN decay_policy.review_until IS 'Highest score at which a memory is due for review.';
COMMENT ON COLUMN decay_policy.auto_reinforce IS 'False: observe_memory_usage changes nothing.';
COMMENT ON COLUMN decay_policy.cross_domain_boost IS 'Added to the strength of a memory that is used in another domain.';
ALTER TABLE decay_policy ENABLE ROW LEVEL SECURITY;
ALTER TABLE decay_policy FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON decay_policy FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON decay_policy FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE retention (
    space_id integer NOT NULL,
    observation_id uuid NOT NULL,
    saved boolean DEFAULT false NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    entities text[] DEFAULT '{}'::text[] NOT NULL,
    source text,
    context text,
    extra jsonb DEFAULT '{}'::jsonb NOT NULL,
    strength double precision DEFAULT 1 NOT NULL,
    use_count integer DEFAULT 0 NOT NULL,
    last_used timestamptz NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    ended_at timestamptz,
    promoted_at timestamptz,
    promoted_to text,
    last_review_at timestamptz,
    review_count integer DEFAULT 0 NOT NULL,
    cross_domain_count integer DEFAULT 0 NOT NULL,
    CONSTRAINT retention_pkey PRIMARY KEY (space_id, observation_id),
    CONSTRAINT retention_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES observation(space_id, id) ON DELETE CASCADE,
    CONSTRAINT retention_context_check CHECK (char_length(context) <= 1000),
    CONSTRAINT retention_cross_domain_count_check CHECK (cross_domain_count >= 0),
    CONSTRAINT retention_ended_at_check CHECK (isfinite(ended_at)),
    CONSTRAINT retention_last_review_at_check CHECK (isfinite(last_review_at)),
    CONSTRAINT retention_last_used_check CHECK (isfinite(last_used)),
    CONSTRAINT retention_promoted_at_check CHECK (isfinite(promoted_at)),
    CONSTRAINT retention_review_count_check CHECK (review_count >= 0),
    CONSTRAINT retention_source_check CHECK (char_length(source) <= 500),
    CONSTRAINT retention_status_check CHECK (status = ANY (ARRAY['active'::text, 'promoted'::text, 'archived'::text, 'removed'::text])),
    CONSTRAINT retention_strength_check CHECK (strength >= 0::double precision AND strength <= 2::double precision),
    CONSTRAINT retention_use_count_check CHECK (use_count >= 0)
) WITH (fillfactor=80);
COMMENT ON TABLE retention IS 'Tags, strength, uses, reviews and status of a memory. A fact without a row is a memory with strength 1 that was last used when it was stored.';
COMMENT ON COLUMN retention.space_id IS 'Space of the memory.';
COMMENT ON COLUMN retention.observation_id IS 'The fact that holds the text. For a long text: its first part.';
COMMENT ON COLUMN retention.saved IS 'True: save_memory or an import stored the memory, so gc can take it. False: another tool stored the fact, and gc leaves it.';
COMMENT ON COLUMN retention.tags IS 'Tags in lower case.';
COMMENT ON COLUMN retention.entities IS 'Names of entities that the memory is about. The fact belongs to the first one.';
COMMENT ON COLUMN retention.source IS 'Source of the memory, as the caller gave it.';
COMMENT ON COLUMN retention.context IS 'Context in which the memory was saved, as the caller gave it.';
COMMENT ON COLUMN retention.extra IS 'Further data of the caller.';
COMMENT ON COLUMN retention.strength IS 'Factor of the score, 1 to 2. Imported memories can have less.';
COMMENT ON COLUMN retention.use_count IS 'Number of uses that touch_memory and observe_memory_usage recorded.';
COMMENT ON COLUMN retention.last_used IS 'When the memory was last used or saved.';
COMMENT ON COLUMN retention.status IS 'active, promoted (it is also a note), archived or removed. The fact of an archived or removed memory is no longer valid.';
COMMENT ON COLUMN retention.ended_at IS 'When the memory was archived or removed. Null: it was not.';
COMMENT ON COLUMN retention.promoted_at IS 'When the memory was promoted.';
COMMENT ON COLUMN retention.promoted_to IS 'Path of the note, in the folder of notes.';
COMMENT ON COLUMN retention.last_review_at IS 'When observe_memory_usage last recorded a use.';
COMMENT ON COLUMN retention.review_count IS 'Number of uses that observe_memory_usage recorded.';
COMMENT ON COLUMN retention.cross_domain_count IS 'Number of these uses with tags unlike those of the memory.';
CREATE INDEX retention_last_used_idx ON retention USING btree (space_id, last_used DESC) WHERE status = ANY (ARRAY['active'::text, 'promoted'::text]);
CREATE INDEX retention_status_idx ON retention USING btree (space_id, status, ended_at) WHERE status = ANY (ARRAY['archived'::text, 'removed'::text]);
CREATE INDEX retention_tags_idx ON retention USING gin (tags) WITH (fastupdate=off);
ALTER TABLE retention ENABLE ROW LEVEL SECURITY;
ALTER TABLE retention FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON retention FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON retention FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE memory_link (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    from_id uuid NOT NULL,
    to_id uuid NOT NULL,
    relation_type text NOT NULL,
    strength double precision DEFAULT 1 NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT memory_link_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT memory_link_space_id_from_id_to_id_relation_type_key UNIQUE (space_id, from_id, to_id, relation_type),
    CONSTRAINT memory_link_space_id_from_id_fkey FOREIGN KEY (space_id, from_id) REFERENCES observation(space_id, id) ON DELETE CASCADE,
    CONSTRAINT memory_link_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT memory_link_relation_type_check CHECK (relation_type = ANY (ARRAY['related'::text, 'causes'::text, 'supports'::text, 'contradicts'::text, 'has_decision'::text, 'consolidated_from'::text])),
    CONSTRAINT memory_link_strength_check CHECK (strength >= 0::double precision AND strength <= 1::double precision)
);
COMMENT ON TABLE memory_link IS 'A directed link between two memories.';
COMMENT ON COLUMN memory_link.space_id IS 'Space of both memories.';
COMMENT ON COLUMN memory_link.id IS 'Id of the link, unique in its space.';
COMMENT ON COLUMN memory_link.from_id IS 'Memory that the link starts at.';
COMMENT ON COLUMN memory_link.to_id IS 'Memory that the link leads to. It is kept when that memory is deleted, so that consolidated_from shows where a text came from.';
COMMENT ON COLUMN memory_link.relation_type IS 'related, causes, supports, contradicts, has_decision or consolidated_from.';
COMMENT ON COLUMN memory_link.strength IS 'Strength of the link, from 0 to 1.';
COMMENT ON COLUMN memory_link.metadata IS 'Further data of the caller.';
COMMENT ON COLUMN memory_link.created_at IS 'When the link was stored.';
CREATE INDEX memory_link_to_idx ON memory_link USING btree (space_id, to_id);
ALTER TABLE memory_link ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_link FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON memory_link FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON memory_link FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE instance (
    space_id integer NOT NULL,
    id text NOT NULL,
    instance_type text DEFAULT 'other'::text NOT NULL,
    name text,
    version text,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    last_sync timestamptz,
    CONSTRAINT instance_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT instance_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id),
    CONSTRAINT instance_id_check CHECK (id ~ '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$'::text),
    CONSTRAINT instance_instance_type_check CHECK (instance_type = ANY (ARRAY['psycheros'::text, 'sby'::text, 'sillytavern'::text, 'openwebui'::text, 'claude-code'::text, 'other'::text])),
    CONSTRAINT instance_last_sync_check CHECK (isfinite(last_sync)),
    CONSTRAINT instance_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
    CONSTRAINT instance_version_check CHECK (char_length(version) >= 1 AND char_length(version) <= 100)
);
COMMENT ON TABLE instance IS 'A program that shares the documents of a space with other programs, such as an editor.';
COMMENT ON COLUMN instance.space_id IS 'Space of the documents.';
COMMENT ON COLUMN instance.id IS 'Id that the program gives itself.';
COMMENT ON COLUMN instance.instance_type IS 'Kind of the program. If two instances changed a document and both texts have the same time, the kind decides which text counts.';
COMMENT ON COLUMN instance.name IS 'Name of the program for people.';
COMMENT ON COLUMN instance.version IS 'Version of the program.';
COMMENT ON COLUMN instance.created_at IS 'When the instance was first seen.';
COMMENT ON COLUMN instance.last_sync IS 'When the instance last pulled or pushed. Null: it never did.';
ALTER TABLE instance ENABLE ROW LEVEL SECURITY;
ALTER TABLE instance FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON instance FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON instance FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE document_clock (
    space_id integer NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT document_clock_pkey PRIMARY KEY (space_id),
    CONSTRAINT document_clock_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id)
);
COMMENT ON TABLE document_clock IS 'The number of the last change of the documents of a space. Each change takes the next number, and locks this row until its transaction ends. Therefore the numbers become visible in their order.';
COMMENT ON COLUMN document_clock.space_id IS 'Space of the documents.';
COMMENT ON COLUMN document_clock.version IS 'Number of the last change.';
ALTER TABLE document_clock ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_clock FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON document_clock FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON document_clock FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE document (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    kind text NOT NULL,
    path text NOT NULL,
    entity_id uuid,
    version bigint,
    changed bigint NOT NULL,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT document_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT document_space_id_kind_path_key UNIQUE (space_id, kind, path),
    CONSTRAINT document_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT document_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id),
    CONSTRAINT document_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT document_kind_check CHECK (kind = ANY (ARRAY['identity'::text, 'journal'::text, 'source'::text, 'item'::text, 'log'::text])),
    CONSTRAINT document_path_check CHECK (char_length(path) >= 1 AND char_length(path) <= 300)
);
COMMENT ON TABLE document IS 'An identity file, a journal entry or a source. Its texts are in document_version.';
COMMENT ON COLUMN document.space_id IS 'Space of the document.';
COMMENT ON COLUMN document.id IS 'Id of the document.';
COMMENT ON COLUMN document.kind IS 'identity, journal, source, item (a value under a key) or log (an entry of a log).';
COMMENT ON COLUMN document.path IS 'Key of the document in its space: category/filename of an identity file, granularity/date of a journal entry, with its instance or slug, file/path of an ingested file, clip/id of a remembered text, or the namespace and key of an item as JSON.';
COMMENT ON COLUMN document.entity_id IS 'Entity whose facts are the parts of a journal entry or the chunks of a source. Deleting the entity deletes the document. Null: an identity file or an item.';
COMMENT ON COLUMN document.version IS 'The current version, in document_version. Null: an undo took back all versions.';
COMMENT ON COLUMN document.changed IS 'Number of the last change of this document, from document_clock. A sync returns the documents whose number is higher than the number that the instance knows.';
COMMENT ON COLUMN document.created_at IS 'When the document was first stored.';
CREATE INDEX document_changed_idx ON document USING btree (space_id, changed);
CREATE INDEX document_entity_idx ON document USING btree (space_id, entity_id) WHERE entity_id IS NOT NULL;
ALTER TABLE document ENABLE ROW LEVEL SECURITY;
ALTER TABLE document FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON document FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON document FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));
CREATE TRIGGER document_is_buried AFTER DELETE ON document FOR EACH ROW WHEN (old.kind <> ALL (ARRAY['item'::text, 'log'::text])) EXECUTE FUNCTION bury_document();

CREATE TABLE document_version (
    space_id integer NOT NULL,
    document_id uuid NOT NULL,
    version bigint NOT NULL,
    number integer NOT NULL,
    content text,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    lost boolean DEFAULT false NOT NULL,
    modified_at timestamptz NOT NULL,
    modified_by text,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT document_version_pkey PRIMARY KEY (space_id, document_id, version),
    CONSTRAINT document_version_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT document_version_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES document(space_id, id) ON DELETE CASCADE,
    CONSTRAINT document_version_content_check CHECK (char_length(content) <= 5000000),
    CONSTRAINT document_version_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT document_version_modified_at_check CHECK (isfinite(modified_at)),
    CONSTRAINT document_version_modified_by_check CHECK (char_length(modified_by) >= 1 AND char_length(modified_by) <= 200),
    CONSTRAINT document_version_number_check CHECK (number > 0)
);
COMMENT ON TABLE document_version IS 'Every text of a document, also the texts that an undo took back or that lost a conflict.';
COMMENT ON COLUMN document_version.space_id IS 'Space of the document.';
COMMENT ON COLUMN document_version.document_id IS 'The document.';
COMMENT ON COLUMN document_version.version IS 'Number of the change, from document_clock. Of an item or an entry of a log: its own number.';
COMMENT ON COLUMN document_version.number IS 'Number of this version among the versions of the document, from 1.';
COMMENT ON COLUMN document_version.content IS 'The text, or the JSON of an item exactly as it was given. Null: this version deletes the document.';
COMMENT ON COLUMN document_version.attributes IS 'For a journal entry: chat_ids, participants and the first instance of the text. For an identity file: label, its prompt label. If it is missing, the label is the filename without .md. For a source: sha256, the hash of the file or the text, and chunks, a list of [part, start, length, tokens]. start is the number of characters before the chunk. For an item: metadata, its JSON as a text, ttl, the time to live in seconds, and index, what search reads.';
COMMENT ON COLUMN document_version.lost IS 'True: the text lost a conflict with another instance, so it was never the text of the document.';
COMMENT ON COLUMN document_version.modified_at IS 'When the text was changed, according to the instance. It is never later than the time of storage.';
COMMENT ON COLUMN document_version.modified_by IS 'Instance or person who changed the text, according to the caller.';
COMMENT ON COLUMN document_version.author_id IS 'Actor who stored the version.';
COMMENT ON COLUMN document_version.client IS 'Name and version of the MCP client. Null: the version was stored from SQL.';
COMMENT ON COLUMN document_version.tool IS 'Tool that stored the version.';
COMMENT ON COLUMN document_version.request IS 'Id of the request, as in the log of the server.';
COMMENT ON COLUMN document_version.created_at IS 'When the version was stored.';
ALTER TABLE document_version ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_version FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON document_version FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON document_version FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE document_tombstone (
    space_id integer NOT NULL,
    kind text NOT NULL,
    path text NOT NULL,
    changed bigint NOT NULL,
    deleted_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT document_tombstone_pkey PRIMARY KEY (space_id, kind, path),
    CONSTRAINT document_tombstone_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id)
);
COMMENT ON TABLE document_tombstone IS 'A document that was deleted with all its versions. A sync returns the deletion to other instances.';
COMMENT ON COLUMN document_tombstone.space_id IS 'Space of the document.';
COMMENT ON COLUMN document_tombstone.kind IS 'identity, journal or source.';
COMMENT ON COLUMN document_tombstone.path IS 'Path of the document.';
COMMENT ON COLUMN document_tombstone.changed IS 'Number of the deletion, from document_clock.';
COMMENT ON COLUMN document_tombstone.deleted_at IS 'When the document was deleted.';
ALTER TABLE document_tombstone ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_tombstone FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON document_tombstone FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON document_tombstone FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE journal_entry (
    space_id integer NOT NULL,
    document_id uuid NOT NULL,
    granularity text NOT NULL,
    date text NOT NULL,
    period daterange NOT NULL,
    instance_id text NOT NULL,
    slug text,
    CONSTRAINT journal_entry_pkey PRIMARY KEY (space_id, document_id),
    CONSTRAINT journal_entry_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES document(space_id, id) ON DELETE CASCADE,
    CONSTRAINT journal_entry_granularity_check CHECK (granularity = ANY (ARRAY['daily'::text, 'weekly'::text, 'monthly'::text, 'yearly'::text, 'significant'::text])),
    CONSTRAINT journal_entry_slug_check CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text AND char_length(slug) <= 100)
);
COMMENT ON TABLE journal_entry IS 'The subject of a journal entry: a day, a week, a month, a year, or a significant event on a day.';
COMMENT ON COLUMN journal_entry.space_id IS 'Space of the entry.';
COMMENT ON COLUMN journal_entry.document_id IS 'The document with the text.';
COMMENT ON COLUMN journal_entry.granularity IS 'daily, weekly, monthly, yearly or significant.';
COMMENT ON COLUMN journal_entry.date IS 'The period as a text: 2026-05-12, 2026-W19, 2026-05 or 2026.';
COMMENT ON COLUMN journal_entry.period IS 'The days of the period. A week is an ISO week, from Monday to Sunday.';
COMMENT ON COLUMN journal_entry.instance_id IS 'Instance that stored the entry first. For a daily entry it is a part of the key.';
COMMENT ON COLUMN journal_entry.slug IS 'Short name of a significant entry, a part of its key. Null: the entry has no slug.';
CREATE INDEX journal_entry_period_idx ON journal_entry USING btree (space_id, granularity, date DESC);
ALTER TABLE journal_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE journal_entry FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON journal_entry FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON journal_entry FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE identity_snapshot (
    space_id integer NOT NULL,
    id text NOT NULL,
    document_id uuid NOT NULL,
    version bigint NOT NULL,
    reason text NOT NULL,
    source text,
    pinned boolean DEFAULT false NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT identity_snapshot_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT identity_snapshot_space_id_document_id_version_fkey FOREIGN KEY (space_id, document_id, version) REFERENCES document_version(space_id, document_id, version) ON DELETE CASCADE,
    CONSTRAINT identity_snapshot_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT identity_snapshot_reason_check CHECK (reason = ANY (ARRAY['manual'::text, 'scheduled'::text, 'pre-replace'::text])),
    CONSTRAINT identity_snapshot_source_check CHECK (char_length(source) >= 1 AND char_length(source) <= 200)
);
COMMENT ON TABLE identity_snapshot IS 'A version of an identity file that is kept for a restore.';
COMMENT ON COLUMN identity_snapshot.space_id IS 'Space of the file.';
COMMENT ON COLUMN identity_snapshot.id IS 'Id of the snapshot: category, name of the file, and time.';
COMMENT ON COLUMN identity_snapshot.document_id IS 'The identity file.';
COMMENT ON COLUMN identity_snapshot.version IS 'The version that is kept.';
COMMENT ON COLUMN identity_snapshot.reason IS 'manual, scheduled or pre-replace. pre-replace: the snapshot was taken before the file was replaced or deleted.';
COMMENT ON COLUMN identity_snapshot.source IS 'Tool or instance that took the snapshot.';
COMMENT ON COLUMN identity_snapshot.pinned IS 'True: the snapshot is kept however old it is.';
COMMENT ON COLUMN identity_snapshot.created_at IS 'When the snapshot was taken.';
CREATE INDEX identity_snapshot_created_idx ON identity_snapshot USING btree (space_id, created_at DESC);
CREATE INDEX identity_snapshot_document_idx ON identity_snapshot USING btree (space_id, document_id, version);
ALTER TABLE identity_snapshot ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity_snapshot FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON identity_snapshot FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON identity_snapshot FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE source (
    space_id integer NOT NULL,
    document_id uuid NOT NULL,
    source_kind text NOT NULL,
    label text NOT NULL,
    content_hash text,
    chunks integer DEFAULT 0 NOT NULL,
    tokens bigint DEFAULT 0 NOT NULL,
    CONSTRAINT source_pkey PRIMARY KEY (space_id, document_id),
    CONSTRAINT source_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES document(space_id, id) ON DELETE CASCADE,
    CONSTRAINT source_chunks_check CHECK (chunks >= 0),
    CONSTRAINT source_label_check CHECK (char_length(label) >= 1 AND char_length(label) <= 200),
    CONSTRAINT source_source_kind_check CHECK (source_kind = ANY (ARRAY['clip'::text, 'ai-conversation'::text, 'file'::text])),
    CONSTRAINT source_tokens_check CHECK (tokens >= 0)
);
COMMENT ON TABLE source IS 'A text of a graph that is searched in chunks: an ingested file, or a text that a client remembered. Its text is in document_version. Its chunks are facts of its entity.';
COMMENT ON COLUMN source.space_id IS 'Graph of the source.';
COMMENT ON COLUMN source.document_id IS 'The document with the text.';
COMMENT ON COLUMN source.source_kind IS 'clip (a text that a client remembered), ai-conversation (a turn or a summary of a conversation) or file.';
COMMENT ON COLUMN source.label IS 'Name of the source for people. It is also the name of its entity.';
COMMENT ON COLUMN source.content_hash IS 'SHA-256 of the file, or of the remembered text, in hexadecimal. Null: an undo took back all versions.';
COMMENT ON COLUMN source.chunks IS 'Number of chunks.';
COMMENT ON COLUMN source.tokens IS 'Tokens of all chunks together.';
CREATE INDEX source_hash_idx ON source USING btree (space_id, content_hash) WHERE content_hash IS NOT NULL;
ALTER TABLE source ENABLE ROW LEVEL SECURITY;
ALTER TABLE source FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON source FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON source FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));
CREATE TRIGGER refuse_clear_source BEFORE INSERT ON source FOR EACH ROW EXECUTE FUNCTION refuse_clear_source();

CREATE TABLE chunk (
    space_id integer NOT NULL,
    observation_id uuid NOT NULL,
    tokens integer NOT NULL,
    line integer NOT NULL,
    CONSTRAINT chunk_pkey PRIMARY KEY (space_id, observation_id),
    CONSTRAINT chunk_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES observation(space_id, id) ON DELETE CASCADE,
    CONSTRAINT chunk_line_check CHECK (line > 0),
    CONSTRAINT chunk_tokens_check CHECK (tokens >= 0)
);
COMMENT ON TABLE chunk IS 'The place and the size of each chunk of a source. The text of the chunk is in observation.';
COMMENT ON COLUMN chunk.space_id IS 'Graph of the chunk.';
COMMENT ON COLUMN chunk.observation_id IS 'The fact with the text of the chunk. observation.whole is the source, observation.part the number of the chunk.';
COMMENT ON COLUMN chunk.tokens IS 'Tokens of the chunk. After a correction or a deletion beside the chunk, the number can be too high, but never too low.';
COMMENT ON COLUMN chunk.line IS 'Line of the source in which the chunk begins, from 1.';
ALTER TABLE chunk ENABLE ROW LEVEL SECURITY;
ALTER TABLE chunk FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON chunk FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON chunk FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE correction (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    document_id uuid NOT NULL,
    part smallint NOT NULL,
    proposal text NOT NULL,
    original_text text NOT NULL,
    proposed_text text NOT NULL,
    tokens integer NOT NULL,
    mode text NOT NULL,
    author_id integer NOT NULL,
    client text,
    request text,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    apply_until timestamptz NOT NULL,
    applied_at timestamptz,
    event_id bigint,
    CONSTRAINT correction_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT correction_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT correction_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES source(space_id, document_id) ON DELETE CASCADE,
    CONSTRAINT correction_check CHECK ((applied_at IS NULL) = (event_id IS NULL)),
    CONSTRAINT correction_mode_check CHECK (mode = ANY (ARRAY['llm'::text, 'deterministic'::text])),
    CONSTRAINT correction_part_check CHECK (part > 0),
    CONSTRAINT correction_proposal_check CHECK (char_length(proposal) >= 1 AND char_length(proposal) <= 10000),
    CONSTRAINT correction_proposed_text_check CHECK (char_length(proposed_text) >= 1 AND char_length(proposed_text) <= 8000),
    CONSTRAINT correction_tokens_check CHECK (tokens >= 0)
);
COMMENT ON TABLE correction IS 'Corrections of chunks: proposed ones for a day, and applied ones as long as the source exists. They hold the old and the new text, because the trail has no texts.';
COMMENT ON COLUMN correction.space_id IS 'Graph of the chunk.';
COMMENT ON COLUMN correction.id IS 'Id of the correction.';
COMMENT ON COLUMN correction.document_id IS 'Source of the chunk.';
COMMENT ON COLUMN correction.part IS 'Number of the chunk in its source.';
COMMENT ON COLUMN correction.proposal IS 'What should change, in the words of the caller.';
COMMENT ON COLUMN correction.original_text IS 'Text of the chunk before the correction.';
COMMENT ON COLUMN correction.proposed_text IS 'Text of the chunk after the correction.';
COMMENT ON COLUMN correction.tokens IS 'Tokens of the proposed text.';
COMMENT ON COLUMN correction.mode IS 'llm: the LLM wrote the proposed text. deterministic: the proposal is the proposed text.';
COMMENT ON COLUMN correction.author_id IS 'Actor who proposed the correction.';
COMMENT ON COLUMN correction.client IS 'Name and version of the MCP client that proposed it. Null: it was proposed from SQL.';
COMMENT ON COLUMN correction.request IS 'Id of the request, as in the log of the server.';
COMMENT ON COLUMN correction.created_at IS 'When the correction was proposed.';
COMMENT ON COLUMN correction.apply_until IS 'When the correction can no longer be applied.';
COMMENT ON COLUMN correction.applied_at IS 'When the correction was applied. Null: it was not applied.';
COMMENT ON COLUMN correction.event_id IS 'Event of the trail that changed the source. Null: the correction was not applied.';
CREATE INDEX correction_created_idx ON correction USING btree (space_id, created_at) WHERE applied_at IS NULL;
CREATE INDEX correction_document_idx ON correction USING btree (space_id, document_id);
ALTER TABLE correction ENABLE ROW LEVEL SECURITY;
ALTER TABLE correction FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON correction FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON correction FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE llm_use (
    space_id integer NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    actor_id integer,
    purpose text NOT NULL,
    model text NOT NULL,
    requests integer NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    milliseconds real NOT NULL,
    error text,
    CONSTRAINT llm_use_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT llm_use_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES actor(id) ON DELETE SET NULL,
    CONSTRAINT llm_use_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON DELETE CASCADE,
    CONSTRAINT llm_use_at_check CHECK (isfinite(at)),
    CONSTRAINT llm_use_error_check CHECK (error ~ '^[A-Z_]{1,40}$'::text),
    CONSTRAINT llm_use_milliseconds_check CHECK (milliseconds >= 0::double precision),
    CONSTRAINT llm_use_model_check CHECK (char_length(model) >= 1 AND char_length(model) <= 200),
    CONSTRAINT llm_use_purpose_check CHECK (purpose ~ '^[a-z_]{1,40}$'::text),
    CONSTRAINT llm_use_requests_check CHECK (requests >= 0),
    CONSTRAINT llm_use_tokens_in_check CHECK (tokens_in >= 0),
    CONSTRAINT llm_use_tokens_out_check CHECK (tokens_out >= 0)
);
COMMENT ON TABLE llm_use IS 'Calls to the LLM: the newest 100,000 of each space, at most 90 days old. A row has no text of a prompt or of an answer.';
COMMENT ON COLUMN llm_use.space_id IS 'Space whose texts were sent to the LLM.';
COMMENT ON COLUMN llm_use.id IS 'Number of the call.';
COMMENT ON COLUMN llm_use.at IS 'When the call ended.';
COMMENT ON COLUMN llm_use.actor_id IS 'Actor for whom the call was made. Null: the actor is not known.';
COMMENT ON COLUMN llm_use.purpose IS 'consolidate, extract, extract_memories or correct.';
COMMENT ON COLUMN llm_use.model IS 'Model of the LLM, with its provider.';
COMMENT ON COLUMN llm_use.requests IS 'Number of HTTP requests of the call, with retries. 0: the call was skipped, because the provider was down.';
COMMENT ON COLUMN llm_use.tokens_in IS 'Tokens of the prompts, as the provider counts them.';
COMMENT ON COLUMN llm_use.tokens_out IS 'Tokens of the answers, as the provider counts them.';
COMMENT ON COLUMN llm_use.milliseconds IS 'Time of the call in milliseconds.';
COMMENT ON COLUMN llm_use.error IS 'Code of the error, such as LLM_UNREACHABLE. Null: the call was successful.';
CREATE INDEX llm_use_actor_idx ON llm_use USING btree (actor_id) WHERE actor_id IS NOT NULL;
CREATE INDEX llm_use_at_idx ON llm_use USING btree (space_id, at);
ALTER TABLE llm_use ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_use FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON llm_use FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON llm_use FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE extraction_pending (
    space_id integer NOT NULL,
    document_id uuid NOT NULL,
    version bigint NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT extraction_pending_pkey PRIMARY KEY (space_id, document_id),
    CONSTRAINT extraction_pending_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES document(space_id, id) ON DELETE CASCADE,
    CONSTRAINT extraction_pending_attempts_check CHECK (attempts >= 0)
);
COMMENT ON TABLE extraction_pending IS 'Journal entries that wait until the LLM extracts nodes and edges from their texts. The transaction that writes an entry adds the row.';
COMMENT ON COLUMN extraction_pending.space_id IS 'Space of the entry.';
COMMENT ON COLUMN extraction_pending.document_id IS 'The journal entry.';
COMMENT ON COLUMN extraction_pending.version IS 'Version of the entry that the LLM has to read.';
COMMENT ON COLUMN extraction_pending.attempts IS 'Number of attempts, also of unfinished ones.';
COMMENT ON COLUMN extraction_pending.next_attempt IS 'When a server may try again. A server that works on the entry moves this time into the future.';
CREATE INDEX extraction_pending_next_idx ON extraction_pending USING btree (next_attempt);
ALTER TABLE extraction_pending ENABLE ROW LEVEL SECURITY;
ALTER TABLE extraction_pending FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON extraction_pending FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON extraction_pending FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE extraction_total (
    space_id integer NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    successes bigint DEFAULT 0 NOT NULL,
    nodes_created bigint DEFAULT 0 NOT NULL,
    edges_created bigint DEFAULT 0 NOT NULL,
    last_attempt timestamptz,
    last_success timestamptz,
    last_error text,
    CONSTRAINT extraction_total_pkey PRIMARY KEY (space_id),
    CONSTRAINT extraction_total_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON DELETE CASCADE,
    CONSTRAINT extraction_total_attempts_check CHECK (attempts >= 0),
    CONSTRAINT extraction_total_edges_created_check CHECK (edges_created >= 0),
    CONSTRAINT extraction_total_nodes_created_check CHECK (nodes_created >= 0),
    CONSTRAINT extraction_total_successes_check CHECK (successes >= 0)
);
COMMENT ON TABLE extraction_total IS 'Totals of the extraction in a space. sync_status shows them.';
COMMENT ON COLUMN extraction_total.space_id IS 'Space of the entries.';
COMMENT ON COLUMN extraction_total.attempts IS 'Number of texts that were sent to the LLM.';
COMMENT ON COLUMN extraction_total.successes IS 'Number of texts that the LLM could read, also texts without nodes and edges.';
COMMENT ON COLUMN extraction_total.nodes_created IS 'Number of new nodes.';
COMMENT ON COLUMN extraction_total.edges_created IS 'Number of new edges.';
COMMENT ON COLUMN extraction_total.last_attempt IS 'When the last attempt ended.';
COMMENT ON COLUMN extraction_total.last_success IS 'When the last successful attempt ended.';
COMMENT ON COLUMN extraction_total.last_error IS 'Error of the last attempt. Null: the last attempt was successful.';
ALTER TABLE extraction_total ENABLE ROW LEVEL SECURITY;
ALTER TABLE extraction_total FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON extraction_total FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON extraction_total FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE consolidation (
    space_id integer NOT NULL,
    granularity text NOT NULL,
    period text NOT NULL,
    claimant uuid NOT NULL,
    claimed_until timestamptz NOT NULL,
    CONSTRAINT consolidation_pkey PRIMARY KEY (space_id, granularity, period),
    CONSTRAINT consolidation_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON DELETE CASCADE,
    CONSTRAINT consolidation_granularity_check CHECK (granularity = ANY (ARRAY['weekly'::text, 'monthly'::text, 'yearly'::text])),
    CONSTRAINT consolidation_period_check CHECK (char_length(period) >= 4 AND char_length(period) <= 10)
);
COMMENT ON TABLE consolidation IS 'Periods of the journal that are being consolidated now. Because of the key, only one server has the claim of a period. After a crash, another server can claim the period as soon as the claim has ended by itself.';
COMMENT ON COLUMN consolidation.space_id IS 'Space of the journal.';
COMMENT ON COLUMN consolidation.granularity IS 'Granularity of the new entry: weekly, monthly or yearly.';
COMMENT ON COLUMN consolidation.period IS 'Period of the new entry: 2026-W19, 2026-05 or 2026.';
COMMENT ON COLUMN consolidation.claimant IS 'Random id of the claim. Only a session that knows the id can end the claim.';
COMMENT ON COLUMN consolidation.claimed_until IS 'When the claim ends by itself.';
ALTER TABLE consolidation ENABLE ROW LEVEL SECURITY;
ALTER TABLE consolidation FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON consolidation FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON consolidation FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE proposal (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    kind text NOT NULL,
    entity_name text NOT NULL,
    entity_key text NOT NULL,
    entity_type text,
    content text,
    content_hash uuid NOT NULL,
    given_hash uuid NOT NULL,
    relation_type text,
    to_name text,
    to_key text,
    to_type text,
    source text,
    confidence real,
    valid_until timestamptz,
    said_at timestamptz,
    replaces text,
    replaces_edges boolean DEFAULT false NOT NULL,
    model_id integer,
    vector halfvec,
    fts tsvector NOT NULL,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    decision text,
    decided_at timestamptz,
    decided_by integer,
    reason text,
    observation_id uuid,
    relation_id uuid,
    valid_from timestamptz,
    evidence text,
    finding text,
    one uuid,
    other uuid,
    llm text,
    evidence_start integer,
    repository text,
    anchors text[],
    CONSTRAINT proposal_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT proposal_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT proposal_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES actor(id),
    CONSTRAINT proposal_model_id_fkey FOREIGN KEY (model_id) REFERENCES embedding_model(id) ON DELETE SET NULL,
    CONSTRAINT proposal_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id),
    CONSTRAINT proposal_anchors_check CHECK (cardinality(anchors) >= 1 AND cardinality(anchors) <= 4),
    CONSTRAINT proposal_check CHECK ((kind <> 'relation'::text) = (content IS NOT NULL)),
    CONSTRAINT proposal_check1 CHECK ((kind = 'relation'::text) = (relation_type IS NOT NULL AND to_name IS NOT NULL AND to_key IS NOT NULL)),
    CONSTRAINT proposal_check2 CHECK ((decision IS NULL) = (decided_at IS NULL)),
    CONSTRAINT proposal_confidence_check CHECK (confidence >= 0::double precision AND confidence <= 1::double precision),
    CONSTRAINT proposal_content_check CHECK (char_length(content) >= 1 AND char_length(content) <= 2000),
    CONSTRAINT proposal_decision_check CHECK (decision = ANY (ARRAY['accepted'::text, 'rejected'::text, 'withdrawn'::text])),
    CONSTRAINT proposal_entity_name_check CHECK (char_length(entity_name) >= 1 AND char_length(entity_name) <= 200),
    CONSTRAINT proposal_evidence_check CHECK (char_length(evidence) >= 1 AND char_length(evidence) <= 2000),
    CONSTRAINT proposal_evidence_start_check CHECK (evidence_start >= 0),
    CONSTRAINT proposal_finding_check CHECK (finding = ANY (ARRAY['name'::text, 'same'::text, 'disagreement'::text, 'double'::text, 'question'::text, 'expired'::text, 'relation'::text, 'stale'::text, 'anchor'::text, 'pin'::text])),
    CONSTRAINT proposal_found_check CHECK ((finding IS NULL) = (one IS NULL) AND ((kind = ANY (ARRAY['fact'::text, 'relation'::text])) OR finding IS NOT NULL)),
    CONSTRAINT proposal_kind_check CHECK (kind = ANY (ARRAY['fact'::text, 'relation'::text, 'merge'::text, 'end'::text, 'pin'::text])),
    CONSTRAINT proposal_llm_check CHECK (char_length(llm) >= 1 AND char_length(llm) <= 200),
    CONSTRAINT proposal_reason_check CHECK (char_length(reason) >= 1 AND char_length(reason) <= 500),
    CONSTRAINT proposal_relation_type_check CHECK (char_length(relation_type) >= 1 AND char_length(relation_type) <= 100),
    CONSTRAINT proposal_repository_check CHECK (char_length(repository) >= 1 AND char_length(repository) <= 300),
    CONSTRAINT proposal_said_at_check CHECK (isfinite(said_at)),
    CONSTRAINT proposal_source_check CHECK (source = ANY (ARRAY['conversation'::text, 'note'::text, 'document'::text, 'manual'::text])),
    CONSTRAINT proposal_to_name_check CHECK (char_length(to_name) >= 1 AND char_length(to_name) <= 200),
    CONSTRAINT proposal_valid_from_check CHECK (isfinite(valid_from)),
    CONSTRAINT proposal_valid_until_check CHECK (isfinite(valid_until))
);
COMMENT ON TABLE proposal IS 'A fact or a relation that waits for the decision of a reviewer, or was decided. Nothing that reads facts reads this table. Only its author and reviewers see a proposal.';
COMMENT ON COLUMN proposal.space_id IS 'Space to which the proposal belongs.';
COMMENT ON COLUMN proposal.id IS 'Id of the proposal, unique in its space.';
COMMENT ON COLUMN proposal.kind IS 'fact or relation: it is stored. merge: two entities become one. end: a fact ends. pin: a fact is pinned.';
COMMENT ON COLUMN proposal.entity_name IS 'Name of the entity that the fact is about, or that the relation starts at. The entity does not have to exist.';
COMMENT ON COLUMN proposal.entity_key IS 'name_key(entity_name).';
COMMENT ON COLUMN proposal.entity_type IS 'Type of the entity, as the author gave it. Null: not given.';
COMMENT ON COLUMN proposal.content IS 'Text of the fact, or of the fact that ends or is pinned, or that two entities are one. Null: the proposal is a relation.';
COMMENT ON COLUMN proposal.content_hash IS 'fact_hash() of the fact, or of the words of the relation.';
COMMENT ON COLUMN proposal.given_hash IS 'md5 of content_hash and of all other values that were given. The same proposal is stored once.';
COMMENT ON COLUMN proposal.relation_type IS 'Type of the relation, as the author gave it. Null: the proposal is a fact.';
COMMENT ON COLUMN proposal.to_name IS 'Name of the entity that the relation leads to.';
COMMENT ON COLUMN proposal.to_key IS 'name_key(to_name).';
COMMENT ON COLUMN proposal.to_type IS 'Type of the entity that the relation leads to. Null: not given.';
COMMENT ON COLUMN proposal.source IS 'Source of the fact. Null: not given.';
COMMENT ON COLUMN proposal.confidence IS 'Confidence of the author in the fact, from 0 to 1. Null: not given.';
COMMENT ON COLUMN proposal.valid_until IS 'The fact is not valid from this instant on. Null: not given.';
COMMENT ON COLUMN proposal.said_at IS 'When the fact was said. Null: not given.';
COMMENT ON COLUMN proposal.replaces IS 'Fact that the new fact replaces: an id, the start of an id, or the text. Null: it replaces no fact.';
COMMENT ON COLUMN proposal.replaces_edges IS 'True: the relation ends the other relations of its type that start at the same entity.';
COMMENT ON COLUMN proposal.model_id IS 'Embedding model of the vector.';
COMMENT ON COLUMN proposal.vector IS 'Vector of the fact or of the statement. Null: not computed.';
COMMENT ON COLUMN proposal.fts IS 'Words by which the author finds the proposal: search_document().';
COMMENT ON COLUMN proposal.author_id IS 'Actor who proposed.';
COMMENT ON COLUMN proposal.client IS 'Name and version of the MCP client. Null: it was proposed from SQL.';
COMMENT ON COLUMN proposal.tool IS 'Tool with which it was proposed. sql: from psql.';
COMMENT ON COLUMN proposal.request IS 'Id of the request, as in the log of the server. Null: it was proposed from SQL.';
COMMENT ON COLUMN proposal.created_at IS 'When it was proposed.';
COMMENT ON COLUMN proposal.decision IS 'accepted, rejected or withdrawn (an undo took back what the author proposed). Null: pending.';
COMMENT ON COLUMN proposal.decided_at IS 'When it was decided. Null: pending.';
COMMENT ON COLUMN proposal.decided_by IS 'Actor who accepted or rejected it.';
COMMENT ON COLUMN proposal.reason IS 'Why it was rejected, for its author. It counts only if the decision is rejected.';
COMMENT ON COLUMN proposal.observation_id IS 'The fact that it became, or that had the same text already. Null: not an accepted fact.';
COMMENT ON COLUMN proposal.relation_id IS 'The relation that it became, or that existed already. Null: not an accepted relation.';
COMMENT ON COLUMN proposal.valid_from IS 'Begin of the fact or relation. Null: not given.';
COMMENT ON COLUMN proposal.evidence IS 'Why it is proposed: the sentence of a text in which an LLM found it, or the reason of a finding or a pin. Null: somebody proposed it.';
COMMENT ON COLUMN proposal.finding IS 'What tidy_memory() found. name, same: two entities are one. disagreement, double, question, expired, stale, anchor: a fact should end. relation: a fact states it. pin: an agent proposed to pin it. Null: somebody proposed it.';
COMMENT ON COLUMN proposal.one IS 'The entity that stays, or the fact that ends, is pinned or states the relation. Null: no finding.';
COMMENT ON COLUMN proposal.other IS 'The entity that is merged, the fact that stays in place of the other one, or the entity that the relation leads to. Null: none.';
COMMENT ON COLUMN proposal.llm IS 'Provider and model of the LLM that found the proposal in a text. Null: somebody proposed it.';
COMMENT ON COLUMN proposal.evidence_start IS 'The place of the first character of the sentence in its text, from 0. Null: not known.';
COMMENT ON COLUMN proposal.repository IS 'Key of the repository of the session that proposed it. Null: of none.';
COMMENT ON COLUMN proposal.anchors IS 'Anchors of the proposed fact, as in observation. Null: none.';
CREATE INDEX proposal_author_idx ON proposal USING btree (space_id, author_id, created_at);
CREATE INDEX proposal_entity_idx ON proposal USING btree (space_id, entity_key);
CREATE UNIQUE INDEX proposal_finding_idx ON proposal USING btree (space_id, finding, LEAST(one, other), GREATEST(one, other)) WHERE finding IS NOT NULL;
CREATE INDEX proposal_observation_idx ON proposal USING btree (space_id, observation_id) WHERE observation_id IS NOT NULL;
CREATE INDEX proposal_one_idx ON proposal USING btree (space_id, one) WHERE one IS NOT NULL;
CREATE INDEX proposal_other_idx ON proposal USING btree (space_id, other) WHERE other IS NOT NULL;
CREATE INDEX proposal_pending_idx ON proposal USING btree (space_id, created_at, id) WHERE decision IS NULL;
CREATE INDEX proposal_relation_idx ON proposal USING btree (space_id, relation_id) WHERE relation_id IS NOT NULL;
CREATE UNIQUE INDEX proposal_text_idx ON proposal USING btree (space_id, author_id, kind, entity_key, given_hash) WHERE decision IS NULL;
CREATE INDEX proposal_to_idx ON proposal USING btree (space_id, to_key) WHERE to_key IS NOT NULL;
ALTER TABLE proposal ENABLE ROW LEVEL SECURITY;
ALTER TABLE proposal FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON proposal FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON proposal FOR SELECT TO public USING ((space_id = ANY (( SELECT session_reviews() AS session_reviews)::integer[])));

CREATE TABLE import_run (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    system text NOT NULL,
    author_id integer NOT NULL,
    started_at timestamptz DEFAULT now() NOT NULL,
    finished_at timestamptz,
    folder jsonb,
    CONSTRAINT import_run_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT import_run_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT import_run_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id),
    CONSTRAINT import_run_folder_check CHECK (folder ?& ARRAY['root'::text, 'prefix'::text, 'notes'::text]),
    CONSTRAINT import_run_system_check CHECK (system ~ '^[a-z0-9][a-z0-9-]{0,49}$'::text)
);
COMMENT ON TABLE import_run IS 'A run of `textrawl import` that brought items of another system into a space.';
COMMENT ON COLUMN import_run.space_id IS 'Space into which the items came.';
COMMENT ON COLUMN import_run.id IS 'Id of the run. The events of its writes have the request "import" with this id.';
COMMENT ON COLUMN import_run.system IS 'System that the items come from, such as chatgpt.';
COMMENT ON COLUMN import_run.author_id IS 'Actor who imported.';
COMMENT ON COLUMN import_run.started_at IS 'When the run began.';
COMMENT ON COLUMN import_run.finished_at IS 'When the run ended. Null: it was interrupted, and the next run of the same actor continues it.';
COMMENT ON COLUMN import_run.folder IS 'Folder whose notes the run stored. root: a hash of its absolute path at its last import. prefix: begins the ids of its notes, and is empty for the first folder. notes: hashes of the names and texts of at most 64 notes, and none if only single files were imported. Null: the ids of the system do not depend on a folder, or the run is older than this column.';
ALTER TABLE import_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE import_run FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON import_run FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON import_run FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE imported_item (
    space_id integer NOT NULL,
    system text NOT NULL,
    source_id text NOT NULL,
    run_id uuid NOT NULL,
    digest text NOT NULL,
    document_id uuid,
    entity_id uuid,
    observation_id uuid,
    relation_id uuid,
    stored_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT imported_item_pkey PRIMARY KEY (space_id, system, source_id),
    CONSTRAINT imported_item_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES document(space_id, id) ON DELETE CASCADE,
    CONSTRAINT imported_item_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT imported_item_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES observation(space_id, id) ON DELETE CASCADE,
    CONSTRAINT imported_item_space_id_relation_id_fkey FOREIGN KEY (space_id, relation_id) REFERENCES relation(space_id, id) ON DELETE CASCADE,
    CONSTRAINT imported_item_space_id_run_id_fkey FOREIGN KEY (space_id, run_id) REFERENCES import_run(space_id, id),
    CONSTRAINT imported_item_check CHECK (num_nonnulls(document_id, entity_id, observation_id, relation_id) = 1),
    CONSTRAINT imported_item_digest_check CHECK (digest ~ '^[0-9a-f]{64}$'::text),
    CONSTRAINT imported_item_source_id_check CHECK (char_length(source_id) >= 1 AND char_length(source_id) <= 500)
);
COMMENT ON TABLE imported_item IS 'What an item of another system became. A later import compares the digest, so it stores only items that are new or changed. The row is deleted with what the item became.';
COMMENT ON COLUMN imported_item.space_id IS 'Space of the item.';
COMMENT ON COLUMN imported_item.system IS 'System that the item comes from.';
COMMENT ON COLUMN imported_item.source_id IS 'Id of the item in its system.';
COMMENT ON COLUMN imported_item.run_id IS 'Run that last stored the item.';
COMMENT ON COLUMN imported_item.digest IS 'SHA-256 of the item as it was last stored, in hexadecimal.';
COMMENT ON COLUMN imported_item.document_id IS 'Document that the item became. Null: it became something else.';
COMMENT ON COLUMN imported_item.entity_id IS 'Entity that the item became. Null: it became something else.';
COMMENT ON COLUMN imported_item.observation_id IS 'Fact that the item became. Null: it became something else.';
COMMENT ON COLUMN imported_item.relation_id IS 'Relation that the item became. Null: it became something else.';
COMMENT ON COLUMN imported_item.stored_at IS 'When the item was last stored.';
CREATE INDEX imported_item_document_idx ON imported_item USING btree (space_id, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX imported_item_entity_idx ON imported_item USING btree (space_id, entity_id) WHERE entity_id IS NOT NULL;
CREATE INDEX imported_item_observation_idx ON imported_item USING btree (space_id, observation_id) WHERE observation_id IS NOT NULL;
CREATE INDEX imported_item_relation_idx ON imported_item USING btree (space_id, relation_id) WHERE relation_id IS NOT NULL;
CREATE INDEX imported_item_run_idx ON imported_item USING btree (space_id, run_id);
ALTER TABLE imported_item ENABLE ROW LEVEL SECURITY;
ALTER TABLE imported_item FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON imported_item FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON imported_item FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE own_entity (
    space_id integer NOT NULL,
    actor_id integer NOT NULL,
    entity_id uuid NOT NULL,
    CONSTRAINT own_entity_pkey PRIMARY KEY (space_id, actor_id),
    CONSTRAINT own_entity_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES actor(id) ON DELETE CASCADE,
    CONSTRAINT own_entity_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id)
);
COMMENT ON TABLE own_entity IS 'The entity that an actor is in a space. In questions of the actor, words such as I and my mean this entity.';
COMMENT ON COLUMN own_entity.space_id IS 'Space of the entity.';
COMMENT ON COLUMN own_entity.actor_id IS 'Actor whose entity it is.';
COMMENT ON COLUMN own_entity.entity_id IS 'Id of the entity when it was chosen. After a merge the alias with this id has its facts. It is not a key, because an undo can remove the entity and restore it.';
CREATE INDEX own_entity_actor_id_idx ON own_entity USING btree (actor_id);
CREATE INDEX own_entity_entity_id_idx ON own_entity USING btree (space_id, entity_id);
ALTER TABLE own_entity ENABLE ROW LEVEL SECURITY;
ALTER TABLE own_entity FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON own_entity FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON own_entity FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE webhook (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    url text NOT NULL,
    host text NOT NULL,
    events text[] NOT NULL,
    content boolean NOT NULL,
    secret bytea NOT NULL,
    actor_id integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    transaction xid8 NOT NULL,
    event_id bigint NOT NULL,
    claim uuid,
    session integer,
    claimed_until timestamptz,
    failures integer DEFAULT 0 NOT NULL,
    failing_since timestamptz,
    last_error text,
    next_try_at timestamptz DEFAULT now() NOT NULL,
    delivered_at timestamptz,
    paused_at timestamptz,
    CONSTRAINT webhook_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT webhook_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES actor(id),
    CONSTRAINT webhook_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id),
    CONSTRAINT webhook_events_check CHECK (events <@ ARRAY['stored'::text, 'proposed'::text, 'decided'::text, 'forgotten'::text, 'undone'::text] AND cardinality(events) > 0),
    CONSTRAINT webhook_secret_check CHECK (octet_length(secret) >= 24 AND octet_length(secret) <= 64),
    CONSTRAINT webhook_url_check CHECK (char_length(url) <= 2000)
) WITH (fillfactor=50);
COMMENT ON TABLE webhook IS 'Addresses to which servers post the events of a space. No login can read the secrets: functions give them only to administrators of the space.';
COMMENT ON COLUMN webhook.space_id IS 'Space whose events are posted.';
COMMENT ON COLUMN webhook.id IS 'Id of the webhook.';
COMMENT ON COLUMN webhook.url IS 'Address to which events are posted.';
COMMENT ON COLUMN webhook.host IS 'Host and port of the address. A server posts only to hosts in its TEXTRAWL_WEBHOOK_HOSTS.';
COMMENT ON COLUMN webhook.events IS 'Kinds of events that are posted: see webhook_kind().';
COMMENT ON COLUMN webhook.content IS 'True: names of entities and texts of facts and relations are posted too.';
COMMENT ON COLUMN webhook.secret IS 'Key of the signatures. A server needs it as it is, because receivers check an HMAC.';
COMMENT ON COLUMN webhook.actor_id IS 'Actor who added the webhook. Nothing is posted while this actor has no right to it. Null: the owner of the memory.';
COMMENT ON COLUMN webhook.created_at IS 'When the webhook was added. Earlier events are not posted.';
COMMENT ON COLUMN webhook.transaction IS 'Transaction of the last event that was delivered or passed over.';
COMMENT ON COLUMN webhook.event_id IS 'Number of this event.';
COMMENT ON COLUMN webhook.claim IS 'Claim of the server that delivers now. Null: no server delivers.';
COMMENT ON COLUMN webhook.session IS 'Process id of the database session that made the claim. The claim ends with the session.';
COMMENT ON COLUMN webhook.claimed_until IS 'When the claim ends if nobody renews it.';
COMMENT ON COLUMN webhook.failures IS 'Number of attempts that failed since the last delivery.';
COMMENT ON COLUMN webhook.failing_since IS 'When the first of these attempts failed.';
COMMENT ON COLUMN webhook.last_error IS 'Reason of the last attempt that failed. It contains no text of a receiver.';
COMMENT ON COLUMN webhook.next_try_at IS 'Earliest time of the next attempt.';
COMMENT ON COLUMN webhook.delivered_at IS 'When events were last delivered.';
COMMENT ON COLUMN webhook.paused_at IS 'When the webhook was paused because it failed for days, or because its receiver answered 410. Null: it is not paused.';
ALTER TABLE webhook ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON webhook FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);

CREATE TABLE item_namespace (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    labels text[] NOT NULL,
    appended bigint DEFAULT 0 NOT NULL,
    CONSTRAINT item_namespace_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT item_namespace_space_id_labels_key UNIQUE (space_id, labels),
    CONSTRAINT item_namespace_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id),
    CONSTRAINT item_namespace_appended_check CHECK (appended >= 0)
);
COMMENT ON TABLE item_namespace IS 'A namespace with items or with a log.';
COMMENT ON COLUMN item_namespace.space_id IS 'Space of the namespace.';
COMMENT ON COLUMN item_namespace.id IS 'Id of the namespace.';
COMMENT ON COLUMN item_namespace.labels IS 'Labels of the namespace, the outermost first, compared exactly.';
COMMENT ON COLUMN item_namespace.appended IS 'Position of the last entry that was appended to the log of the namespace.';
ALTER TABLE item_namespace ENABLE ROW LEVEL SECURITY;
ALTER TABLE item_namespace FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON item_namespace FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON item_namespace FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE item (
    space_id integer NOT NULL,
    document_id uuid NOT NULL,
    namespace_id uuid NOT NULL,
    key text,
    "position" bigint,
    present boolean DEFAULT false NOT NULL,
    created_at timestamptz,
    updated_at timestamptz,
    expires_at timestamptz,
    fields jsonb,
    fts tsvector,
    CONSTRAINT item_pkey PRIMARY KEY (space_id, document_id),
    CONSTRAINT item_space_id_namespace_id_key_key UNIQUE (space_id, namespace_id, key),
    CONSTRAINT item_space_id_namespace_id_position_key UNIQUE (space_id, namespace_id, "position"),
    CONSTRAINT item_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES document(space_id, id) ON DELETE CASCADE,
    CONSTRAINT item_space_id_namespace_id_fkey FOREIGN KEY (space_id, namespace_id) REFERENCES item_namespace(space_id, id),
    CONSTRAINT item_check CHECK (num_nonnulls(key, "position") = 1),
    CONSTRAINT item_check1 CHECK (NOT present OR num_nonnulls(created_at, updated_at) = 2),
    CONSTRAINT item_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT item_key_check CHECK (char_length(key) >= 1 AND char_length(key) <= 500),
    CONSTRAINT item_position_check CHECK ("position" > 0),
    CONSTRAINT item_updated_at_check CHECK (isfinite(updated_at))
);
COMMENT ON TABLE item IS 'The place of an item or of an entry of a log, and what is found by its present value. The values are in document_version.';
COMMENT ON COLUMN item.space_id IS 'Space of the item.';
COMMENT ON COLUMN item.document_id IS 'The document with the values.';
COMMENT ON COLUMN item.namespace_id IS 'Namespace of the item.';
COMMENT ON COLUMN item.key IS 'Key of the item in its namespace, compared exactly. Null: an entry of a log.';
COMMENT ON COLUMN item."position" IS 'Place of an entry of a log, in the order of appending. Null: an item.';
COMMENT ON COLUMN item.present IS 'False: the item is deleted, or an undo took back all its values.';
COMMENT ON COLUMN item.created_at IS 'When the item was first stored after it had not been there. Null: it was never present.';
COMMENT ON COLUMN item.updated_at IS 'When the present value was stored.';
COMMENT ON COLUMN item.expires_at IS 'From this instant on, nobody sees the item or its former values. Null: it does not expire.';
COMMENT ON COLUMN item.fields IS 'The present value and metadata for filters, with U+FFFD in place of U+0000. Null: an entry of a log.';
COMMENT ON COLUMN item.fts IS 'Words of the present value, with the space as ~s<space>. Null: search does not find the item.';
CREATE INDEX item_absent_idx ON item USING btree (space_id) WHERE NOT present;
CREATE INDEX item_expiry_idx ON item USING btree (space_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX item_fields_idx ON item USING gin (fields jsonb_path_ops) WITH (fastupdate=off);
CREATE INDEX item_fts_idx ON item USING gin (fts) WITH (fastupdate=off);
CREATE INDEX item_updated_idx ON item USING btree (space_id, updated_at DESC) WHERE present AND key IS NOT NULL;
ALTER TABLE item ENABLE ROW LEVEL SECURITY;
ALTER TABLE item FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON item FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON item FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE item_vector (
    space_id integer NOT NULL,
    document_id uuid NOT NULL,
    model_id integer NOT NULL,
    text_id uuid NOT NULL,
    vector halfvec,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT item_vector_pkey PRIMARY KEY (space_id, document_id, model_id),
    CONSTRAINT item_vector_space_id_text_id_model_id_key UNIQUE (space_id, text_id, model_id),
    CONSTRAINT item_vector_model_id_fkey FOREIGN KEY (model_id) REFERENCES embedding_model(id) ON DELETE CASCADE,
    CONSTRAINT item_vector_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES item(space_id, document_id) ON DELETE CASCADE
);
COMMENT ON TABLE item_vector IS 'Vectors of items for each embedding model. The index item_vector_N_idx covers the vectors of model N.';
COMMENT ON COLUMN item_vector.space_id IS 'Space of the item.';
COMMENT ON COLUMN item_vector.document_id IS 'The item.';
COMMENT ON COLUMN item_vector.model_id IS 'Model that makes the vector.';
COMMENT ON COLUMN item_vector.text_id IS 'Id of the text of which the vector is made. A changed item has another one, so a late vector of its former text is not stored.';
COMMENT ON COLUMN item_vector.vector IS 'Vector of the text of the item in half precision. Null: the item still needs it.';
COMMENT ON COLUMN item_vector.attempts IS 'Number of attempts to make the vector, including an attempt that runs now.';
COMMENT ON COLUMN item_vector.next_attempt IS 'When the next attempt is due.';
CREATE INDEX item_vector_due_idx ON item_vector USING btree (model_id, next_attempt) WHERE vector IS NULL;
ALTER TABLE item_vector ENABLE ROW LEVEL SECURITY;
ALTER TABLE item_vector FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON item_vector FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON item_vector FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE dismissal (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    kind text NOT NULL,
    one uuid NOT NULL,
    other uuid NOT NULL,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT dismissal_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT dismissal_space_id_kind_one_other_key UNIQUE (space_id, kind, one, other),
    CONSTRAINT dismissal_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT dismissal_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id),
    CONSTRAINT dismissal_check CHECK (one <= other),
    CONSTRAINT dismissal_check1 CHECK ((kind = 'stale'::text) = (one = other)),
    CONSTRAINT dismissal_kind_check CHECK (kind = ANY (ARRAY['same'::text, 'close'::text, 'stale'::text]))
);
COMMENT ON TABLE dismissal IS 'A candidate that somebody dismissed, so that lists and counts leave it out.';
COMMENT ON COLUMN dismissal.space_id IS 'Space of the candidate.';
COMMENT ON COLUMN dismissal.id IS 'Id of the row, which the trail names.';
COMMENT ON COLUMN dismissal.kind IS 'same: two entities are not the same. close: two facts do not contradict or repeat each other. stale: a fact is still true.';
COMMENT ON COLUMN dismissal.one IS 'Id of the entity or the fact with the smaller id. It is not a key, because an undo can remove the entity or the fact and restore it.';
COMMENT ON COLUMN dismissal.other IS 'Id of the other entity or fact; for stale the same id.';
COMMENT ON COLUMN dismissal.author_id IS 'Actor who dismissed the candidate.';
COMMENT ON COLUMN dismissal.client IS 'Name and version of the client. Null: from SQL.';
COMMENT ON COLUMN dismissal.tool IS 'Tool that dismissed the candidate. sql: from psql.';
COMMENT ON COLUMN dismissal.request IS 'Id of the request. Null: from SQL.';
COMMENT ON COLUMN dismissal.created_at IS 'When the candidate was dismissed.';
CREATE INDEX dismissal_one_idx ON dismissal USING btree (space_id, one);
CREATE INDEX dismissal_other_idx ON dismissal USING btree (space_id, other);
ALTER TABLE dismissal ENABLE ROW LEVEL SECURITY;
ALTER TABLE dismissal FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON dismissal FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON dismissal FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE summary (
    space_id integer NOT NULL,
    entity_id uuid NOT NULL,
    facts_hash uuid,
    llm text,
    author_id integer,
    made_at timestamptz,
    due_at timestamptz,
    attempts integer DEFAULT 0 NOT NULL,
    CONSTRAINT summary_pkey PRIMARY KEY (space_id, entity_id),
    CONSTRAINT summary_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT summary_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES entity(space_id, id) ON DELETE CASCADE,
    CONSTRAINT summary_attempts_check CHECK (attempts >= 0),
    CONSTRAINT summary_llm_check CHECK (char_length(llm) >= 1 AND char_length(llm) <= 200)
);
COMMENT ON TABLE summary IS 'The summary of an entity with many facts, or the wish for one. Its text is in summary_clause.';
COMMENT ON COLUMN summary.space_id IS 'Space of the entity.';
COMMENT ON COLUMN summary.entity_id IS 'The entity.';
COMMENT ON COLUMN summary.facts_hash IS 'summarized_facts() of the facts that the LLM read. If it differs from that of the valid facts, the summary is stale. Null: no summary was made yet.';
COMMENT ON COLUMN summary.llm IS 'Provider and model of the LLM that wrote it. Null: no summary was made yet.';
COMMENT ON COLUMN summary.author_id IS 'Actor of the server that asked the LLM. Null: no summary was made yet.';
COMMENT ON COLUMN summary.made_at IS 'When it was made. Null: no summary was made yet.';
COMMENT ON COLUMN summary.due_at IS 'From this instant on, a server makes the summary anew. Null: it is not due.';
COMMENT ON COLUMN summary.attempts IS 'Number of attempts since it became due, including an attempt that runs now.';
CREATE INDEX summary_due_idx ON summary USING btree (space_id, due_at) WHERE due_at IS NOT NULL;
ALTER TABLE summary ENABLE ROW LEVEL SECURITY;
ALTER TABLE summary FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON summary FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON summary FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE summary_clause (
    space_id integer NOT NULL,
    entity_id uuid NOT NULL,
    place integer NOT NULL,
    content text NOT NULL,
    observation_id uuid NOT NULL,
    CONSTRAINT summary_clause_pkey PRIMARY KEY (space_id, entity_id, place),
    CONSTRAINT summary_clause_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES summary(space_id, entity_id) ON DELETE CASCADE,
    CONSTRAINT summary_clause_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES observation(space_id, id) ON DELETE CASCADE,
    CONSTRAINT summary_clause_content_check CHECK (char_length(content) >= 1 AND char_length(content) <= 500),
    CONSTRAINT summary_clause_place_check CHECK (place > 0)
);
COMMENT ON TABLE summary_clause IS 'A clause of a summary with the fact that it quotes. It is deleted with the fact, and hidden while the fact is not valid.';
COMMENT ON COLUMN summary_clause.space_id IS 'Space of the entity.';
COMMENT ON COLUMN summary_clause.entity_id IS 'The entity.';
COMMENT ON COLUMN summary_clause.place IS 'Place of the clause in the summary, from 1.';
COMMENT ON COLUMN summary_clause.content IS 'Text of the clause, 1 to 500 characters.';
COMMENT ON COLUMN summary_clause.observation_id IS 'The fact that says it.';
CREATE INDEX summary_clause_observation_idx ON summary_clause USING btree (space_id, observation_id);
ALTER TABLE summary_clause ENABLE ROW LEVEL SECURITY;
ALTER TABLE summary_clause FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON summary_clause FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON summary_clause FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE receipt_secret (
    singleton boolean DEFAULT true NOT NULL,
    secret bytea DEFAULT sha256((uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))) NOT NULL,
    CONSTRAINT receipt_secret_pkey PRIMARY KEY (singleton),
    CONSTRAINT receipt_secret_singleton_check CHECK (singleton)
);
COMMENT ON TABLE receipt_secret IS 'The secret of this memory for receipts of erasures. No login can read it: receipt_key() makes the key of a space from it.';
COMMENT ON COLUMN receipt_secret.singleton IS 'Always true: the table has one row.';
COMMENT ON COLUMN receipt_secret.secret IS 'Random bytes that never change. A backup contains them.';

CREATE TABLE erasure (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    actor_id integer,
    receipt jsonb NOT NULL,
    CONSTRAINT erasure_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT erasure_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES actor(id) ON DELETE SET NULL,
    CONSTRAINT erasure_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id)
);
COMMENT ON TABLE erasure IS 'Erasures of a person from a space, with their receipts.';
COMMENT ON COLUMN erasure.space_id IS 'Space from which the person was erased.';
COMMENT ON COLUMN erasure.id IS 'Id of the erasure.';
COMMENT ON COLUMN erasure.at IS 'Begin of the transaction that erased the person in this memory. Only this transaction can redact events of the trail.';
COMMENT ON COLUMN erasure.actor_id IS 'Actor who erased the person. Null: the actor is not known in this memory.';
COMMENT ON COLUMN erasure.receipt IS 'The signed receipt: ids and counts of the rows, and keyed hashes of the names. It contains no content.';
ALTER TABLE erasure ENABLE ROW LEVEL SECURITY;
ALTER TABLE erasure FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON erasure FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON erasure FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE graph_key (
    space_id integer NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT graph_key_pkey PRIMARY KEY (space_id),
    CONSTRAINT graph_key_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id),
    CONSTRAINT graph_key_created_at_check CHECK (isfinite(created_at))
);
COMMENT ON TABLE graph_key IS 'The keys of sensitive graphs. The keys themselves are in files of their owners, never in the database.';
COMMENT ON COLUMN graph_key.space_id IS 'The graph.';
COMMENT ON COLUMN graph_key.id IS 'Id of the key, which is derived from the key. It tells keys apart, and reveals nothing.';
COMMENT ON COLUMN graph_key.created_at IS 'When the graph got the key.';
ALTER TABLE graph_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE graph_key FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON graph_key FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON graph_key FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE encrypted_document (
    space_id integer NOT NULL,
    id uuid NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    digest bytea NOT NULL,
    head bytea NOT NULL,
    content bytea NOT NULL,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    stored_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT encrypted_document_pkey PRIMARY KEY (space_id, id),
    CONSTRAINT encrypted_document_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id),
    CONSTRAINT encrypted_document_content_check CHECK (octet_length(content) >= 29 AND octet_length(content) <= 60000000),
    CONSTRAINT encrypted_document_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT encrypted_document_digest_check CHECK (octet_length(digest) = 32),
    CONSTRAINT encrypted_document_head_check CHECK (octet_length(head) >= 29 AND octet_length(head) <= 100000),
    CONSTRAINT encrypted_document_stored_at_check CHECK (isfinite(stored_at)),
    CONSTRAINT encrypted_document_version_check CHECK (version > 0)
);
COMMENT ON TABLE encrypted_document IS 'Documents of sensitive graphs, encrypted with AES-256-GCM by the command that stored them.';
COMMENT ON COLUMN encrypted_document.space_id IS 'The graph.';
COMMENT ON COLUMN encrypted_document.id IS 'Id of the document: a keyed digest of its path.';
COMMENT ON COLUMN encrypted_document.version IS 'Number of the text, from 1. Former texts are not kept.';
COMMENT ON COLUMN encrypted_document.digest IS 'Keyed digest of the file (HMAC-SHA-256), which recognizes the same content.';
COMMENT ON COLUMN encrypted_document.head IS 'Nonce and ciphertext of the path, label, kind, hash, time of change and sizes.';
COMMENT ON COLUMN encrypted_document.content IS 'Nonce and ciphertext of the text with the places of its chunks.';
COMMENT ON COLUMN encrypted_document.created_at IS 'When the document was first stored.';
COMMENT ON COLUMN encrypted_document.stored_at IS 'When this version was stored.';
CREATE INDEX encrypted_document_digest_idx ON encrypted_document USING btree (space_id, digest);
ALTER TABLE encrypted_document ENABLE ROW LEVEL SECURITY;
ALTER TABLE encrypted_document FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON encrypted_document FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON encrypted_document FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));

CREATE TABLE ranking_weight (
    model text DEFAULT '*'::text NOT NULL,
    feature text NOT NULL,
    weight double precision NOT NULL,
    CONSTRAINT ranking_weight_pkey PRIMARY KEY (model, feature),
    CONSTRAINT ranking_weight_feature_check CHECK (feature = ANY (ARRAY['base'::text, 'meaning'::text, 'words'::text, 'about'::text, 'beside'::text, 'better'::text, 'period'::text, 'unheard'::text])),
    CONSTRAINT ranking_weight_weight_check CHECK (weight >= '-100'::integer::double precision AND weight <= 100::double precision)
);
COMMENT ON TABLE ranking_weight IS 'What each kind of evidence adds to the logarithm of the odds of a fact. python -m benchmarks.fit finds these numbers.';
COMMENT ON COLUMN ranking_weight.model IS 'Name of the embedding model for which the weight counts; none: searches without vectors; *: all models without a row of their own.';
COMMENT ON COLUMN ranking_weight.feature IS 'Kind of evidence: base (every fact has it), meaning (likeness of the vectors), words (share of the words of the question), about (-1: the question names another entity), beside (words that only the fact before or after has), better (by how much a fact nearby is better), period (said or true at the time of the question), unheard (no fact has any word of the question).';
COMMENT ON COLUMN ranking_weight.weight IS 'Added for each unit of this evidence.';

CREATE TABLE pin (
    space_id integer NOT NULL,
    fact_id uuid NOT NULL,
    author_id integer NOT NULL,
    pinned_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pin_pkey PRIMARY KEY (space_id, fact_id),
    CONSTRAINT pin_author_id_fkey FOREIGN KEY (author_id) REFERENCES actor(id),
    CONSTRAINT pin_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id)
);
COMMENT ON TABLE pin IS 'A fact that is in every digest of its space, first and whole.';
COMMENT ON COLUMN pin.space_id IS 'Space of the fact.';
COMMENT ON COLUMN pin.fact_id IS 'Fact that was pinned. It is not a key, because an undo can remove the fact and restore it. Of a fact that was replaced, its successor counts.';
COMMENT ON COLUMN pin.author_id IS 'Actor who pinned the fact.';
COMMENT ON COLUMN pin.pinned_at IS 'When the fact was pinned.';
ALTER TABLE pin ENABLE ROW LEVEL SECURITY;
ALTER TABLE pin FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON pin FOR ALL TO textrawl_owner USING (true) WITH CHECK (true);
CREATE POLICY readers ON pin FOR SELECT TO public USING ((space_id = ANY (( SELECT session_spaces() AS session_spaces)::integer[])));
