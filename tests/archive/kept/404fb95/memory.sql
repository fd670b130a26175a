
-- Dumped from database version 18.4
-- Dumped by pg_dump version 18.4

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = on;

CREATE SCHEMA textrawl;


CREATE TYPE textrawl.new_fact AS (
	id uuid,
	entity_id uuid,
	entity_name text,
	entity_type text,
	content text,
	content_hash uuid,
	source text,
	confidence real,
	valid_until timestamp with time zone,
	said_at timestamp with time zone,
	replaces text,
	vector public.halfvec,
	alias uuid
);


CREATE TYPE textrawl.origin AS (
	space_id integer,
	author_id integer,
	client text,
	tool text,
	request text,
	proposed boolean
);


CREATE FUNCTION textrawl.bury_document() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'textrawl', 'public', 'pg_temp'
    AS $$
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


CREATE FUNCTION textrawl.date_fact() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'textrawl', 'public', 'pg_temp'
    AS $$
begin
    new.said_at := new.created_at;
    return new;
end
$$;


CREATE FUNCTION textrawl.keep_events() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'textrawl', 'public', 'pg_temp'
    AS $$
begin
    -- settle_events() sets the transaction to 0 if the event was restored from another cluster. The transaction numbers
    -- of that cluster have no meaning here.
    if tg_op = 'UPDATE' and to_jsonb(new) = to_jsonb(old) || '{"transaction": "0"}' then
        return new;
    end if;
    raise exception 'the trail is append-only' using errcode = 'object_not_in_prerequisite_state';
end
$$;


CREATE FUNCTION textrawl.number_fact() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'textrawl', 'public', 'pg_temp'
    AS $$
begin
    -- There is no lock here, so two concurrent writers can take the same number. Their facts then count as neighbours.
    new.ordinal := coalesce((select max(o.ordinal) from observation o where o.space_id = new.space_id), 0) + 1;
    return new;
end
$$;


CREATE FUNCTION textrawl.session_reviews() RETURNS integer[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'textrawl', 'public', 'pg_temp'
    AS $$begin return reviewed_spaces(); end$$;


CREATE FUNCTION textrawl.session_spaces() RETURNS integer[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'textrawl', 'public', 'pg_temp'
    AS $$begin return readable_spaces(graphs => true); end$$;


CREATE FUNCTION textrawl.state_relations() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'textrawl', 'public', 'pg_temp'
    AS $$
begin
    with stated as (
        insert into observation (space_id, id, entity_id, entity_type, content, content_hash, source, valid_from, valid_until,
                                 relation_id, author_id, client, tool, request, created_at, fts)
        select r.space_id, r.id, r.from_entity, source.entity_type, text.content, fact_hash(text.content), 'conversation',
            r.valid_from, r.valid_until, r.id, r.author_id, r.client, r.tool, r.request, r.created_at,
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
$$;


CREATE FUNCTION textrawl.update_statements() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'textrawl', 'public', 'pg_temp'
    AS $$
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


SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE textrawl.actor (
    id integer NOT NULL,
    name text NOT NULL,
    role_name text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT actor_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200)))
);


ALTER TABLE textrawl.actor ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME textrawl.actor_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


CREATE TABLE textrawl.chunk (
    space_id integer NOT NULL,
    observation_id uuid NOT NULL,
    tokens integer NOT NULL,
    line integer NOT NULL,
    CONSTRAINT chunk_line_check CHECK ((line > 0)),
    CONSTRAINT chunk_tokens_check CHECK ((tokens >= 0))
);

ALTER TABLE ONLY textrawl.chunk FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.code (
    singleton boolean DEFAULT true NOT NULL,
    fingerprint text NOT NULL,
    CONSTRAINT code_singleton_check CHECK (singleton)
);


CREATE TABLE textrawl.consolidation (
    space_id integer NOT NULL,
    granularity text NOT NULL,
    period text NOT NULL,
    claimant uuid NOT NULL,
    claimed_until timestamp with time zone NOT NULL,
    CONSTRAINT consolidation_granularity_check CHECK ((granularity = ANY (ARRAY['weekly'::text, 'monthly'::text, 'yearly'::text]))),
    CONSTRAINT consolidation_period_check CHECK (((char_length(period) >= 4) AND (char_length(period) <= 10)))
);

ALTER TABLE ONLY textrawl.consolidation FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.correction (
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
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    apply_until timestamp with time zone NOT NULL,
    applied_at timestamp with time zone,
    event_id bigint,
    CONSTRAINT correction_check CHECK (((applied_at IS NULL) = (event_id IS NULL))),
    CONSTRAINT correction_mode_check CHECK ((mode = ANY (ARRAY['llm'::text, 'deterministic'::text]))),
    CONSTRAINT correction_part_check CHECK ((part > 0)),
    CONSTRAINT correction_proposal_check CHECK (((char_length(proposal) >= 1) AND (char_length(proposal) <= 10000))),
    CONSTRAINT correction_proposed_text_check CHECK (((char_length(proposed_text) >= 1) AND (char_length(proposed_text) <= 8000))),
    CONSTRAINT correction_tokens_check CHECK ((tokens >= 0))
);

ALTER TABLE ONLY textrawl.correction FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.decay_policy (
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
    CONSTRAINT decay_policy_alpha_check CHECK (((alpha >= (0.01)::double precision) AND (alpha <= (100)::double precision))),
    CONSTRAINT decay_policy_beta_check CHECK (((beta >= (0)::double precision) AND (beta <= (10)::double precision))),
    CONSTRAINT decay_policy_check CHECK ((review_from < review_until)),
    CONSTRAINT decay_policy_cross_domain_boost_check CHECK (((cross_domain_boost >= (0)::double precision) AND (cross_domain_boost <= (1)::double precision))),
    CONSTRAINT decay_policy_forget_threshold_check CHECK (((forget_threshold >= (0)::double precision) AND (forget_threshold <= (1)::double precision))),
    CONSTRAINT decay_policy_half_life_days_check CHECK (((half_life_days >= (0.000001)::double precision) AND (half_life_days <= (36500)::double precision))),
    CONSTRAINT decay_policy_lambda_check CHECK (((lambda >= (0.000000000001)::double precision) AND (lambda <= (1)::double precision))),
    CONSTRAINT decay_policy_lambda_fast_check CHECK (((lambda_fast >= (0.000000000001)::double precision) AND (lambda_fast <= (1)::double precision))),
    CONSTRAINT decay_policy_lambda_slow_check CHECK (((lambda_slow >= (0.000000000001)::double precision) AND (lambda_slow <= (1)::double precision))),
    CONSTRAINT decay_policy_model_check CHECK ((model = ANY (ARRAY['power_law'::text, 'exponential'::text, 'two_component'::text]))),
    CONSTRAINT decay_policy_promote_days_check CHECK (((promote_days >= (0)::double precision) AND (promote_days <= (36500)::double precision))),
    CONSTRAINT decay_policy_promote_threshold_check CHECK (((promote_threshold >= (0)::double precision) AND (promote_threshold <= (1)::double precision))),
    CONSTRAINT decay_policy_promote_use_count_check CHECK ((promote_use_count >= 0)),
    CONSTRAINT decay_policy_review_from_check CHECK (((review_from >= (0)::double precision) AND (review_from <= (1)::double precision))),
    CONSTRAINT decay_policy_review_share_check CHECK (((review_share >= (0)::double precision) AND (review_share <= (1)::double precision))),
    CONSTRAINT decay_policy_review_until_check CHECK (((review_until >= (0)::double precision) AND (review_until <= (1)::double precision))),
    CONSTRAINT decay_policy_weight_fast_check CHECK (((weight_fast >= (0)::double precision) AND (weight_fast <= (1)::double precision)))
);

ALTER TABLE ONLY textrawl.decay_policy FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.document (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    kind text NOT NULL,
    path text NOT NULL,
    entity_id uuid,
    version bigint,
    changed bigint NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT document_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT document_kind_check CHECK ((kind = ANY (ARRAY['identity'::text, 'journal'::text, 'source'::text]))),
    CONSTRAINT document_path_check CHECK (((char_length(path) >= 1) AND (char_length(path) <= 300)))
);

ALTER TABLE ONLY textrawl.document FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.document_clock (
    space_id integer NOT NULL,
    version bigint NOT NULL
);

ALTER TABLE ONLY textrawl.document_clock FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.document_rebuild (
    space_id integer NOT NULL,
    former_languages text[] NOT NULL,
    reflections boolean DEFAULT false NOT NULL,
    reached uuid,
    started_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY textrawl.document_rebuild FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.document_tombstone (
    space_id integer NOT NULL,
    kind text NOT NULL,
    path text NOT NULL,
    changed bigint NOT NULL,
    deleted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY textrawl.document_tombstone FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.document_version (
    space_id integer NOT NULL,
    document_id uuid NOT NULL,
    version bigint NOT NULL,
    number integer NOT NULL,
    content text,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    lost boolean DEFAULT false NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    modified_by text,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT document_version_content_check CHECK ((char_length(content) <= 5000000)),
    CONSTRAINT document_version_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT document_version_modified_at_check CHECK (isfinite(modified_at)),
    CONSTRAINT document_version_modified_by_check CHECK (((char_length(modified_by) >= 1) AND (char_length(modified_by) <= 200))),
    CONSTRAINT document_version_number_check CHECK ((number > 0))
);

ALTER TABLE ONLY textrawl.document_version FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.embedding_1 (
    space_id integer NOT NULL,
    observation_id uuid NOT NULL,
    vector public.halfvec(3) NOT NULL
);

ALTER TABLE ONLY textrawl.embedding_1 FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.embedding_model (
    id integer NOT NULL,
    name text NOT NULL,
    dimensions integer NOT NULL,
    cosine_floor real DEFAULT 0 NOT NULL,
    cosine_ceiling real DEFAULT 1 NOT NULL,
    trust real DEFAULT 0.8 NOT NULL,
    calibrated_at timestamp with time zone,
    status text DEFAULT 'active'::text NOT NULL,
    status_since timestamp with time zone DEFAULT now() NOT NULL,
    queued boolean DEFAULT true NOT NULL,
    queued_space integer,
    queued_observation uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT embedding_model_check CHECK ((cosine_ceiling > cosine_floor)),
    CONSTRAINT embedding_model_dimensions_check CHECK (((dimensions >= 1) AND (dimensions <= 4000))),
    CONSTRAINT embedding_model_status_check CHECK ((status = ANY (ARRAY['building'::text, 'active'::text, 'previous'::text]))),
    CONSTRAINT embedding_model_trust_check CHECK (((trust >= (0)::double precision) AND (trust <= (1)::double precision)))
);


ALTER TABLE textrawl.embedding_model ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME textrawl.embedding_model_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


CREATE TABLE textrawl.embedding_pending (
    space_id integer NOT NULL,
    observation_id uuid NOT NULL,
    model_id integer NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY textrawl.embedding_pending FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.entity (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    entity_type text NOT NULL,
    type_guessed boolean DEFAULT false NOT NULL,
    description text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    fts tsvector NOT NULL,
    CONSTRAINT entity_entity_type_check CHECK ((entity_type = ANY (ARRAY['person'::text, 'concept'::text, 'project'::text, 'preference'::text, 'fact'::text, 'location'::text, 'organization'::text]))),
    CONSTRAINT entity_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200)))
)
WITH (fillfactor='85');

ALTER TABLE ONLY textrawl.entity FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.entity_alias (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    entity_id uuid NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    removed_at timestamp with time zone,
    CONSTRAINT entity_alias_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200)))
);

ALTER TABLE ONLY textrawl.entity_alias FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.entity_use (
    space_id integer NOT NULL,
    entity_id uuid NOT NULL,
    day date NOT NULL,
    count integer NOT NULL,
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT entity_use_count_check CHECK ((count > 0)),
    CONSTRAINT entity_use_last_at_check CHECK (isfinite(last_at))
);

ALTER TABLE ONLY textrawl.entity_use FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.event (
    space_id integer NOT NULL,
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    actor_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    action text NOT NULL,
    entity_id uuid,
    observation_id uuid,
    relation_id uuid,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    transaction xid8 DEFAULT pg_current_xact_id() NOT NULL
);

ALTER TABLE ONLY textrawl.event FORCE ROW LEVEL SECURITY;


ALTER TABLE textrawl.event ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME textrawl.event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


CREATE TABLE textrawl.extraction_pending (
    space_id integer NOT NULL,
    document_id uuid NOT NULL,
    version bigint NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT extraction_pending_attempts_check CHECK ((attempts >= 0))
);

ALTER TABLE ONLY textrawl.extraction_pending FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.extraction_total (
    space_id integer NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    successes bigint DEFAULT 0 NOT NULL,
    nodes_created bigint DEFAULT 0 NOT NULL,
    edges_created bigint DEFAULT 0 NOT NULL,
    last_attempt timestamp with time zone,
    last_success timestamp with time zone,
    last_error text,
    CONSTRAINT extraction_total_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT extraction_total_edges_created_check CHECK ((edges_created >= 0)),
    CONSTRAINT extraction_total_nodes_created_check CHECK ((nodes_created >= 0)),
    CONSTRAINT extraction_total_successes_check CHECK ((successes >= 0))
);

ALTER TABLE ONLY textrawl.extraction_total FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.graph_change (
    space_id integer NOT NULL,
    event_id bigint NOT NULL,
    entity_id uuid,
    relation_id uuid,
    before jsonb NOT NULL,
    after jsonb NOT NULL,
    CONSTRAINT graph_change_check CHECK ((num_nonnulls(entity_id, relation_id) = 1))
);

ALTER TABLE ONLY textrawl.graph_change FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.graph_edge (
    space_id integer NOT NULL,
    relation_id uuid NOT NULL,
    evidence text,
    properties jsonb,
    instance text,
    occurred_at timestamp with time zone,
    last_confirmed_at timestamp with time zone,
    version integer DEFAULT 1 NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT graph_edge_deleted_at_check CHECK (isfinite(deleted_at)),
    CONSTRAINT graph_edge_evidence_check CHECK (((char_length(evidence) >= 1) AND (char_length(evidence) <= 2000))),
    CONSTRAINT graph_edge_instance_check CHECK (((char_length(instance) >= 1) AND (char_length(instance) <= 200))),
    CONSTRAINT graph_edge_last_confirmed_at_check CHECK (isfinite(last_confirmed_at)),
    CONSTRAINT graph_edge_occurred_at_check CHECK (isfinite(occurred_at)),
    CONSTRAINT graph_edge_properties_check CHECK ((jsonb_typeof(properties) = 'object'::text)),
    CONSTRAINT graph_edge_version_check CHECK ((version > 0))
)
WITH (fillfactor='85');

ALTER TABLE ONLY textrawl.graph_edge FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.graph_node (
    space_id integer NOT NULL,
    entity_id uuid NOT NULL,
    label text,
    label_key text,
    description_id uuid,
    confidence real,
    properties jsonb,
    instance text,
    memory text,
    first_learned_at timestamp with time zone,
    last_confirmed_at timestamp with time zone,
    version integer DEFAULT 1 NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT graph_node_check CHECK (((label_key IS NULL) = (label IS NULL))),
    CONSTRAINT graph_node_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT graph_node_deleted_at_check CHECK (isfinite(deleted_at)),
    CONSTRAINT graph_node_first_learned_at_check CHECK (isfinite(first_learned_at)),
    CONSTRAINT graph_node_instance_check CHECK (((char_length(instance) >= 1) AND (char_length(instance) <= 200))),
    CONSTRAINT graph_node_label_check CHECK (((char_length(label) >= 1) AND (char_length(label) <= 200))),
    CONSTRAINT graph_node_last_confirmed_at_check CHECK (isfinite(last_confirmed_at)),
    CONSTRAINT graph_node_memory_check CHECK (((char_length(memory) >= 1) AND (char_length(memory) <= 200))),
    CONSTRAINT graph_node_properties_check CHECK ((jsonb_typeof(properties) = 'object'::text)),
    CONSTRAINT graph_node_version_check CHECK ((version > 0))
)
WITH (fillfactor='85');

ALTER TABLE ONLY textrawl.graph_node FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.identity_snapshot (
    space_id integer NOT NULL,
    id text NOT NULL,
    document_id uuid NOT NULL,
    version bigint NOT NULL,
    reason text NOT NULL,
    source text,
    pinned boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT identity_snapshot_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT identity_snapshot_reason_check CHECK ((reason = ANY (ARRAY['manual'::text, 'scheduled'::text, 'pre-replace'::text]))),
    CONSTRAINT identity_snapshot_source_check CHECK (((char_length(source) >= 1) AND (char_length(source) <= 200)))
);

ALTER TABLE ONLY textrawl.identity_snapshot FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.instance (
    space_id integer NOT NULL,
    id text NOT NULL,
    instance_type text DEFAULT 'other'::text NOT NULL,
    name text,
    version text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    last_sync timestamp with time zone,
    CONSTRAINT instance_id_check CHECK ((id ~ '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$'::text)),
    CONSTRAINT instance_instance_type_check CHECK ((instance_type = ANY (ARRAY['psycheros'::text, 'sby'::text, 'sillytavern'::text, 'openwebui'::text, 'claude-code'::text, 'other'::text]))),
    CONSTRAINT instance_last_sync_check CHECK (isfinite(last_sync)),
    CONSTRAINT instance_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
    CONSTRAINT instance_version_check CHECK (((char_length(version) >= 1) AND (char_length(version) <= 100)))
);

ALTER TABLE ONLY textrawl.instance FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.joint_use (
    space_id integer NOT NULL,
    one uuid NOT NULL,
    other uuid NOT NULL,
    count integer NOT NULL,
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT joint_use_check CHECK ((one < other)),
    CONSTRAINT joint_use_count_check CHECK ((count > 0)),
    CONSTRAINT joint_use_last_at_check CHECK (isfinite(last_at))
);

ALTER TABLE ONLY textrawl.joint_use FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.journal_entry (
    space_id integer NOT NULL,
    document_id uuid NOT NULL,
    granularity text NOT NULL,
    date text NOT NULL,
    period daterange NOT NULL,
    instance_id text NOT NULL,
    slug text,
    CONSTRAINT journal_entry_granularity_check CHECK ((granularity = ANY (ARRAY['daily'::text, 'weekly'::text, 'monthly'::text, 'yearly'::text, 'significant'::text]))),
    CONSTRAINT journal_entry_slug_check CHECK (((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text) AND (char_length(slug) <= 100)))
);

ALTER TABLE ONLY textrawl.journal_entry FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.lexeme (
    space_id integer NOT NULL,
    word text NOT NULL,
    frequency integer NOT NULL,
    CONSTRAINT lexeme_frequency_check CHECK ((frequency > 0))
);

ALTER TABLE ONLY textrawl.lexeme FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.llm_use (
    space_id integer NOT NULL,
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor_id integer,
    purpose text NOT NULL,
    model text NOT NULL,
    requests integer NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    milliseconds real NOT NULL,
    error text,
    CONSTRAINT llm_use_at_check CHECK (isfinite(at)),
    CONSTRAINT llm_use_error_check CHECK ((error ~ '^[A-Z_]{1,40}$'::text)),
    CONSTRAINT llm_use_milliseconds_check CHECK ((milliseconds >= (0)::double precision)),
    CONSTRAINT llm_use_model_check CHECK (((char_length(model) >= 1) AND (char_length(model) <= 200))),
    CONSTRAINT llm_use_purpose_check CHECK ((purpose ~ '^[a-z_]{1,40}$'::text)),
    CONSTRAINT llm_use_requests_check CHECK ((requests >= 0)),
    CONSTRAINT llm_use_tokens_in_check CHECK ((tokens_in >= 0)),
    CONSTRAINT llm_use_tokens_out_check CHECK ((tokens_out >= 0))
);

ALTER TABLE ONLY textrawl.llm_use FORCE ROW LEVEL SECURITY;


ALTER TABLE textrawl.llm_use ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME textrawl.llm_use_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


CREATE TABLE textrawl.memory_link (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    from_id uuid NOT NULL,
    to_id uuid NOT NULL,
    relation_type text NOT NULL,
    strength double precision DEFAULT 1 NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT memory_link_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT memory_link_relation_type_check CHECK ((relation_type = ANY (ARRAY['related'::text, 'causes'::text, 'supports'::text, 'contradicts'::text, 'has_decision'::text, 'consolidated_from'::text]))),
    CONSTRAINT memory_link_strength_check CHECK (((strength >= (0)::double precision) AND (strength <= (1)::double precision)))
);

ALTER TABLE ONLY textrawl.memory_link FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.merge (
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
    at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY textrawl.merge FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.merged (
    space_id integer NOT NULL,
    merge_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    twin uuid,
    valid_until timestamp with time zone,
    ended timestamp with time zone NOT NULL,
    CONSTRAINT merged_kind_check CHECK ((kind = ANY (ARRAY['fact'::text, 'relation'::text])))
);

ALTER TABLE ONLY textrawl.merged FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.migration (
    name text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


CREATE TABLE textrawl.observation (
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
    valid_from timestamp with time zone DEFAULT now() NOT NULL,
    valid_until timestamp with time zone,
    replaced_by uuid,
    relation_id uuid,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    said_at timestamp with time zone NOT NULL,
    ordinal bigint NOT NULL,
    fts tsvector NOT NULL,
    CONSTRAINT observation_check CHECK (((char_length(content) >= 1) AND (char_length(content) <=
CASE
    WHEN (whole IS NULL) THEN 2000
    ELSE 8000
END))),
    CONSTRAINT observation_check1 CHECK ((((whole IS NULL) = (part IS NULL)) AND (part > 0))),
    CONSTRAINT observation_check2 CHECK ((relation_id = id)),
    CONSTRAINT observation_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT observation_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT observation_said_at_check CHECK (isfinite(said_at)),
    CONSTRAINT observation_source_check CHECK ((source = ANY (ARRAY['conversation'::text, 'note'::text, 'document'::text, 'manual'::text]))),
    CONSTRAINT observation_valid_from_check CHECK (isfinite(valid_from)),
    CONSTRAINT observation_valid_until_check CHECK (isfinite(valid_until))
)
WITH (fillfactor='85');

ALTER TABLE ONLY textrawl.observation FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.proposal (
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
    valid_until timestamp with time zone,
    said_at timestamp with time zone,
    replaces text,
    replaces_edges boolean DEFAULT false NOT NULL,
    model_id integer,
    vector public.halfvec,
    fts tsvector NOT NULL,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    decision text,
    decided_at timestamp with time zone,
    decided_by integer,
    reason text,
    observation_id uuid,
    relation_id uuid,
    CONSTRAINT proposal_check CHECK (((kind = 'fact'::text) = (content IS NOT NULL))),
    CONSTRAINT proposal_check1 CHECK (((kind = 'relation'::text) = ((relation_type IS NOT NULL) AND (to_name IS NOT NULL) AND (to_key IS NOT NULL)))),
    CONSTRAINT proposal_check2 CHECK (((decision IS NULL) = (decided_at IS NULL))),
    CONSTRAINT proposal_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT proposal_content_check CHECK (((char_length(content) >= 1) AND (char_length(content) <= 2000))),
    CONSTRAINT proposal_decision_check CHECK ((decision = ANY (ARRAY['accepted'::text, 'rejected'::text, 'withdrawn'::text]))),
    CONSTRAINT proposal_entity_name_check CHECK (((char_length(entity_name) >= 1) AND (char_length(entity_name) <= 200))),
    CONSTRAINT proposal_kind_check CHECK ((kind = ANY (ARRAY['fact'::text, 'relation'::text]))),
    CONSTRAINT proposal_reason_check CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 500))),
    CONSTRAINT proposal_relation_type_check CHECK (((char_length(relation_type) >= 1) AND (char_length(relation_type) <= 100))),
    CONSTRAINT proposal_said_at_check CHECK (isfinite(said_at)),
    CONSTRAINT proposal_source_check CHECK ((source = ANY (ARRAY['conversation'::text, 'note'::text, 'document'::text, 'manual'::text]))),
    CONSTRAINT proposal_to_name_check CHECK (((char_length(to_name) >= 1) AND (char_length(to_name) <= 200))),
    CONSTRAINT proposal_valid_until_check CHECK (isfinite(valid_until))
);

ALTER TABLE ONLY textrawl.proposal FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.recall (
    space_id integer NOT NULL,
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
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
    CONSTRAINT recall_at_check CHECK (isfinite(at)),
    CONSTRAINT recall_budget_check CHECK ((budget > 0)),
    CONSTRAINT recall_dropped_check CHECK ((dropped >= 0)),
    CONSTRAINT recall_hits_check CHECK ((hits >= 0)),
    CONSTRAINT recall_items_check CHECK ((items >= 0)),
    CONSTRAINT recall_milliseconds_check CHECK ((milliseconds >= (0)::double precision)),
    CONSTRAINT recall_query_check CHECK ((char_length(query) <= 500)),
    CONSTRAINT recall_tokens_check CHECK ((tokens >= 0)),
    CONSTRAINT recall_verbose_tokens_check CHECK ((verbose_tokens >= 0))
);

ALTER TABLE ONLY textrawl.recall FORCE ROW LEVEL SECURITY;


ALTER TABLE textrawl.recall ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME textrawl.recall_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


CREATE TABLE textrawl.recalled (
    space_id integer NOT NULL,
    observation_id uuid NOT NULL,
    recalls bigint NOT NULL,
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT recalled_recalls_check CHECK ((recalls > 0))
)
WITH (fillfactor='80');

ALTER TABLE ONLY textrawl.recalled FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.reflection (
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
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    fts tsvector NOT NULL,
    model_id integer,
    vector public.halfvec,
    CONSTRAINT reflection_check CHECK (((entity_id IS NOT NULL) = (target_type = 'entity'::text))),
    CONSTRAINT reflection_check1 CHECK (((relation_id IS NOT NULL) = (target_type = 'relation'::text))),
    CONSTRAINT reflection_content_check CHECK (((char_length(content) >= 1) AND (char_length(content) <= 10000))),
    CONSTRAINT reflection_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT reflection_mood_check CHECK (((char_length(mood) >= 1) AND (char_length(mood) <= 100))),
    CONSTRAINT reflection_target_type_check CHECK ((target_type = ANY (ARRAY['entity'::text, 'session'::text, 'relation'::text, 'global'::text]))),
    CONSTRAINT reflection_voice_check CHECK (((char_length(voice) >= 1) AND (char_length(voice) <= 200)))
);

ALTER TABLE ONLY textrawl.reflection FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.relation (
    space_id integer NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    from_entity uuid NOT NULL,
    relation_type text NOT NULL,
    label text,
    to_entity uuid NOT NULL,
    strength real DEFAULT 1 NOT NULL,
    valid_from timestamp with time zone DEFAULT now() NOT NULL,
    valid_until timestamp with time zone,
    author_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT relation_label_check CHECK (((char_length(label) >= 1) AND (char_length(label) <= 100))),
    CONSTRAINT relation_relation_type_check CHECK (((char_length(relation_type) >= 1) AND (char_length(relation_type) <= 100))),
    CONSTRAINT relation_strength_check CHECK (((strength >= (0)::double precision) AND (strength <= (1)::double precision))),
    CONSTRAINT relation_valid_from_check CHECK (isfinite(valid_from)),
    CONSTRAINT relation_valid_until_check CHECK (isfinite(valid_until))
);

ALTER TABLE ONLY textrawl.relation FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.removal_lock (
);


CREATE TABLE textrawl.retention (
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
    last_used timestamp with time zone NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    ended_at timestamp with time zone,
    promoted_at timestamp with time zone,
    promoted_to text,
    last_review_at timestamp with time zone,
    review_count integer DEFAULT 0 NOT NULL,
    cross_domain_count integer DEFAULT 0 NOT NULL,
    CONSTRAINT retention_context_check CHECK ((char_length(context) <= 1000)),
    CONSTRAINT retention_cross_domain_count_check CHECK ((cross_domain_count >= 0)),
    CONSTRAINT retention_ended_at_check CHECK (isfinite(ended_at)),
    CONSTRAINT retention_last_review_at_check CHECK (isfinite(last_review_at)),
    CONSTRAINT retention_last_used_check CHECK (isfinite(last_used)),
    CONSTRAINT retention_promoted_at_check CHECK (isfinite(promoted_at)),
    CONSTRAINT retention_review_count_check CHECK ((review_count >= 0)),
    CONSTRAINT retention_source_check CHECK ((char_length(source) <= 500)),
    CONSTRAINT retention_status_check CHECK ((status = ANY (ARRAY['active'::text, 'promoted'::text, 'archived'::text, 'removed'::text]))),
    CONSTRAINT retention_strength_check CHECK (((strength >= (0)::double precision) AND (strength <= (2)::double precision))),
    CONSTRAINT retention_use_count_check CHECK ((use_count >= 0))
)
WITH (fillfactor='80');

ALTER TABLE ONLY textrawl.retention FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.revision (
    space_id integer NOT NULL,
    observation_id uuid NOT NULL,
    reason text NOT NULL,
    actor_id integer NOT NULL,
    client text,
    tool text NOT NULL,
    request text,
    revised_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT revision_reason_check CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 500)))
);

ALTER TABLE ONLY textrawl.revision FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.search_statistics (
    singleton boolean DEFAULT true NOT NULL,
    facts double precision NOT NULL,
    refreshed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT search_statistics_singleton_check CHECK (singleton)
);


CREATE TABLE textrawl.source (
    space_id integer NOT NULL,
    document_id uuid NOT NULL,
    source_kind text NOT NULL,
    label text NOT NULL,
    content_hash text,
    chunks integer DEFAULT 0 NOT NULL,
    tokens bigint DEFAULT 0 NOT NULL,
    CONSTRAINT source_chunks_check CHECK ((chunks >= 0)),
    CONSTRAINT source_label_check CHECK (((char_length(label) >= 1) AND (char_length(label) <= 200))),
    CONSTRAINT source_source_kind_check CHECK ((source_kind = ANY (ARRAY['clip'::text, 'ai-conversation'::text, 'file'::text]))),
    CONSTRAINT source_tokens_check CHECK ((tokens >= 0))
);

ALTER TABLE ONLY textrawl.source FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.space (
    id integer NOT NULL,
    name text NOT NULL,
    language text DEFAULT 'english'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    archived_at timestamp with time zone,
    tier text,
    recall_tokens integer,
    reviewed boolean DEFAULT false NOT NULL,
    proposal_days integer,
    CONSTRAINT space_check CHECK (((recall_tokens IS NULL) OR (tier IS NOT NULL))),
    CONSTRAINT space_check1 CHECK (((NOT reviewed) OR (tier IS NULL))),
    CONSTRAINT space_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text)),
    CONSTRAINT space_proposal_days_check CHECK (((proposal_days >= 1) AND (proposal_days <= 3650))),
    CONSTRAINT space_recall_tokens_check CHECK (((recall_tokens >= 0) AND (recall_tokens <= 100000))),
    CONSTRAINT space_tier_check CHECK ((tier = ANY (ARRAY['public'::text, 'personal'::text, 'sensitive'::text])))
);

ALTER TABLE ONLY textrawl.space FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.space_grant (
    space_id integer NOT NULL,
    actor_id integer NOT NULL,
    scopes text[] NOT NULL,
    for_login boolean DEFAULT false NOT NULL,
    granted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT space_grant_scopes_check CHECK (((scopes <@ ARRAY['read'::text, 'propose'::text, 'write'::text, 'forget'::text, 'review'::text, 'admin'::text, 'metrics'::text]) AND (scopes <> '{}'::text[])))
);

ALTER TABLE ONLY textrawl.space_grant FORCE ROW LEVEL SECURITY;


ALTER TABLE textrawl.space ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME textrawl.space_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


CREATE TABLE textrawl.space_statistics (
    space_id integer NOT NULL,
    facts bigint NOT NULL,
    coherence real
);

ALTER TABLE ONLY textrawl.space_statistics FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.token (
    id integer NOT NULL,
    hash bytea NOT NULL,
    kind text NOT NULL,
    prefix text,
    actor_id integer NOT NULL,
    home_space_id integer,
    scopes text[] NOT NULL,
    issuer text,
    voucher_id integer,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT token_check CHECK (((voucher_id IS NOT NULL) = (kind = 'federated'::text))),
    CONSTRAINT token_expires_at_check CHECK (isfinite(expires_at)),
    CONSTRAINT token_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT token_issuer_check CHECK (((char_length(issuer) >= 1) AND (char_length(issuer) <= 2000))),
    CONSTRAINT token_kind_check CHECK ((kind = ANY (ARRAY['bearer'::text, 'local'::text, 'federated'::text]))),
    CONSTRAINT token_scopes_check CHECK (((scopes <@ ARRAY['read'::text, 'propose'::text, 'write'::text, 'forget'::text, 'review'::text, 'admin'::text, 'metrics'::text]) AND (scopes <> '{}'::text[])))
);

ALTER TABLE ONLY textrawl.token FORCE ROW LEVEL SECURITY;


ALTER TABLE textrawl.token ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME textrawl.token_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


CREATE TABLE textrawl.undo (
    space_id integer NOT NULL,
    id bigint NOT NULL,
    author_id integer NOT NULL,
    actor_id integer NOT NULL,
    since timestamp with time zone NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    events bigint[] NOT NULL,
    reverted_at timestamp with time zone,
    purged_at timestamp with time zone,
    moved_to integer,
    joint bigint,
    CONSTRAINT undo_since_check CHECK (isfinite(since))
);

ALTER TABLE ONLY textrawl.undo FORCE ROW LEVEL SECURITY;


ALTER TABLE textrawl.undo ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME textrawl.undo_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


CREATE TABLE textrawl.undone (
    space_id integer NOT NULL,
    undo_id bigint NOT NULL,
    action text NOT NULL,
    kind text NOT NULL,
    id uuid NOT NULL,
    names text[] NOT NULL,
    entities jsonb DEFAULT '[]'::jsonb NOT NULL,
    before jsonb NOT NULL,
    after jsonb,
    CONSTRAINT undone_action_check CHECK ((action = ANY (ARRAY['remove'::text, 'hand over'::text, 'revive'::text, 'reset'::text, 'drop entity'::text, 'move back'::text, 'retype'::text, 'return'::text]))),
    CONSTRAINT undone_kind_check CHECK ((kind = ANY (ARRAY['entity'::text, 'observation'::text, 'relation'::text, 'reflection'::text, 'document'::text, 'proposal'::text, 'alias'::text, 'merge'::text])))
);

ALTER TABLE ONLY textrawl.undone FORCE ROW LEVEL SECURITY;


CREATE TABLE textrawl.vector_index_claim (
    singleton boolean DEFAULT true NOT NULL,
    pid integer,
    backend_start timestamp with time zone,
    CONSTRAINT vector_index_claim_singleton_check CHECK (singleton)
);


CREATE TABLE textrawl.word_form (
    stem text NOT NULL,
    other text NOT NULL,
    language text DEFAULT 'english'::text NOT NULL,
    CONSTRAINT word_form_check CHECK ((other <> stem))
);


INSERT INTO textrawl.actor OVERRIDING SYSTEM VALUE VALUES
	(1, 'root', NULL, '2026-11-25 19:35:36.055262+00'),
	(2, 'ben', NULL, '2026-11-25 19:35:52.434624+00'),
	(3, 'pip', NULL, '2026-11-25 19:35:52.466934+00'),
	(4, 'textrawl_owner', NULL, '2026-11-25 19:35:52.60739+00');


INSERT INTO textrawl.chunk VALUES
	(4, '7679b978-0510-4d41-86eb-912be51e5bf6', 180, 1);


INSERT INTO textrawl.code VALUES
	(true, 'of the kept memory');








INSERT INTO textrawl.document VALUES
	(1, '22b7fe9b-c67c-4687-a146-b730d754ab8f', 'identity', 'self/self.md', NULL, 3, 3, '2026-11-25 19:35:50.781803+00'),
	(1, '85018df4-e3cb-44e5-8ef1-a7dd82023f1b', 'identity', 'custom/gone.md', NULL, 5, 5, '2026-11-25 19:35:50.886792+00'),
	(1, '93eda28c-2032-42e7-857b-e59934d30089', 'journal', 'weekly/2026-W19', '5dddc72e-66cd-452f-a24e-94eaa861c330', 7, 7, '2026-11-25 19:35:50.983971+00'),
	(1, '43b2adc1-2df6-4574-a1e3-0772252f8043', 'journal', 'significant/2026-05-06/the-move', '2c074e05-89e4-4924-920c-c6715f21cd9c', 8, 8, '2026-11-25 19:35:51.032482+00'),
	(1, '15c21790-ecfb-495d-bc62-6993b8f10cfa', 'journal', 'daily/2026-05-04/laptop', '089ad293-564c-48cd-b4ca-9bc064785a5e', 9, 9, '2026-11-25 19:35:50.935928+00'),
	(1, '11d8ce27-b0b2-47ec-bd32-ac5d0f3a7780', 'identity', 'user/wants.md', NULL, 10, 10, '2026-11-25 19:35:51.096263+00'),
	(4, '54b4a9f1-12bb-4cd3-909e-b811c8f4a3e6', 'source', 'clip/798069078fd8cee33d8cdbdf4f44c84e', '69eb2756-bcf6-42ce-8f71-4652905a07f0', 1, 1, '2026-11-25 19:35:51.236021+00');


INSERT INTO textrawl.document_clock VALUES
	(1, 10),
	(4, 1);






INSERT INTO textrawl.document_version VALUES
	(1, '22b7fe9b-c67c-4687-a146-b730d754ab8f', 1, 1, '# Me

I am patient.
', '{}', false, '2026-11-25 19:35:50.780426+00', 'laptop', 1, 'mcp 0.1.0', 'identity_write', 'b2b56d92b564fb6c', '2026-11-25 19:35:50.787204+00'),
	(1, '22b7fe9b-c67c-4687-a146-b730d754ab8f', 2, 2, '# Me

I am patient.

I like maps.
', '{}', false, '2026-11-25 19:35:50.837706+00', 'phone', 1, 'mcp 0.1.0', 'identity_append', 'affaff1787f5a3c1', '2026-11-25 19:35:50.8398+00'),
	(1, '22b7fe9b-c67c-4687-a146-b730d754ab8f', 3, 3, '# Me

I am patient.

I like maps.
', '{"label": "Self"}', false, '2026-11-25 19:35:50.865606+00', NULL, 1, 'mcp 0.1.0', 'identity_set_meta', 'b0c6d39c50c07fb6', '2026-11-25 19:35:50.866793+00'),
	(1, '85018df4-e3cb-44e5-8ef1-a7dd82023f1b', 4, 1, 'soon gone
', '{}', false, '2026-11-25 19:35:50.88576+00', NULL, 1, 'mcp 0.1.0', 'identity_write', '1954b633962bd2d0', '2026-11-25 19:35:50.887817+00'),
	(1, '85018df4-e3cb-44e5-8ef1-a7dd82023f1b', 5, 2, NULL, '{}', false, '2026-11-25 19:35:50.906746+00', NULL, 1, 'mcp 0.1.0', 'identity_delete_custom', '80b48bb157f90b2d', '2026-11-25 19:35:50.908921+00'),
	(1, '15c21790-ecfb-495d-bc62-6993b8f10cfa', 6, 1, '# Entry

- Ada moved the shelves. [via:laptop]', '{"chat_ids": ["c1"], "instance": "laptop", "participants": ["laptop"]}', false, '2026-11-25 19:35:50.937509+00', 'laptop', 1, 'mcp 0.1.0', 'memory_create', 'ac7fdf58870091ae', '2026-11-25 19:35:50.937613+00'),
	(1, '93eda28c-2032-42e7-857b-e59934d30089', 7, 1, '# Entry

- Ada moved the shelves. [via:laptop]', '{"chat_ids": [], "instance": "laptop", "participants": ["laptop"]}', false, '2026-11-25 19:35:50.985304+00', 'laptop', 1, 'mcp 0.1.0', 'memory_create', '9a60c6b65f3f7028', '2026-11-25 19:35:50.98541+00'),
	(1, '43b2adc1-2df6-4574-a1e3-0772252f8043', 8, 1, '# Entry

- Ada moved the shelves. [via:laptop]', '{"chat_ids": [], "instance": "laptop", "participants": ["laptop"]}', false, '2026-11-25 19:35:51.0339+00', 'laptop', 1, 'mcp 0.1.0', 'memory_create', '992819e055a00ee8', '2026-11-25 19:35:51.034001+00'),
	(1, '15c21790-ecfb-495d-bc62-6993b8f10cfa', 9, 2, '# Entry

- Two shelves.', '{"chat_ids": ["c1"], "instance": "laptop", "participants": ["laptop"]}', false, '2026-11-25 19:35:51.065309+00', 'Ada', 1, 'mcp 0.1.0', 'memory_update', '35cd6cbf3e838d32', '2026-11-25 19:35:51.065398+00'),
	(1, '11d8ce27-b0b2-47ec-bd32-ac5d0f3a7780', 10, 1, 'a desk
', '{}', false, '2026-11-25 19:35:51.094492+00', 'phone', 1, 'mcp 0.1.0', 'sync_push', '1320a36950e91287', '2026-11-25 19:35:51.098693+00'),
	(4, '54b4a9f1-12bb-4cd3-909e-b811c8f4a3e6', 1, 1, 'A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books.', '{"chunks": [[1, 0, 809, 180]], "sha256": "798069078fd8cee33d8cdbdf4f44c84eecf82d82ed88fadbbc1cabfc8fa783f3"}', false, '2026-11-25 19:35:51.238228+00', NULL, 1, 'mcp 0.1.0', 'remember', '658103f563903eb3', '2026-11-25 19:35:51.238328+00');


INSERT INTO textrawl.embedding_1 VALUES
	(1, '1dc46968-1d19-4932-9329-4280a192c9c5', '[1,0.5,0]');


INSERT INTO textrawl.embedding_model OVERRIDING SYSTEM VALUE VALUES
	(1, 'test:three', 3, 0.1, 0.9, 0.5, NULL, 'active', '2026-11-25 19:35:52.635036+00', false, NULL, NULL, '2026-11-25 19:35:52.635036+00');




INSERT INTO textrawl.entity VALUES
	(1, '4e5d17ed-7c95-4465-98f2-0313c7131636', 'Bo', 'bo', 'concept', true, NULL, '{}', '2026-11-25 19:35:49.550281+00', '2026-11-25 19:35:49.609844+00', '''bo'':1'),
	(1, '9cf687ac-f12d-4f4c-b832-a5d32af5c08d', 'Straße 東京', 'strasse 東京', 'location', false, NULL, '{}', '2026-11-25 19:35:49.550281+00', '2026-11-25 19:35:49.761088+00', '''strasse'':1 ''東京'':2'),
	(2, 'dcc82428-3d3b-48ca-b542-4d81930d0637', 'Ada', 'ada', 'person', false, NULL, '{}', '2026-11-25 19:35:49.8663+00', '2026-11-25 19:35:49.8663+00', '''ada'':1'),
	(2, 'd2074e5a-8d9b-4fcd-a6ad-5a7f0423e74f', 'Atlas', 'atlas', 'project', false, NULL, '{}', '2026-11-25 19:35:49.8663+00', '2026-11-25 19:35:49.897676+00', '''atlas'':1'),
	(1, '089ad293-564c-48cd-b4ca-9bc064785a5e', 'journal 2026-05-04 laptop', 'journal 2026-05-04 laptop', 'concept', true, NULL, '{}', '2026-11-25 19:35:50.933341+00', '2026-11-25 19:35:51.077023+00', '''04'':4 ''05'':3 ''2026'':2 ''journal'':1 ''laptop'':5'),
	(1, '48e0a211-5b47-4e3d-be08-de75e9a562c3', 'Server', 'server', 'concept', false, NULL, '{"type": "Machine"}', '2026-11-25 19:35:50.141863+00', '2026-11-25 19:35:50.223213+00', '''server'':1'),
	(1, '83c7b290-6c1c-4e25-812e-eb7f43e38279', 'Mercury', 'mercury', 'person', false, NULL, '{}', '2026-11-25 19:35:50.296076+00', '2026-11-25 19:35:50.608688+00', '''mercury'':1'),
	(1, '43e8d5f0-4149-415d-85a8-aaf6fe7d13c8', 'music', 'music', 'concept', false, NULL, '{"type": "topic"}', '2026-11-25 19:35:50.296076+00', '2026-11-25 19:35:50.62523+00', '''music'':1'),
	(1, 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', 'Atlas', 'atlas', 'project', false, NULL, '{}', '2026-11-25 19:35:49.550281+00', '2026-11-25 19:35:50.694281+00', '''a'':3 ''atlas'':1 ''project'':2'),
	(1, '5dddc72e-66cd-452f-a24e-94eaa861c330', 'journal 2026-W19', 'journal 2026-w19', 'concept', true, NULL, '{}', '2026-11-25 19:35:50.981647+00', '2026-11-25 19:35:51.014146+00', '''2026'':2 ''journal'':1 ''w19'':3'),
	(1, '2c074e05-89e4-4924-920c-c6715f21cd9c', 'journal 2026-05-06 the-move', 'journal 2026-05-06 the-move', 'concept', true, NULL, '{}', '2026-11-25 19:35:51.030228+00', '2026-11-25 19:35:51.052535+00', '''05'':3 ''06'':4 ''2026'':2 ''journal'':1 ''move'':6 ''the'':5'),
	(4, '69eb2756-bcf6-42ce-8f71-4652905a07f0', 'Shelves', 'shelves', 'concept', true, NULL, '{}', '2026-11-25 19:35:51.233429+00', '2026-11-25 19:35:51.26722+00', '''shelves'':1'),
	(2, '6b55bd3b-f7c2-4601-907e-b0ca40b422b6', 'Rota', 'rota', 'project', false, NULL, '{}', '2026-11-25 19:35:52.479032+00', '2026-11-25 19:35:52.512448+00', '''rota'':1'),
	(3, '7c9747f6-c874-45c1-91db-6bc8cf9e20c3', 'Ausflug', 'ausflug', 'project', false, NULL, '{}', '2026-11-25 19:35:52.60739+00', '2026-11-25 19:35:52.60994+00', '''ausflug'':1'),
	(1, '2a0eaf92-b586-4899-afc5-572df63750b3', 'Ada', 'ada', 'person', false, NULL, '{}', '2026-11-25 19:35:49.550281+00', '2026-11-25 19:35:52.668227+00', '''ada'':1,2 ''l'':3');


INSERT INTO textrawl.entity_alias VALUES
	(1, '1daf97a6-95dd-4b01-9845-32c658cdcac0', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', 'Project A', 'project a', 1, 'mcp 0.1.0', 'name_entity', '029bc76744c63de2', '2026-11-25 19:35:49.988954+00', NULL),
	(1, '07bd380b-1f93-48e9-bc4a-11bc5b0a8f03', '2a0eaf92-b586-4899-afc5-572df63750b3', 'Ada L.', 'ada l.', 1, 'mcp 0.1.0', 'merge_entities', 'cd1601061b217359', '2026-11-25 19:35:50.061752+00', NULL);




INSERT INTO textrawl.event OVERRIDING SYSTEM VALUE VALUES
	(1, 1, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'created', '2a0eaf92-b586-4899-afc5-572df63750b3', NULL, NULL, '{}', '779'),
	(1, 2, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'created', '07bd380b-1f93-48e9-bc4a-11bc5b0a8f03', NULL, NULL, '{}', '779'),
	(1, 3, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'created', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', NULL, NULL, '{}', '779'),
	(1, 4, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'created', '4e5d17ed-7c95-4465-98f2-0313c7131636', NULL, NULL, '{}', '779'),
	(1, 5, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'created', '9cf687ac-f12d-4f4c-b832-a5d32af5c08d', NULL, NULL, '{}', '779'),
	(1, 6, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'remembered', '2a0eaf92-b586-4899-afc5-572df63750b3', '4169375c-8b57-419b-9ef1-08c782b7709a', NULL, '{}', '779'),
	(1, 7, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'remembered', '2a0eaf92-b586-4899-afc5-572df63750b3', '202f9f28-4f60-4807-9d10-24e25b385171', NULL, '{}', '779'),
	(1, 8, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'remembered', '07bd380b-1f93-48e9-bc4a-11bc5b0a8f03', 'a5806b3a-a501-460f-a5db-ea54cb668856', NULL, '{}', '779'),
	(1, 9, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'remembered', '07bd380b-1f93-48e9-bc4a-11bc5b0a8f03', '8b3a879e-5273-49e8-b9ef-c480e4842bba', NULL, '{}', '779'),
	(1, 10, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'remembered', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', 'e660ee31-c4a4-44d4-a588-d77a3174a1e0', NULL, '{}', '779'),
	(1, 11, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'remembered', '9cf687ac-f12d-4f4c-b832-a5d32af5c08d', 'b1d75ad3-bf40-4c0e-9cfc-113c33f8cf09', NULL, '{}', '779'),
	(1, 12, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'related', '2a0eaf92-b586-4899-afc5-572df63750b3', NULL, '359b0714-6a41-4ab2-a65d-5487e5ede33e', '{"to": "c22b1860-fd22-4f08-8546-a9fe29ceeda4"}', '779'),
	(1, 13, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'related', '07bd380b-1f93-48e9-bc4a-11bc5b0a8f03', NULL, 'b3174543-9be4-4a8b-9467-98726a7a0fdb', '{"to": "4e5d17ed-7c95-4465-98f2-0313c7131636"}', '779'),
	(1, 14, '2026-11-25 19:35:49.550281+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', 'related', '2a0eaf92-b586-4899-afc5-572df63750b3', NULL, 'ded2ea11-ba59-4287-b224-42e703dbdb91', '{"to": "9cf687ac-f12d-4f4c-b832-a5d32af5c08d"}', '779'),
	(1, 15, '2026-11-25 19:35:49.639176+00', 1, 'mcp 0.1.0', 'remember_fact', '3666e8cb7c56fb6c', 'replaced', '2a0eaf92-b586-4899-afc5-572df63750b3', 'ed301d8f-bc93-461c-94e4-4a743b6777a5', NULL, '{"new": true, "until": null, "replaced": "4169375c-8b57-419b-9ef1-08c782b7709a"}', '781'),
	(1, 16, '2026-11-25 19:35:49.744884+00', 1, 'mcp 0.1.0', 'relate_entities', '5029757a63ccdb3f', 'ended', '2a0eaf92-b586-4899-afc5-572df63750b3', NULL, 'ded2ea11-ba59-4287-b224-42e703dbdb91', '{"to": "9cf687ac-f12d-4f4c-b832-a5d32af5c08d"}', '782'),
	(1, 17, '2026-11-25 19:35:49.828814+00', 1, 'mcp 0.1.0', 'revise_fact', '9d7b0e65ceb2835d', 'remembered', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', '87e3232b-7186-4cb2-9887-15a309c5c6d8', NULL, '{}', '783'),
	(1, 18, '2026-11-25 19:35:49.828814+00', 1, 'mcp 0.1.0', 'revise_fact', '9d7b0e65ceb2835d', 'revised', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', '87e3232b-7186-4cb2-9887-15a309c5c6d8', NULL, '{"by": null, "until": null, "replaced": "e660ee31-c4a4-44d4-a588-d77a3174a1e0"}', '783'),
	(2, 19, '2026-11-25 19:35:49.8663+00', 1, 'mcp 0.1.0', 'share_memories', '21c4f33d98e9321f', 'created', 'dcc82428-3d3b-48ca-b542-4d81930d0637', NULL, NULL, '{}', '784'),
	(2, 20, '2026-11-25 19:35:49.8663+00', 1, 'mcp 0.1.0', 'share_memories', '21c4f33d98e9321f', 'created', 'd2074e5a-8d9b-4fcd-a6ad-5a7f0423e74f', NULL, NULL, '{}', '784'),
	(2, 21, '2026-11-25 19:35:49.8663+00', 1, 'mcp 0.1.0', 'share_memories', '21c4f33d98e9321f', 'shared', 'd2074e5a-8d9b-4fcd-a6ad-5a7f0423e74f', 'bff95b38-fd2b-4deb-9d02-e3e13ee93f48', NULL, '{}', '784'),
	(2, 22, '2026-11-25 19:35:49.8663+00', 1, 'mcp 0.1.0', 'share_memories', '21c4f33d98e9321f', 'shared', 'dcc82428-3d3b-48ca-b542-4d81930d0637', NULL, 'bb89d10d-0de4-44f2-9d88-2f9e42d16e88', '{"to": "d2074e5a-8d9b-4fcd-a6ad-5a7f0423e74f"}', '784'),
	(1, 23, '2026-11-25 19:35:49.988954+00', 1, 'mcp 0.1.0', 'name_entity', '029bc76744c63de2', 'named', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', NULL, NULL, '{"alias": "1daf97a6-95dd-4b01-9845-32c658cdcac0"}', '785'),
	(1, 24, '2026-11-25 19:35:50.060258+00', 1, 'mcp 0.1.0', 'merge_entities', 'cd1601061b217359', 'merged', '2a0eaf92-b586-4899-afc5-572df63750b3', NULL, NULL, '{"at": "2026-11-25T19:35:50.061752+00:00", "facts": 2, "merge": "cc9e2739-a593-456d-af9b-c1e3b47a68c8", "merged": "07bd380b-1f93-48e9-bc4a-11bc5b0a8f03", "relations": 1}', '786'),
	(1, 25, '2026-11-25 19:35:50.140794+00', 1, 'mcp 0.1.0', 'create_entities', 'c21234425a3ec5ea', 'created', '48e0a211-5b47-4e3d-be08-de75e9a562c3', NULL, NULL, '{}', '787'),
	(1, 26, '2026-11-25 19:35:50.140794+00', 1, 'mcp 0.1.0', 'create_entities', 'c21234425a3ec5ea', 'remembered', '48e0a211-5b47-4e3d-be08-de75e9a562c3', 'c706a4e2-ee9c-4823-8c7a-8941a35f8c60', NULL, '{}', '787'),
	(1, 27, '2026-11-25 19:35:50.140794+00', 1, 'mcp 0.1.0', 'create_entities', 'c21234425a3ec5ea', 'remembered', '48e0a211-5b47-4e3d-be08-de75e9a562c3', 'fc8cc416-02d1-4f23-9277-c36042375cb4', NULL, '{}', '787'),
	(1, 28, '2026-11-25 19:35:50.140794+00', 1, 'mcp 0.1.0', 'create_entities', 'c21234425a3ec5ea', 'remembered', '48e0a211-5b47-4e3d-be08-de75e9a562c3', '93e31971-d787-4411-b8fb-a30d629f7ece', NULL, '{}', '787'),
	(1, 29, '2026-11-25 19:35:50.216862+00', 1, 'mcp 0.1.0', 'create_relations', '9414807f6e015cda', 'related', '48e0a211-5b47-4e3d-be08-de75e9a562c3', NULL, '68f4e950-d675-4d5a-9330-67d81cf51d5e', '{"to": "c22b1860-fd22-4f08-8546-a9fe29ceeda4"}', '788'),
	(1, 30, '2026-11-25 19:35:50.216862+00', 1, 'mcp 0.1.0', 'create_relations', '9414807f6e015cda', 'related', '48e0a211-5b47-4e3d-be08-de75e9a562c3', NULL, '296fd3de-ebfb-4a4a-b110-1118e89d1c40', '{"to": "48e0a211-5b47-4e3d-be08-de75e9a562c3"}', '788'),
	(1, 31, '2026-11-25 19:35:50.258049+00', 1, 'mcp 0.1.0', 'add_reflection', '552e66f182fa86a7', 'reflected', NULL, NULL, NULL, '{"reflection": "579282ed-8efe-4fc1-ab08-28f0a2b51bac"}', '789'),
	(1, 32, '2026-11-25 19:35:50.294601+00', 1, 'mcp 0.1.0', 'graph_write_transaction', 'ea0761a7d67e0577', 'created', '83c7b290-6c1c-4e25-812e-eb7f43e38279', NULL, NULL, '{}', '790'),
	(1, 33, '2026-11-25 19:35:50.294601+00', 1, 'mcp 0.1.0', 'graph_write_transaction', 'ea0761a7d67e0577', 'created', '43e8d5f0-4149-415d-85a8-aaf6fe7d13c8', NULL, NULL, '{}', '790'),
	(1, 34, '2026-11-25 19:35:50.294601+00', 1, 'mcp 0.1.0', 'graph_write_transaction', 'ea0761a7d67e0577', 'remembered', '83c7b290-6c1c-4e25-812e-eb7f43e38279', 'c6794fea-f228-4f37-b1ad-7f9b9f00af20', NULL, '{}', '790'),
	(1, 35, '2026-11-25 19:35:50.294601+00', 1, 'mcp 0.1.0', 'graph_write_transaction', 'ea0761a7d67e0577', 'described', '83c7b290-6c1c-4e25-812e-eb7f43e38279', NULL, NULL, '{}', '790'),
	(1, 36, '2026-11-25 19:35:50.294601+00', 1, 'mcp 0.1.0', 'graph_write_transaction', 'ea0761a7d67e0577', 'described', '43e8d5f0-4149-415d-85a8-aaf6fe7d13c8', NULL, NULL, '{}', '790'),
	(1, 37, '2026-11-25 19:35:50.294601+00', 1, 'mcp 0.1.0', 'graph_write_transaction', 'ea0761a7d67e0577', 'related', '83c7b290-6c1c-4e25-812e-eb7f43e38279', NULL, 'f9f81dbd-dfdc-4bc3-a4c8-976b53751974', '{"to": "43e8d5f0-4149-415d-85a8-aaf6fe7d13c8"}', '790'),
	(1, 38, '2026-11-25 19:35:50.294601+00', 1, 'mcp 0.1.0', 'graph_write_transaction', 'ea0761a7d67e0577', 'described', '83c7b290-6c1c-4e25-812e-eb7f43e38279', NULL, 'f9f81dbd-dfdc-4bc3-a4c8-976b53751974', '{}', '790'),
	(1, 39, '2026-11-25 19:35:50.501541+00', 1, 'mcp 0.1.0', 'graph_node_update', '31f8109e274dc9ad', 'replaced', '83c7b290-6c1c-4e25-812e-eb7f43e38279', '19b35881-5d1a-4962-a707-e3242aadb65e', NULL, '{"new": true, "until": null, "replaced": "c6794fea-f228-4f37-b1ad-7f9b9f00af20"}', '791'),
	(1, 40, '2026-11-25 19:35:50.501541+00', 1, 'mcp 0.1.0', 'graph_node_update', '31f8109e274dc9ad', 'described', '83c7b290-6c1c-4e25-812e-eb7f43e38279', NULL, NULL, '{}', '791'),
	(1, 41, '2026-11-25 19:35:50.607519+00', 1, 'mcp 0.1.0', 'graph_node_delete', '66206e9dc38006e9', 'ended', '83c7b290-6c1c-4e25-812e-eb7f43e38279', NULL, 'f9f81dbd-dfdc-4bc3-a4c8-976b53751974', '{"to": "43e8d5f0-4149-415d-85a8-aaf6fe7d13c8"}', '792'),
	(1, 42, '2026-11-25 19:35:50.607519+00', 1, 'mcp 0.1.0', 'graph_node_delete', '66206e9dc38006e9', 'described', '83c7b290-6c1c-4e25-812e-eb7f43e38279', NULL, 'f9f81dbd-dfdc-4bc3-a4c8-976b53751974', '{}', '792'),
	(1, 43, '2026-11-25 19:35:50.607519+00', 1, 'mcp 0.1.0', 'graph_node_delete', '66206e9dc38006e9', 'described', '43e8d5f0-4149-415d-85a8-aaf6fe7d13c8', NULL, NULL, '{}', '792'),
	(1, 44, '2026-11-25 19:35:50.649001+00', 1, 'mcp 0.1.0', 'save_memory', '8044499b657b54fe', 'remembered', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', '99e00eb3-eb03-498f-98c5-5b2f98daa37d', NULL, '{}', '793'),
	(1, 45, '2026-11-25 19:35:50.690248+00', 1, 'mcp 0.1.0', 'save_memory', '635a43f1ea79733b', 'remembered', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', '7fb8ea3b-399e-4a7d-99da-9a25adc87c74', NULL, '{}', '794'),
	(1, 46, '2026-11-25 19:35:50.711946+00', 1, 'mcp 0.1.0', 'touch_memory', 'd26746c6b02dd268', 'used', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', '99e00eb3-eb03-498f-98c5-5b2f98daa37d', NULL, '{"uses": 1}', '795'),
	(1, 49, '2026-11-25 19:35:50.780019+00', 1, 'mcp 0.1.0', 'identity_write', 'b2b56d92b564fb6c', 'written', NULL, NULL, NULL, '{"kind": "identity", "path": "self/self.md", "version": 1, "document": "22b7fe9b-c67c-4687-a146-b730d754ab8f"}', '798'),
	(1, 52, '2026-11-25 19:35:50.8653+00', 1, 'mcp 0.1.0', 'identity_set_meta', 'b0c6d39c50c07fb6', 'written', NULL, NULL, NULL, '{"kind": "identity", "path": "self/self.md", "version": 3, "document": "22b7fe9b-c67c-4687-a146-b730d754ab8f"}', '801'),
	(1, 56, '2026-11-25 19:35:50.933341+00', 1, 'mcp 0.1.0', 'memory_create', 'ac7fdf58870091ae', 'written', NULL, NULL, NULL, '{"kind": "journal", "path": "daily/2026-05-04/laptop", "version": 6, "document": "15c21790-ecfb-495d-bc62-6993b8f10cfa"}', '804'),
	(1, 59, '2026-11-25 19:35:51.063135+00', 1, 'mcp 0.1.0', 'memory_update', '35cd6cbf3e838d32', 'written', NULL, NULL, NULL, '{"kind": "journal", "path": "daily/2026-05-04/laptop", "version": 9, "document": "15c21790-ecfb-495d-bc62-6993b8f10cfa"}', '807'),
	(4, 61, '2026-11-25 19:35:51.233429+00', 1, 'mcp 0.1.0', 'remember', '658103f563903eb3', 'written', NULL, NULL, NULL, '{"kind": "source", "path": "clip/798069078fd8cee33d8cdbdf4f44c84e", "version": 1, "document": "54b4a9f1-12bb-4cd3-909e-b811c8f4a3e6"}', '811'),
	(1, 47, '2026-11-25 19:35:50.746569+00', 1, 'mcp 0.1.0', 'observe_memory_usage', '82da644ed69cd545', 'used', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', '99e00eb3-eb03-498f-98c5-5b2f98daa37d', NULL, '{"uses": 2}', '796'),
	(1, 50, '2026-11-25 19:35:50.809582+00', 1, 'mcp 0.1.0', 'snapshot_create', '64c53523c6b77bb8', 'snapshot', NULL, NULL, NULL, '{"path": "self/self.md", "snapshot": "self/self_2026-11-25T19-35-50-809Z"}', '799'),
	(1, 53, '2026-11-25 19:35:50.885541+00', 1, 'mcp 0.1.0', 'identity_write', '1954b633962bd2d0', 'written', NULL, NULL, NULL, '{"kind": "identity", "path": "custom/gone.md", "version": 4, "document": "85018df4-e3cb-44e5-8ef1-a7dd82023f1b"}', '802'),
	(1, 57, '2026-11-25 19:35:50.981647+00', 1, 'mcp 0.1.0', 'memory_create', '9a60c6b65f3f7028', 'written', NULL, NULL, NULL, '{"kind": "journal", "path": "weekly/2026-W19", "version": 7, "document": "93eda28c-2032-42e7-857b-e59934d30089"}', '805'),
	(1, 60, '2026-11-25 19:35:51.094212+00', 1, 'mcp 0.1.0', 'sync_push', '1320a36950e91287', 'written', NULL, NULL, NULL, '{"kind": "identity", "path": "user/wants.md", "version": 10, "document": "11d8ce27-b0b2-47ec-bd32-ac5d0f3a7780"}', '808'),
	(1, 48, '2026-11-25 19:35:50.770615+00', 1, 'mcp 0.1.0', 'create_relation', '4b7aee468c502201', 'linked', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', '99e00eb3-eb03-498f-98c5-5b2f98daa37d', NULL, '{"to": "7fb8ea3b-399e-4a7d-99da-9a25adc87c74", "link": "18dfaf9f-e1b2-421f-a7f1-785a4149169a", "type": "contradicts"}', '797'),
	(1, 51, '2026-11-25 19:35:50.837534+00', 1, 'mcp 0.1.0', 'identity_append', 'affaff1787f5a3c1', 'written', NULL, NULL, NULL, '{"kind": "identity", "path": "self/self.md", "version": 2, "document": "22b7fe9b-c67c-4687-a146-b730d754ab8f"}', '800'),
	(1, 54, '2026-11-25 19:35:50.906601+00', 1, 'mcp 0.1.0', 'identity_delete_custom', '80b48bb157f90b2d', 'snapshot', NULL, NULL, NULL, '{"path": "custom/gone.md", "snapshot": "custom/gone_2026-11-25T19-35-50-906Z"}', '803'),
	(1, 55, '2026-11-25 19:35:50.906601+00', 1, 'mcp 0.1.0', 'identity_delete_custom', '80b48bb157f90b2d', 'deleted', NULL, NULL, NULL, '{"kind": "identity", "path": "custom/gone.md", "version": 5, "document": "85018df4-e3cb-44e5-8ef1-a7dd82023f1b"}', '803'),
	(1, 58, '2026-11-25 19:35:51.030228+00', 1, 'mcp 0.1.0', 'memory_create', '992819e055a00ee8', 'written', NULL, NULL, NULL, '{"kind": "journal", "path": "significant/2026-05-06/the-move", "version": 8, "document": "43b2adc1-2df6-4574-a1e3-0772252f8043"}', '806'),
	(2, 62, '2026-11-25 19:35:52.479032+00', 2, 'editor 2', 'remember_fact', NULL, 'created', '6b55bd3b-f7c2-4601-907e-b0ca40b422b6', NULL, NULL, '{}', '816'),
	(2, 63, '2026-11-25 19:35:52.479032+00', 2, 'editor 2', 'remember_fact', NULL, 'remembered', '6b55bd3b-f7c2-4601-907e-b0ca40b422b6', '4b65356e-dd7f-4a92-bdbd-6d22eb5aa40b', NULL, '{}', '816'),
	(2, 64, '2026-11-25 19:35:52.558774+00', 3, 'editor 2', 'remember_fact', NULL, 'proposed', NULL, NULL, NULL, '{"proposal": "2676f9d4-c9d4-45a3-98b3-fc642c79464b"}', '817'),
	(3, 65, '2026-11-25 19:35:52.60739+00', 4, NULL, 'sql', NULL, 'created', '7c9747f6-c874-45c1-91db-6bc8cf9e20c3', NULL, NULL, '{}', '819'),
	(3, 66, '2026-11-25 19:35:52.60739+00', 4, NULL, 'sql', NULL, 'remembered', '7c9747f6-c874-45c1-91db-6bc8cf9e20c3', '8f76e068-2723-4ad7-a908-d6e722fc34f8', NULL, '{}', '819'),
	(1, 67, '2026-11-25 19:35:52.666891+00', 4, NULL, 'sql', NULL, 'remembered', '2a0eaf92-b586-4899-afc5-572df63750b3', '1dc46968-1d19-4932-9329-4280a192c9c5', NULL, '{}', '821'),
	(2, 68, '2026-11-25 19:35:52.709906+00', 2, NULL, 'sql', NULL, 'created', 'cbdee79c-4c14-4541-aae7-f466423f3d9b', NULL, NULL, '{}', '822'),
	(2, 69, '2026-11-25 19:35:52.709906+00', 2, NULL, 'sql', NULL, 'remembered', 'cbdee79c-4c14-4541-aae7-f466423f3d9b', 'b324de93-580c-4ca1-9fec-c9819493554d', NULL, '{}', '822'),
	(2, 70, '2026-11-25 19:35:52.729947+00', 4, NULL, 'sql', NULL, 'drop entity', 'cbdee79c-4c14-4541-aae7-f466423f3d9b', NULL, NULL, '{"undo": 1, "what": "drop entity"}', '823'),
	(2, 71, '2026-11-25 19:35:52.729947+00', 4, NULL, 'sql', NULL, 'remove', 'cbdee79c-4c14-4541-aae7-f466423f3d9b', 'b324de93-580c-4ca1-9fec-c9819493554d', NULL, '{"undo": 1, "what": "remove"}', '823');






INSERT INTO textrawl.graph_change VALUES
	(1, 35, '83c7b290-6c1c-4e25-812e-eb7f43e38279', NULL, '{"version": null, "instance": null, "confidence": null, "properties": null, "description_id": null, "last_confirmed_at": null}', '{"version": 1, "instance": "laptop", "confidence": 0.7, "properties": {"born": 1946, "none": null}, "description_id": "c6794fea-f228-4f37-b1ad-7f9b9f00af20", "last_confirmed_at": "2026-11-25T19:35:50.312419+00:00"}'),
	(1, 36, '43e8d5f0-4149-415d-85a8-aaf6fe7d13c8', NULL, '{"version": null, "instance": null, "last_confirmed_at": null}', '{"version": 1, "instance": "laptop", "last_confirmed_at": "2026-11-25T19:35:50.330122+00:00"}'),
	(1, 38, NULL, 'f9f81dbd-dfdc-4bc3-a4c8-976b53751974', '{"version": null, "evidence": null, "instance": null, "strength": 1, "occurred_at": null, "last_confirmed_at": null}', '{"version": 1, "evidence": "a song", "instance": "laptop", "strength": 0.9, "occurred_at": "2026-01-02T00:00:00+00:00", "last_confirmed_at": "2026-11-25T19:35:50.339259+00:00"}'),
	(1, 40, '83c7b290-6c1c-4e25-812e-eb7f43e38279', NULL, '{"version": 1, "description_id": "c6794fea-f228-4f37-b1ad-7f9b9f00af20"}', '{"version": 2, "description_id": "19b35881-5d1a-4962-a707-e3242aadb65e"}'),
	(1, 42, NULL, 'f9f81dbd-dfdc-4bc3-a4c8-976b53751974', '{"version": 1, "deleted_at": null}', '{"version": 2, "deleted_at": "2026-11-25T19:35:50.608688+00:00"}'),
	(1, 43, '43e8d5f0-4149-415d-85a8-aaf6fe7d13c8', NULL, '{"version": 1, "deleted_at": null}', '{"version": 2, "deleted_at": "2026-11-25T19:35:50.608688+00:00"}');


INSERT INTO textrawl.graph_edge VALUES
	(1, 'f9f81dbd-dfdc-4bc3-a4c8-976b53751974', 'a song', NULL, 'laptop', '2026-01-02 00:00:00+00', '2026-11-25 19:35:50.339259+00', 2, '2026-11-25 19:35:50.608688+00');


INSERT INTO textrawl.graph_node VALUES
	(1, '83c7b290-6c1c-4e25-812e-eb7f43e38279', NULL, NULL, '19b35881-5d1a-4962-a707-e3242aadb65e', 0.7, '{"born": 1946, "none": null}', 'laptop', NULL, NULL, '2026-11-25 19:35:50.312419+00', 2, NULL),
	(1, '43e8d5f0-4149-415d-85a8-aaf6fe7d13c8', NULL, NULL, NULL, NULL, NULL, 'laptop', NULL, NULL, '2026-11-25 19:35:50.330122+00', 2, '2026-11-25 19:35:50.608688+00');


INSERT INTO textrawl.identity_snapshot VALUES
	(1, 'self/self_2026-11-25T19-35-50-809Z', '22b7fe9b-c67c-4687-a146-b730d754ab8f', 1, 'manual', 'snapshot_create', true, '2026-11-25 19:35:50.809+00'),
	(1, 'custom/gone_2026-11-25T19-35-50-906Z', '85018df4-e3cb-44e5-8ef1-a7dd82023f1b', 4, 'pre-replace', 'identity_delete_custom', false, '2026-11-25 19:35:50.906+00');


INSERT INTO textrawl.instance VALUES
	(1, 'phone', 'sby', NULL, NULL, '2026-11-25 19:35:51.115259+00', '2026-11-25 19:35:51.114826+00'),
	(1, 'laptop', 'claude-code', 'Laptop', NULL, '2026-11-25 19:35:50.936245+00', '2026-11-25 19:35:51.137044+00');




INSERT INTO textrawl.journal_entry VALUES
	(1, '15c21790-ecfb-495d-bc62-6993b8f10cfa', 'daily', '2026-05-04', '[2026-05-04,2026-05-05)', 'laptop', NULL),
	(1, '93eda28c-2032-42e7-857b-e59934d30089', 'weekly', '2026-W19', '[2026-05-04,2026-05-11)', 'laptop', NULL),
	(1, '43b2adc1-2df6-4574-a1e3-0772252f8043', 'significant', '2026-05-06', '[2026-05-06,2026-05-07)', 'laptop', 'the-move');


INSERT INTO textrawl.lexeme VALUES
	(4, 'shelv', 1),
	(1, 'know', 1),
	(1, '-11', 1),
	(1, 'like', 3),
	(1, 'run', 3),
	(2, '25', 1),
	(3, 'ging', 1),
	(4, 'shelf', 1),
	(1, 'a', 6),
	(1, '1', 1),
	(2, 'atlas', 2),
	(1, 'play', 1),
	(2, 'thursday', 1),
	(1, 'chess', 1),
	(4, 'hold', 1),
	(1, 'sang', 1),
	(1, '-25', 1),
	(1, 'strasse', 1),
	(1, 'map', 1),
	(2, 'ship', 1),
	(3, '=uber', 1),
	(1, 'journal', 3),
	(1, 'bo', 1),
	(3, 'ausflug', 1),
	(2, 'work', 1),
	(1, 'friday', 1),
	(1, 'the', 1),
	(1, '06', 1),
	(1, 'januari', 2),
	(3, 'uber', 1),
	(1, 'two', 2),
	(1, 'ship', 2),
	(1, '04', 1),
	(1, 'eleven', 1),
	(1, 'collect', 1),
	(1, 'music', 1),
	(2, 'novemb', 1),
	(2, '-11', 1),
	(1, 'atlas', 6),
	(1, '5', 1),
	(1, 'ada', 11),
	(1, 'n', 1),
	(1, '05', 2),
	(1, 'w19', 1),
	(1, '2026', 6),
	(1, 'oslo', 1),
	(1, 'novemb', 1),
	(1, '25', 1),
	(1, 'move', 2),
	(1, 'restart', 1),
	(2, 'chang', 1),
	(1, 'tea', 2),
	(4, 'shelves', 1),
	(3, '=die', 1),
	(1, 'mercury', 3),
	(1, '2', 1),
	(1, 'sing', 1),
	(1, 'via', 2),
	(1, 'core', 1),
	(4, 'forti', 1),
	(1, 'work', 1),
	(1, '東京', 2),
	(3, 'bruck', 1),
	(2, 'ada', 1),
	(1, 'love', 1),
	(2, '2026', 1),
	(1, 'laptop', 3),
	(1, 'live', 2),
	(1, 'thursday', 1),
	(1, 'project', 6),
	(1, 'ten', 1),
	(1, '-05', 1),
	(4, 'book', 1),
	(1, 'shelv', 3),
	(1, '-02', 1),
	(2, '-25', 1),
	(1, 'naiv', 1),
	(1, 'mercuri', 3),
	(2, 'monday', 1),
	(1, 'quot', 1),
	(1, '-01', 2),
	(1, 'strass', 2),
	(2, 'rota', 1),
	(1, 'pipelin', 2),
	(1, 'coffe', 1),
	(1, 'l', 9),
	(1, 'long', 2),
	(1, 'entri', 3),
	(1, 'server', 5);




INSERT INTO textrawl.memory_link VALUES
	(1, '18dfaf9f-e1b2-421f-a7f1-785a4149169a', '99e00eb3-eb03-498f-98c5-5b2f98daa37d', '7fb8ea3b-399e-4a7d-99da-9a25adc87c74', 'contradicts', 0.5, '{"why": "the time"}', '2026-11-25 19:35:50.770615+00');


INSERT INTO textrawl.merge VALUES
	(1, 'cc9e2739-a593-456d-af9b-c1e3b47a68c8', '2a0eaf92-b586-4899-afc5-572df63750b3', '07bd380b-1f93-48e9-bc4a-11bc5b0a8f03', '{"id": "07bd380b-1f93-48e9-bc4a-11bc5b0a8f03", "name": "Ada L.", "node": null, "uses": [], "joint": [], "changes": [], "metadata": {}, "name_key": "ada l.", "space_id": 1, "created_at": "2026-11-25T19:35:49.550281+00:00", "updated_at": "2026-11-25T19:35:49.609845+00:00", "description": null, "entity_type": "person", "type_guessed": false}', '{a5806b3a-a501-460f-a5db-ea54cb668856,8b3a879e-5273-49e8-b9ef-c480e4842bba}', '{b3174543-9be4-4a8b-9467-98726a7a0fdb}', '{}', '{}', '{}', '{}', '{"node": null, "type": ["person", false, {}], "description": null}', '{"node": null, "type": ["person", false, {}], "description": null}', 1, '2026-11-25 19:35:50.061752+00');




INSERT INTO textrawl.migration VALUES
	('0001_spaces', '2026-11-25 19:35:34.360647+00'),
	('0002_facts', '2026-11-25 19:35:34.360647+00'),
	('0003_search', '2026-11-25 19:35:34.360647+00'),
	('0004_models', '2026-11-25 19:35:34.360647+00'),
	('0005_access', '2026-11-25 19:35:34.360647+00'),
	('0006_trail', '2026-11-25 19:35:34.360647+00'),
	('0007_recalls', '2026-11-25 19:35:34.360647+00'),
	('0008_graph', '2026-11-25 19:35:34.360647+00'),
	('0009_word_forms', '2026-11-25 19:35:34.360647+00'),
	('0010_decay', '2026-11-25 19:35:34.360647+00'),
	('0011_documents', '2026-11-25 19:35:34.360647+00'),
	('0012_llm', '2026-11-25 19:35:34.360647+00'),
	('0013_mind', '2026-11-25 19:35:34.360647+00'),
	('0014_corpus', '2026-11-25 19:35:34.360647+00'),
	('0015_review', '2026-11-25 19:35:34.360647+00'),
	('0016_aliases', '2026-11-25 19:35:34.360647+00'),
	('0017_revisions', '2026-11-25 19:35:34.360647+00'),
	('0018_growth', '2026-11-25 19:35:34.360647+00');


INSERT INTO textrawl.observation VALUES
	(1, 'b1d75ad3-bf40-4c0e-9cfc-113c33f8cf09', '9cf687ac-f12d-4f4c-b832-a5d32af5c08d', 'location', 'naïve \N \. “quoted” ''it''''s'' {"a": 1} 👩‍💻', '9f5ce562-18da-4c71-07d6-9b60b49c60ae', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:49.591929+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.591929+00', '2026-11-25 19:35:49.591929+00', 6, '''1'' ''n'' ''naiv'' ''quot'' ''strass'' ''strasse'' ''~s1'' ''東京'''),
	(1, 'a5806b3a-a501-460f-a5db-ea54cb668856', '2a0eaf92-b586-4899-afc5-572df63750b3', 'person', 'plays chess', '816248a1-dae9-d616-26f2-943b517fd14b', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:49.591926+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.591926+00', '2026-11-25 19:35:49.591926+00', 3, '''ada'' ''chess'' ''l'' ''play'' ''~s1'''),
	(2, 'bff95b38-fd2b-4deb-9d02-e3e13ee93f48', 'd2074e5a-8d9b-4fcd-a6ad-5a7f0423e74f', 'project', 'ships on Thursdays', 'aa1811bc-f38b-5182-6a90-bb8f01f6d387', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:49.591928+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'revise_fact', '9d7b0e65ceb2835d', '2026-11-25 19:35:49.833994+00', '2026-11-25 19:35:49.591928+00', 2, '''-11'' ''-25'' ''2026'' ''25'' ''atlas'' ''novemb'' ''ship'' ''thursday'' ''~s2'''),
	(2, 'bb89d10d-0de4-44f2-9d88-2f9e42d16e88', 'dcc82428-3d3b-48ca-b542-4d81930d0637', 'person', 'works at Atlas', 'afb31c9d-8c63-350e-76e3-cba3e5c50a03', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:49.609842+00', NULL, NULL, 'bb89d10d-0de4-44f2-9d88-2f9e42d16e88', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.609842+00', '2026-11-25 19:35:49.609842+00', 3, '''ada'' ''atlas'' ''work'' ''~s2'''),
	(1, '87e3232b-7186-4cb2-9887-15a309c5c6d8', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', 'project', 'ships on Thursdays', 'aa1811bc-f38b-5182-6a90-bb8f01f6d387', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:49.591928+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'revise_fact', '9d7b0e65ceb2835d', '2026-11-25 19:35:49.833994+00', '2026-11-25 19:35:49.591928+00', 11, '''-11'' ''-25'' ''2026'' ''25'' ''a'' ''atlas'' ''novemb'' ''project'' ''ship'' ''thursday'' ''~s1'''),
	(1, 'e660ee31-c4a4-44d4-a588-d77a3174a1e0', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', 'project', 'ships on Fridays', 'c033c6cd-ef0a-ab99-5eee-e60792c57ac1', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:49.591928+00', '2026-11-25 19:35:49.591928+00', '87e3232b-7186-4cb2-9887-15a309c5c6d8', NULL, 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.591928+00', '2026-11-25 19:35:49.591928+00', 5, '''a'' ''atlas'' ''friday'' ''project'' ''ship'' ''~s1'''),
	(1, '202f9f28-4f60-4807-9d10-24e25b385171', '2a0eaf92-b586-4899-afc5-572df63750b3', 'person', 'lives in Oslo', '2d8fdc36-4ba4-f88a-bfa1-5c27d517ea63', NULL, NULL, 'note', 0.5, '2026-11-25 19:35:49.591925+00', '2031-01-01 23:59:59.999999+00', NULL, NULL, 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.591925+00', '2026-01-05 00:00:00+00', 2, '''-01'' ''-05'' ''2026'' ''5'' ''ada'' ''januari'' ''l'' ''live'' ''oslo'' ''~s1'''),
	(1, 'ed301d8f-bc93-461c-94e4-4a743b6777a5', '2a0eaf92-b586-4899-afc5-572df63750b3', 'person', 'likes coffee', 'a544e5a7-d684-a7d1-8fe0-f596a18e90f5', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:49.663872+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'remember_fact', '3666e8cb7c56fb6c', '2026-11-25 19:35:49.663872+00', '2026-11-25 19:35:49.663872+00', 10, '''ada'' ''coffe'' ''l'' ''like'' ''~s1'''),
	(1, '4169375c-8b57-419b-9ef1-08c782b7709a', '2a0eaf92-b586-4899-afc5-572df63750b3', 'person', 'likes tea', '333eb7a1-a291-340c-4a5e-076606a7774e', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:49.591924+00', '2026-11-25 19:35:49.663872+00', 'ed301d8f-bc93-461c-94e4-4a743b6777a5', NULL, 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.591924+00', '2026-11-25 19:35:49.591924+00', 1, '''ada'' ''l'' ''like'' ''tea'' ''~s1'''),
	(1, 'ded2ea11-ba59-4287-b224-42e703dbdb91', '2a0eaf92-b586-4899-afc5-572df63750b3', 'person', 'lives in Straße 東京', '4f9f2ba4-866d-411a-538d-e9999afadd0c', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:49.609844+00', '2026-11-25 19:35:49.761088+00', NULL, 'ded2ea11-ba59-4287-b224-42e703dbdb91', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.609844+00', '2026-11-25 19:35:49.609844+00', 9, '''ada'' ''l'' ''live'' ''strass'' ''~s1'' ''東京'''),
	(1, '359b0714-6a41-4ab2-a65d-5487e5ede33e', '2a0eaf92-b586-4899-afc5-572df63750b3', 'person', 'works at Atlas', 'afb31c9d-8c63-350e-76e3-cba3e5c50a03', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:49.609842+00', NULL, NULL, '359b0714-6a41-4ab2-a65d-5487e5ede33e', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.609842+00', '2026-11-25 19:35:49.609842+00', 7, '''a'' ''ada'' ''atlas'' ''l'' ''project'' ''work'' ''~s1'''),
	(1, '8b3a879e-5273-49e8-b9ef-c480e4842bba', '2a0eaf92-b586-4899-afc5-572df63750b3', 'person', 'likes tea', '333eb7a1-a291-340c-4a5e-076606a7774e', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:49.591927+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.591927+00', '2026-11-25 19:35:49.591927+00', 4, '''ada'' ''l'' ''like'' ''tea'' ''~s1'''),
	(1, 'b3174543-9be4-4a8b-9467-98726a7a0fdb', '2a0eaf92-b586-4899-afc5-572df63750b3', 'person', 'knows Bo', '7688f9ae-4938-49b8-52d7-845bcdb562e6', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:49.609843+00', NULL, NULL, 'b3174543-9be4-4a8b-9467-98726a7a0fdb', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.609843+00', '2026-11-25 19:35:49.609843+00', 8, '''ada'' ''bo'' ''know'' ''l'' ''~s1'''),
	(1, 'c706a4e2-ee9c-4823-8c7a-8941a35f8c60', '48e0a211-5b47-4e3d-be08-de75e9a562c3', 'concept', 'has two cores', 'cfa87038-79a4-846f-1a41-e356fcbe0f67', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:50.145737+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'create_entities', 'c21234425a3ec5ea', '2026-11-25 19:35:50.145737+00', '2026-11-25 19:35:50.145737+00', 12, '''core'' ''server'' ''two'' ''~s1'''),
	(1, 'fc8cc416-02d1-4f23-9277-c36042375cb4', '48e0a211-5b47-4e3d-be08-de75e9a562c3', 'concept', 'long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long ', '7e4b178e-608e-281b-4d6f-735903067d4d', 'a784723a-8950-27dd-a6db-2df53f479cb5', 1, 'conversation', 1, '2026-11-25 19:35:50.152448+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'create_entities', 'c21234425a3ec5ea', '2026-11-25 19:35:50.152448+00', '2026-11-25 19:35:50.152448+00', 13, '''long'' ''server'' ''~s1'''),
	(1, '68f4e950-d675-4d5a-9330-67d81cf51d5e', '48e0a211-5b47-4e3d-be08-de75e9a562c3', 'concept', 'runs on Atlas', '5e20394c-3fe5-3eb4-7815-66e4e32c1c1f', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:50.22321+00', NULL, NULL, '68f4e950-d675-4d5a-9330-67d81cf51d5e', 1, 'mcp 0.1.0', 'create_relations', '9414807f6e015cda', '2026-11-25 19:35:50.22321+00', '2026-11-25 19:35:50.22321+00', 15, '''a'' ''atlas'' ''project'' ''run'' ''server'' ''~s1'''),
	(1, '296fd3de-ebfb-4a4a-b110-1118e89d1c40', '48e0a211-5b47-4e3d-be08-de75e9a562c3', 'concept', 'restarts Server', '43b0820e-c7e8-e435-0f2e-1ae149929cb6', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:50.223211+00', NULL, NULL, '296fd3de-ebfb-4a4a-b110-1118e89d1c40', 1, 'mcp 0.1.0', 'create_relations', '9414807f6e015cda', '2026-11-25 19:35:50.223211+00', '2026-11-25 19:35:50.223211+00', 16, '''restart'' ''server'' ''~s1'''),
	(1, '93e31971-d787-4411-b8fb-a30d629f7ece', '48e0a211-5b47-4e3d-be08-de75e9a562c3', 'concept', 'long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long', '41d277c1-a40d-c66f-ebd5-5e2375156642', 'a784723a-8950-27dd-a6db-2df53f479cb5', 2, 'conversation', 1, '2026-11-25 19:35:50.154232+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'create_entities', 'c21234425a3ec5ea', '2026-11-25 19:35:50.154232+00', '2026-11-25 19:35:50.154232+00', 14, '''long'' ''server'' ''~s1'''),
	(1, '19b35881-5d1a-4962-a707-e3242aadb65e', '83c7b290-6c1c-4e25-812e-eb7f43e38279', 'person', 'sang', '83a046ff-a06d-5c37-860b-ca369940cd73', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:50.504496+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'graph_node_update', '31f8109e274dc9ad', '2026-11-25 19:35:50.504496+00', '2026-11-25 19:35:50.504496+00', 19, '''mercuri'' ''mercury'' ''sang'' ''~s1'''),
	(1, 'c6794fea-f228-4f37-b1ad-7f9b9f00af20', '83c7b290-6c1c-4e25-812e-eb7f43e38279', 'person', 'sings', '0894ae17-7d0f-a7be-b4aa-360d1a31fcb2', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:50.313494+00', '2026-11-25 19:35:50.504496+00', '19b35881-5d1a-4962-a707-e3242aadb65e', NULL, 1, 'mcp 0.1.0', 'graph_write_transaction', 'ea0761a7d67e0577', '2026-11-25 19:35:50.313494+00', '2026-11-25 19:35:50.313494+00', 17, '''mercuri'' ''mercury'' ''sing'' ''~s1'''),
	(1, 'f9f81dbd-dfdc-4bc3-a4c8-976b53751974', '83c7b290-6c1c-4e25-812e-eb7f43e38279', 'person', 'loves music', '6b22a426-3e19-1e9b-f403-9492969170de', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:50.339616+00', '2026-11-25 19:35:50.608688+00', NULL, 'f9f81dbd-dfdc-4bc3-a4c8-976b53751974', 1, 'mcp 0.1.0', 'graph_write_transaction', 'ea0761a7d67e0577', '2026-11-25 19:35:50.339616+00', '2026-11-25 19:35:50.339616+00', 18, '''love'' ''mercuri'' ''mercury'' ''music'' ''~s1'''),
	(1, '99e00eb3-eb03-498f-98c5-5b2f98daa37d', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', 'project', 'the pipeline runs at ten', '13b22802-82f6-1225-d45a-aa629b4f2314', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:50.649398+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'save_memory', '8044499b657b54fe', '2026-11-25 19:35:50.649398+00', '2026-11-25 19:35:50.649398+00', 20, '''a'' ''atlas'' ''pipelin'' ''project'' ''run'' ''ten'' ''~s1'''),
	(1, '53cc1d3a-3286-42e4-9d20-86b7f6636c83', '5dddc72e-66cd-452f-a24e-94eaa861c330', 'concept', '# Entry

- Ada moved the shelves. [via:laptop]', '854a4cea-aef9-f9dd-91d8-f2377a3cc7d6', '93eda28c-2032-42e7-857b-e59934d30089', 1, 'note', 1, '2026-11-25 19:35:51.013445+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'memory_create', '9a60c6b65f3f7028', '2026-11-25 19:35:51.013445+00', '2026-05-04 00:00:00+00', 23, '''2026'' ''ada'' ''entri'' ''journal'' ''laptop'' ''move'' ''shelv'' ''via'' ''w19'' ''~s1'''),
	(1, '7fb8ea3b-399e-4a7d-99da-9a25adc87c74', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', 'project', 'the pipeline runs at eleven', '550c8f6c-21c3-fb58-74ae-4452aa4336dc', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:50.690436+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'save_memory', '635a43f1ea79733b', '2026-11-25 19:35:50.690436+00', '2026-11-25 19:35:50.690436+00', 21, '''a'' ''atlas'' ''eleven'' ''pipelin'' ''project'' ''run'' ''~s1'''),
	(1, '9f245781-0fea-4119-881f-3ee68347c593', '2c074e05-89e4-4924-920c-c6715f21cd9c', 'concept', '# Entry

- Ada moved the shelves. [via:laptop]', '854a4cea-aef9-f9dd-91d8-f2377a3cc7d6', '43b2adc1-2df6-4574-a1e3-0772252f8043', 1, 'note', 1, '2026-11-25 19:35:51.051809+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'memory_create', '992819e055a00ee8', '2026-11-25 19:35:51.051809+00', '2026-05-06 00:00:00+00', 24, '''05'' ''06'' ''2026'' ''ada'' ''entri'' ''journal'' ''laptop'' ''move'' ''shelv'' ''the'' ''via'' ''~s1'''),
	(1, 'd15038b6-0caf-464a-9dd2-0da001c72b7a', '089ad293-564c-48cd-b4ca-9bc064785a5e', 'concept', '# Entry

- Two shelves.', '4f2f2418-3d9b-e3e9-0b20-7889357e73bd', '15c21790-ecfb-495d-bc62-6993b8f10cfa', 1, 'note', 1, '2026-11-25 19:35:51.076406+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'memory_update', '35cd6cbf3e838d32', '2026-11-25 19:35:51.076406+00', '2026-05-04 00:00:00+00', 25, '''04'' ''05'' ''2026'' ''entri'' ''journal'' ''laptop'' ''shelv'' ''two'' ''~s1'''),
	(4, '7679b978-0510-4d41-86eb-912be51e5bf6', '69eb2756-bcf6-42ce-8f71-4652905a07f0', 'concept', 'A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books. A shelf holds forty books.', 'fab22cd7-1f98-851f-7207-8f2a27df4cab', '54b4a9f1-12bb-4cd3-909e-b811c8f4a3e6', 1, 'note', 1, '2026-11-25 19:35:51.256988+00', NULL, NULL, NULL, 1, 'mcp 0.1.0', 'remember', '658103f563903eb3', '2026-11-25 19:35:51.256988+00', '2026-11-25 19:35:51.238228+00', 1, '''book'' ''forti'' ''hold'' ''shelf'' ''shelv'' ''shelves'' ''~s4'''),
	(2, '4b65356e-dd7f-4a92-bdbd-6d22eb5aa40b', '6b55bd3b-f7c2-4601-907e-b0ca40b422b6', 'project', 'changes on Mondays', '7daeb788-6baf-42c9-209e-63c5b2ec00d4', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:52.512448+00', NULL, NULL, NULL, 2, 'editor 2', 'remember_fact', NULL, '2026-11-25 19:35:52.512448+00', '2026-11-25 19:35:52.512448+00', 4, '''chang'' ''monday'' ''rota'' ''~s2'''),
	(3, '8f76e068-2723-4ad7-a908-d6e722fc34f8', '7c9747f6-c874-45c1-91db-6bc8cf9e20c3', 'project', 'ging über die Brücke', '04b73068-64eb-75ce-e15b-227d11cd0259', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:52.60994+00', NULL, NULL, NULL, 4, NULL, 'sql', NULL, '2026-11-25 19:35:52.60994+00', '2026-11-25 19:35:52.60994+00', 1, '''=die'' ''=uber'' ''ausflug'' ''bruck'' ''ging'' ''uber'' ''~s3'''),
	(1, '1dc46968-1d19-4932-9329-4280a192c9c5', '2a0eaf92-b586-4899-afc5-572df63750b3', 'person', 'collects maps', '3b6c07ec-26aa-bb80-c978-12bc48b74abb', NULL, NULL, 'conversation', 1, '2026-11-25 19:35:52.668227+00', NULL, NULL, NULL, 4, NULL, 'sql', NULL, '2026-11-25 19:35:52.668227+00', '2026-01-02 03:04:05+00', 26, '''-01'' ''-02'' ''2'' ''2026'' ''ada'' ''collect'' ''januari'' ''l'' ''map'' ''~s1''');


INSERT INTO textrawl.proposal VALUES
	(2, '2676f9d4-c9d4-45a3-98b3-fc642c79464b', 'fact', 'Rota', 'rota', 'project', 'has a gap in May', 'e452dff9-4ff0-5ebf-b19a-d1dda72abe87', '2b496646-6d53-38ee-2773-69db0396a21a', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, '''gap'' ''may'' ''rota'' ''~s2''', 3, 'editor 2', 'remember_fact', NULL, '2026-11-25 19:35:52.562353+00', NULL, NULL, NULL, NULL, NULL, NULL);


INSERT INTO textrawl.recall OVERRIDING SYSTEM VALUE VALUES
	(1, 1, '2026-11-25 19:35:50.447583+00', 1, 'mcp 0.1.0', 'list', NULL, NULL, 0, NULL, NULL, NULL, '{}', 'compact', true, 831, NULL, 25000, 7, 0, 31.788664),
	(1, 2, '2026-11-25 19:35:51.355318+00', 1, 'mcp 0.1.0', 'search', NULL, 'f1f24458e1a87d43', 3, 0.9508428, NULL, 1, '{d15038b6-0caf-464a-9dd2-0da001c72b7a,9f245781-0fea-4119-881f-3ee68347c593,53cc1d3a-3286-42e4-9d20-86b7f6636c83}', 'compact', true, 340, 503, 2000, 3, 0, 78.14317);


INSERT INTO textrawl.recalled VALUES
	(1, '53cc1d3a-3286-42e4-9d20-86b7f6636c83', 1, '2026-11-25 19:35:51.355318+00'),
	(1, '9f245781-0fea-4119-881f-3ee68347c593', 1, '2026-11-25 19:35:51.355318+00'),
	(1, 'd15038b6-0caf-464a-9dd2-0da001c72b7a', 1, '2026-11-25 19:35:51.355318+00');


INSERT INTO textrawl.reflection VALUES
	(1, '579282ed-8efe-4fc1-ab08-28f0a2b51bac', 'global', NULL, NULL, 'Tea comes up often.', 'Bo', 'insight', 1, 'mcp 0.1.0', 'add_reflection', '552e66f182fa86a7', '2026-11-25 19:35:50.259252+00', '''come'':2 ''often'':4 ''tea'':1', NULL, NULL);


INSERT INTO textrawl.relation VALUES
	(1, '359b0714-6a41-4ab2-a65d-5487e5ede33e', '2a0eaf92-b586-4899-afc5-572df63750b3', 'works_at', NULL, 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', 1, '2026-11-25 19:35:49.609842+00', NULL, 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.609842+00'),
	(1, 'ded2ea11-ba59-4287-b224-42e703dbdb91', '2a0eaf92-b586-4899-afc5-572df63750b3', 'lives_in', NULL, '9cf687ac-f12d-4f4c-b832-a5d32af5c08d', 1, '2026-11-25 19:35:49.609844+00', '2026-11-25 19:35:49.761088+00', 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.609844+00'),
	(2, 'bb89d10d-0de4-44f2-9d88-2f9e42d16e88', 'dcc82428-3d3b-48ca-b542-4d81930d0637', 'works_at', NULL, 'd2074e5a-8d9b-4fcd-a6ad-5a7f0423e74f', 1, '2026-11-25 19:35:49.609842+00', NULL, 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.609842+00'),
	(1, 'b3174543-9be4-4a8b-9467-98726a7a0fdb', '2a0eaf92-b586-4899-afc5-572df63750b3', 'knows', NULL, '4e5d17ed-7c95-4465-98f2-0313c7131636', 1, '2026-11-25 19:35:49.609843+00', NULL, 1, 'mcp 0.1.0', 'build_knowledge', '1ac44255b6966afe', '2026-11-25 19:35:49.609843+00'),
	(1, '68f4e950-d675-4d5a-9330-67d81cf51d5e', '48e0a211-5b47-4e3d-be08-de75e9a562c3', 'runson', 'runsOn', 'c22b1860-fd22-4f08-8546-a9fe29ceeda4', 1, '2026-11-25 19:35:50.22321+00', NULL, 1, 'mcp 0.1.0', 'create_relations', '9414807f6e015cda', '2026-11-25 19:35:50.22321+00'),
	(1, '296fd3de-ebfb-4a4a-b110-1118e89d1c40', '48e0a211-5b47-4e3d-be08-de75e9a562c3', 'restarts', NULL, '48e0a211-5b47-4e3d-be08-de75e9a562c3', 1, '2026-11-25 19:35:50.223211+00', NULL, 1, 'mcp 0.1.0', 'create_relations', '9414807f6e015cda', '2026-11-25 19:35:50.223211+00'),
	(1, 'f9f81dbd-dfdc-4bc3-a4c8-976b53751974', '83c7b290-6c1c-4e25-812e-eb7f43e38279', 'loves', NULL, '43e8d5f0-4149-415d-85a8-aaf6fe7d13c8', 0.9, '2026-11-25 19:35:50.339616+00', '2026-11-25 19:35:50.608688+00', 1, 'mcp 0.1.0', 'graph_write_transaction', 'ea0761a7d67e0577', '2026-11-25 19:35:50.339616+00');




INSERT INTO textrawl.retention VALUES
	(1, '7fb8ea3b-399e-4a7d-99da-9a25adc87c74', true, '{deploy}', '{Atlas}', 'chat', 'a review', '{}', 1.2, 0, '2026-11-25 19:35:50.690436+00', 'active', NULL, NULL, NULL, NULL, 0, 0),
	(1, '99e00eb3-eb03-498f-98c5-5b2f98daa37d', true, '{deploy}', '{Atlas}', 'chat', 'a review', '{}', 1.3, 2, '2026-11-25 19:35:50.746889+00', 'active', NULL, NULL, NULL, '2026-11-25 19:35:50.746889+00', 1, 1);


INSERT INTO textrawl.revision VALUES
	(1, 'e660ee31-c4a4-44d4-a588-d77a3174a1e0', 'a typing error', 1, 'mcp 0.1.0', 'revise_fact', '9d7b0e65ceb2835d', '2026-11-25 19:35:49.832843+00');


INSERT INTO textrawl.search_statistics VALUES
	(true, 30, '2026-11-25 19:35:52.882982+00');


INSERT INTO textrawl.source VALUES
	(4, '54b4a9f1-12bb-4cd3-909e-b811c8f4a3e6', 'clip', 'Shelves', '798069078fd8cee33d8cdbdf4f44c84eecf82d82ed88fadbbc1cabfc8fa783f3', 1, 180);


INSERT INTO textrawl.space OVERRIDING SYSTEM VALUE VALUES
	(1, 'default', 'english', '2026-11-25 19:35:34.360647+00', NULL, NULL, NULL, false, NULL),
	(2, 'team', 'english', '2026-11-25 19:35:40.86348+00', NULL, NULL, NULL, false, NULL),
	(3, 'deutsch', 'german', '2026-11-25 19:35:44.549228+00', NULL, NULL, NULL, false, NULL),
	(4, 'library', 'english', '2026-11-25 19:35:47.410404+00', NULL, 'public', NULL, false, NULL);


INSERT INTO textrawl.space_grant VALUES
	(2, 2, '{read,write}', false, '2026-11-25 19:35:52.434624+00'),
	(2, 3, '{read,propose}', false, '2026-11-25 19:35:52.466934+00');


INSERT INTO textrawl.space_statistics VALUES
	(4, 1, NULL),
	(2, 3, NULL),
	(3, 1, NULL),
	(1, 25, NULL);


INSERT INTO textrawl.token OVERRIDING SYSTEM VALUE VALUES
	(1, '\x4f558a8c7c860469277fe71f52ef5e6ec4906234d91f19f71901aae1853ee190', 'local', NULL, 1, 1, '{read,propose,write,forget,review,admin,metrics}', NULL, NULL, '2026-11-25 19:35:36.055262+00', NULL, '2026-11-25 19:35:36.114937+00', NULL),
	(2, '\x6700869c8ff7480e34a70a708b028700dbaa3a033b5652b903afe89f49a31456', 'bearer', 'trl_b', 2, 2, '{read,write}', NULL, NULL, '2026-11-25 19:35:52.434624+00', NULL, NULL, NULL),
	(3, '\xfed5038bf2f427ab2ec84f85881f103c0e946e8d6252b8731f99ab0cb57729d9', 'bearer', 'trl_p', 3, 2, '{read,propose}', NULL, NULL, '2026-11-25 19:35:52.466934+00', NULL, NULL, NULL);


INSERT INTO textrawl.undo OVERRIDING SYSTEM VALUE VALUES
	(2, 1, 2, 4, '2026-11-25 19:35:52.709906+00', '2026-11-25 19:35:52.729947+00', '{68,69}', NULL, NULL, NULL, NULL);


INSERT INTO textrawl.undone VALUES
	(2, 1, 'remove', 'observation', 'b324de93-580c-4ca1-9fec-c9819493554d', '{noise}', '[{"id": "cbdee79c-4c14-4541-aae7-f466423f3d9b", "name": "Noise", "node": null, "aliases": [], "changes": [], "metadata": {}, "name_key": "noise", "space_id": 2, "created_at": "2026-11-25T19:35:52.709906+00:00", "updated_at": "2026-11-25T19:35:52.711861+00:00", "description": null, "entity_type": "fact", "type_guessed": false}]', '{"id": "b324de93-580c-4ca1-9fec-c9819493554d", "part": null, "tool": "sql", "whole": null, "client": null, "source": "conversation", "content": "is to be undone", "ordinal": 5, "request": null, "said_at": "2026-11-25T19:35:52.711861+00:00", "space_id": 2, "author_id": 2, "entity_id": "cbdee79c-4c14-4541-aae7-f466423f3d9b", "confidence": 1, "created_at": "2026-11-25T19:35:52.711861+00:00", "valid_from": "2026-11-25T19:35:52.711861+00:00", "entity_type": "fact", "relation_id": null, "replaced_by": null, "valid_until": null, "content_hash": "f7070187-2e1c-15e0-a8db-734ffba9543e"}', NULL),
	(2, 1, 'drop entity', 'entity', 'cbdee79c-4c14-4541-aae7-f466423f3d9b', '{noise}', '[{"id": "cbdee79c-4c14-4541-aae7-f466423f3d9b", "name": "Noise", "node": null, "aliases": [], "changes": [], "metadata": {}, "name_key": "noise", "space_id": 2, "created_at": "2026-11-25T19:35:52.709906+00:00", "updated_at": "2026-11-25T19:35:52.711861+00:00", "description": null, "entity_type": "fact", "type_guessed": false}]', '{"id": "cbdee79c-4c14-4541-aae7-f466423f3d9b", "name": "Noise", "metadata": {}, "name_key": "noise", "space_id": 2, "created_at": "2026-11-25T19:35:52.709906+00:00", "updated_at": "2026-11-25T19:35:52.711861+00:00", "description": null, "entity_type": "fact", "type_guessed": false}', NULL);


INSERT INTO textrawl.vector_index_claim VALUES
	(true, NULL, NULL);


SELECT pg_catalog.setval('textrawl.actor_id_seq', 4, true);


SELECT pg_catalog.setval('textrawl.embedding_model_id_seq', 1, true);


SELECT pg_catalog.setval('textrawl.event_id_seq', 71, true);


SELECT pg_catalog.setval('textrawl.llm_use_id_seq', 1, false);


SELECT pg_catalog.setval('textrawl.recall_id_seq', 2, true);


SELECT pg_catalog.setval('textrawl.space_id_seq', 4, true);


SELECT pg_catalog.setval('textrawl.token_id_seq', 3, true);


SELECT pg_catalog.setval('textrawl.undo_id_seq', 1, true);


ALTER TABLE ONLY textrawl.actor
    ADD CONSTRAINT actor_name_key UNIQUE (name);


ALTER TABLE ONLY textrawl.actor
    ADD CONSTRAINT actor_pkey PRIMARY KEY (id);


ALTER TABLE ONLY textrawl.actor
    ADD CONSTRAINT actor_role_name_key UNIQUE (role_name);


ALTER TABLE ONLY textrawl.chunk
    ADD CONSTRAINT chunk_pkey PRIMARY KEY (space_id, observation_id);


ALTER TABLE ONLY textrawl.code
    ADD CONSTRAINT code_pkey PRIMARY KEY (singleton);


ALTER TABLE ONLY textrawl.consolidation
    ADD CONSTRAINT consolidation_pkey PRIMARY KEY (space_id, granularity, period);


ALTER TABLE ONLY textrawl.correction
    ADD CONSTRAINT correction_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.decay_policy
    ADD CONSTRAINT decay_policy_pkey PRIMARY KEY (space_id);


ALTER TABLE ONLY textrawl.document_clock
    ADD CONSTRAINT document_clock_pkey PRIMARY KEY (space_id);


ALTER TABLE ONLY textrawl.document
    ADD CONSTRAINT document_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.document_rebuild
    ADD CONSTRAINT document_rebuild_pkey PRIMARY KEY (space_id);


ALTER TABLE ONLY textrawl.document
    ADD CONSTRAINT document_space_id_kind_path_key UNIQUE (space_id, kind, path);


ALTER TABLE ONLY textrawl.document_tombstone
    ADD CONSTRAINT document_tombstone_pkey PRIMARY KEY (space_id, kind, path);


ALTER TABLE ONLY textrawl.document_version
    ADD CONSTRAINT document_version_pkey PRIMARY KEY (space_id, document_id, version);


ALTER TABLE ONLY textrawl.embedding_1
    ADD CONSTRAINT embedding_1_pkey PRIMARY KEY (space_id, observation_id);


ALTER TABLE ONLY textrawl.embedding_model
    ADD CONSTRAINT embedding_model_name_key UNIQUE (name);


ALTER TABLE ONLY textrawl.embedding_model
    ADD CONSTRAINT embedding_model_pkey PRIMARY KEY (id);


ALTER TABLE ONLY textrawl.embedding_pending
    ADD CONSTRAINT embedding_pending_pkey PRIMARY KEY (space_id, observation_id, model_id);


ALTER TABLE ONLY textrawl.entity_alias
    ADD CONSTRAINT entity_alias_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.entity
    ADD CONSTRAINT entity_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.entity
    ADD CONSTRAINT entity_space_id_name_key_key UNIQUE (space_id, name_key);


ALTER TABLE ONLY textrawl.entity_use
    ADD CONSTRAINT entity_use_pkey PRIMARY KEY (space_id, entity_id, day);


ALTER TABLE ONLY textrawl.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.extraction_pending
    ADD CONSTRAINT extraction_pending_pkey PRIMARY KEY (space_id, document_id);


ALTER TABLE ONLY textrawl.extraction_total
    ADD CONSTRAINT extraction_total_pkey PRIMARY KEY (space_id);


ALTER TABLE ONLY textrawl.graph_change
    ADD CONSTRAINT graph_change_pkey PRIMARY KEY (space_id, event_id);


ALTER TABLE ONLY textrawl.graph_edge
    ADD CONSTRAINT graph_edge_pkey PRIMARY KEY (space_id, relation_id);


ALTER TABLE ONLY textrawl.graph_node
    ADD CONSTRAINT graph_node_pkey PRIMARY KEY (space_id, entity_id);


ALTER TABLE ONLY textrawl.identity_snapshot
    ADD CONSTRAINT identity_snapshot_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.instance
    ADD CONSTRAINT instance_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.joint_use
    ADD CONSTRAINT joint_use_pkey PRIMARY KEY (space_id, one, other);


ALTER TABLE ONLY textrawl.journal_entry
    ADD CONSTRAINT journal_entry_pkey PRIMARY KEY (space_id, document_id);


ALTER TABLE ONLY textrawl.lexeme
    ADD CONSTRAINT lexeme_pkey PRIMARY KEY (space_id, word);


ALTER TABLE ONLY textrawl.llm_use
    ADD CONSTRAINT llm_use_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.memory_link
    ADD CONSTRAINT memory_link_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.memory_link
    ADD CONSTRAINT memory_link_space_id_from_id_to_id_relation_type_key UNIQUE (space_id, from_id, to_id, relation_type);


ALTER TABLE ONLY textrawl.merge
    ADD CONSTRAINT merge_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.merge
    ADD CONSTRAINT merge_space_id_merged_id_key UNIQUE (space_id, merged_id);


ALTER TABLE ONLY textrawl.merged
    ADD CONSTRAINT merged_pkey PRIMARY KEY (space_id, merge_id, id);


ALTER TABLE ONLY textrawl.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (name);


ALTER TABLE ONLY textrawl.observation
    ADD CONSTRAINT observation_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.proposal
    ADD CONSTRAINT proposal_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.recall
    ADD CONSTRAINT recall_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.recalled
    ADD CONSTRAINT recalled_pkey PRIMARY KEY (space_id, observation_id);


ALTER TABLE ONLY textrawl.reflection
    ADD CONSTRAINT reflection_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.relation
    ADD CONSTRAINT relation_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.retention
    ADD CONSTRAINT retention_pkey PRIMARY KEY (space_id, observation_id);


ALTER TABLE ONLY textrawl.revision
    ADD CONSTRAINT revision_pkey PRIMARY KEY (space_id, observation_id);


ALTER TABLE ONLY textrawl.search_statistics
    ADD CONSTRAINT search_statistics_pkey PRIMARY KEY (singleton);


ALTER TABLE ONLY textrawl.source
    ADD CONSTRAINT source_pkey PRIMARY KEY (space_id, document_id);


ALTER TABLE ONLY textrawl.space_grant
    ADD CONSTRAINT space_grant_pkey PRIMARY KEY (space_id, actor_id);


ALTER TABLE ONLY textrawl.space
    ADD CONSTRAINT space_name_key UNIQUE (name);


ALTER TABLE ONLY textrawl.space
    ADD CONSTRAINT space_pkey PRIMARY KEY (id);


ALTER TABLE ONLY textrawl.space_statistics
    ADD CONSTRAINT space_statistics_pkey PRIMARY KEY (space_id);


ALTER TABLE ONLY textrawl.token
    ADD CONSTRAINT token_hash_key UNIQUE (hash);


ALTER TABLE ONLY textrawl.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (id);


ALTER TABLE ONLY textrawl.undo
    ADD CONSTRAINT undo_pkey PRIMARY KEY (space_id, id);


ALTER TABLE ONLY textrawl.undone
    ADD CONSTRAINT undone_pkey PRIMARY KEY (space_id, undo_id, id, action);


ALTER TABLE ONLY textrawl.vector_index_claim
    ADD CONSTRAINT vector_index_claim_pkey PRIMARY KEY (singleton);


ALTER TABLE ONLY textrawl.word_form
    ADD CONSTRAINT word_form_pkey PRIMARY KEY (language, stem, other);


CREATE INDEX correction_created_idx ON textrawl.correction USING btree (space_id, created_at) WHERE (applied_at IS NULL);


CREATE INDEX correction_document_idx ON textrawl.correction USING btree (space_id, document_id);


CREATE INDEX document_changed_idx ON textrawl.document USING btree (space_id, changed);


CREATE INDEX document_entity_idx ON textrawl.document USING btree (space_id, entity_id) WHERE (entity_id IS NOT NULL);


CREATE INDEX embedding_1_vector_idx ON textrawl.embedding_1 USING hnsw (vector public.halfvec_cosine_ops) WITH (m='16', ef_construction='128');


CREATE UNIQUE INDEX embedding_model_status_idx ON textrawl.embedding_model USING btree (status) WHERE (status <> 'previous'::text);


CREATE INDEX embedding_pending_due_idx ON textrawl.embedding_pending USING btree (model_id, next_attempt);


CREATE INDEX entity_alias_entity_idx ON textrawl.entity_alias USING btree (space_id, entity_id);


CREATE UNIQUE INDEX entity_alias_key_idx ON textrawl.entity_alias USING btree (space_id, name_key) WHERE (removed_at IS NULL);


CREATE INDEX entity_alias_prefix_idx ON textrawl.entity_alias USING btree (space_id, name_key text_pattern_ops) WHERE (removed_at IS NULL);


CREATE INDEX entity_created_at_idx ON textrawl.entity USING btree (space_id, created_at, id);


CREATE INDEX entity_digest_idx ON textrawl.entity USING btree (space_id, entity_type, updated_at DESC, id) WHERE (entity_type = ANY (ARRAY['preference'::text, 'person'::text]));


CREATE INDEX entity_fts_idx ON textrawl.entity USING gin (fts) WITH (fastupdate=off);


CREATE INDEX entity_name_prefix_idx ON textrawl.entity USING btree (space_id, name_key text_pattern_ops);


CREATE INDEX entity_updated_at_idx ON textrawl.entity USING btree (space_id, updated_at DESC, id);


CREATE INDEX event_accepted_idx ON textrawl.event USING btree (space_id, at) WHERE (action = 'accepted'::text);


CREATE INDEX event_actor_idx ON textrawl.event USING btree (space_id, actor_id, at);


CREATE INDEX event_alias_idx ON textrawl.event USING btree (space_id, ((detail ->> 'alias'::text))) WHERE (detail ? 'alias'::text);


CREATE INDEX event_document_idx ON textrawl.event USING btree (space_id, ((detail ->> 'document'::text))) WHERE (detail ? 'document'::text);


CREATE INDEX event_entity_idx ON textrawl.event USING btree (space_id, entity_id);


CREATE INDEX event_feed_idx ON textrawl.event USING btree (space_id, transaction, id);


CREATE INDEX event_merge_idx ON textrawl.event USING btree (space_id, ((detail ->> 'merge'::text))) WHERE (detail ? 'merge'::text);


CREATE INDEX event_observation_idx ON textrawl.event USING btree (space_id, observation_id) WHERE (observation_id IS NOT NULL);


CREATE INDEX event_proposal_idx ON textrawl.event USING btree (space_id, ((detail ->> 'proposal'::text))) WHERE (detail ? 'proposal'::text);


CREATE INDEX event_relation_idx ON textrawl.event USING btree (space_id, relation_id) WHERE (relation_id IS NOT NULL);


CREATE INDEX event_replaced_idx ON textrawl.event USING btree (space_id, ((detail ->> 'replaced'::text))) WHERE (detail ? 'replaced'::text);


CREATE INDEX extraction_pending_next_idx ON textrawl.extraction_pending USING btree (next_attempt);


CREATE INDEX graph_change_entity_idx ON textrawl.graph_change USING btree (space_id, entity_id) WHERE (entity_id IS NOT NULL);


CREATE INDEX graph_change_relation_idx ON textrawl.graph_change USING btree (space_id, relation_id) WHERE (relation_id IS NOT NULL);


CREATE INDEX graph_node_deleted_idx ON textrawl.graph_node USING btree (space_id, deleted_at) WHERE (deleted_at IS NOT NULL);


CREATE INDEX graph_node_description_idx ON textrawl.graph_node USING btree (space_id, description_id) WHERE (description_id IS NOT NULL);


CREATE INDEX graph_node_label_idx ON textrawl.graph_node USING btree (space_id, label_key) WHERE (label_key IS NOT NULL);


CREATE INDEX identity_snapshot_created_idx ON textrawl.identity_snapshot USING btree (space_id, created_at DESC);


CREATE INDEX identity_snapshot_document_idx ON textrawl.identity_snapshot USING btree (space_id, document_id, version);


CREATE INDEX joint_use_other_idx ON textrawl.joint_use USING btree (space_id, other);


CREATE INDEX journal_entry_period_idx ON textrawl.journal_entry USING btree (space_id, granularity, date DESC);


CREATE INDEX lexeme_word_idx ON textrawl.lexeme USING btree (word, space_id) INCLUDE (frequency);


CREATE INDEX llm_use_actor_idx ON textrawl.llm_use USING btree (actor_id) WHERE (actor_id IS NOT NULL);


CREATE INDEX llm_use_at_idx ON textrawl.llm_use USING btree (space_id, at);


CREATE INDEX memory_link_to_idx ON textrawl.memory_link USING btree (space_id, to_id);


CREATE INDEX merge_kept_idx ON textrawl.merge USING btree (space_id, kept_id);


CREATE INDEX merged_id_idx ON textrawl.merged USING btree (space_id, id);


CREATE INDEX merged_twin_idx ON textrawl.merged USING btree (space_id, twin) WHERE (twin IS NOT NULL);


CREATE INDEX observation_entity_idx ON textrawl.observation USING btree (space_id, entity_id, content_hash);


CREATE INDEX observation_fts_idx ON textrawl.observation USING gin (fts) WITH (fastupdate=off);


CREATE INDEX observation_growth_idx ON textrawl.observation USING btree (space_id, created_at) INCLUDE (source, author_id, confidence, valid_until, replaced_by, id) WHERE ((relation_id IS NULL) AND (created_at >= '-infinity'::timestamp with time zone));


CREATE INDEX observation_ordinal_idx ON textrawl.observation USING btree (space_id, ordinal);


CREATE UNIQUE INDEX observation_relation_idx ON textrawl.observation USING btree (space_id, relation_id) WHERE (relation_id IS NOT NULL);


CREATE INDEX observation_replaced_by_idx ON textrawl.observation USING btree (space_id, replaced_by) WHERE (replaced_by IS NOT NULL);


CREATE INDEX observation_said_at_idx ON textrawl.observation USING btree (space_id, said_at);


CREATE INDEX observation_type_idx ON textrawl.observation USING btree (space_id, entity_type);


CREATE INDEX observation_valid_until_idx ON textrawl.observation USING btree (space_id, valid_until) WHERE (valid_until IS NOT NULL);


CREATE INDEX observation_whole_idx ON textrawl.observation USING btree (space_id, whole, part) WHERE (whole IS NOT NULL);


CREATE INDEX proposal_author_idx ON textrawl.proposal USING btree (space_id, author_id, created_at);


CREATE INDEX proposal_entity_idx ON textrawl.proposal USING btree (space_id, entity_key);


CREATE INDEX proposal_observation_idx ON textrawl.proposal USING btree (space_id, observation_id) WHERE (observation_id IS NOT NULL);


CREATE INDEX proposal_pending_idx ON textrawl.proposal USING btree (space_id, created_at, id) WHERE (decision IS NULL);


CREATE INDEX proposal_relation_idx ON textrawl.proposal USING btree (space_id, relation_id) WHERE (relation_id IS NOT NULL);


CREATE UNIQUE INDEX proposal_text_idx ON textrawl.proposal USING btree (space_id, author_id, kind, entity_key, given_hash) WHERE (decision IS NULL);


CREATE INDEX proposal_to_idx ON textrawl.proposal USING btree (space_id, to_key) WHERE (to_key IS NOT NULL);


CREATE INDEX recall_actor_idx ON textrawl.recall USING btree (actor_id) WHERE (actor_id IS NOT NULL);


CREATE INDEX recall_at_idx ON textrawl.recall USING btree (space_id, at);


CREATE INDEX reflection_entity_idx ON textrawl.reflection USING btree (space_id, entity_id) WHERE (entity_id IS NOT NULL);


CREATE INDEX reflection_fts_idx ON textrawl.reflection USING gin (fts) WITH (fastupdate=off);


CREATE INDEX reflection_relation_idx ON textrawl.reflection USING btree (space_id, relation_id) WHERE (relation_id IS NOT NULL);


CREATE INDEX relation_from_entity_idx ON textrawl.relation USING btree (space_id, from_entity);


CREATE UNIQUE INDEX relation_live_idx ON textrawl.relation USING btree (space_id, from_entity, relation_type, to_entity) WHERE (valid_until IS NULL);


CREATE INDEX relation_to_entity_idx ON textrawl.relation USING btree (space_id, to_entity);


CREATE INDEX retention_last_used_idx ON textrawl.retention USING btree (space_id, last_used DESC) WHERE (status = ANY (ARRAY['active'::text, 'promoted'::text]));


CREATE INDEX retention_status_idx ON textrawl.retention USING btree (space_id, status, ended_at) WHERE (status = ANY (ARRAY['archived'::text, 'removed'::text]));


CREATE INDEX retention_tags_idx ON textrawl.retention USING gin (tags) WITH (fastupdate=off);


CREATE INDEX source_hash_idx ON textrawl.source USING btree (space_id, content_hash) WHERE (content_hash IS NOT NULL);


CREATE INDEX space_grant_actor_id_idx ON textrawl.space_grant USING btree (actor_id);


CREATE INDEX token_actor_id_idx ON textrawl.token USING btree (actor_id);


CREATE UNIQUE INDEX token_local_idx ON textrawl.token USING btree (actor_id) WHERE (kind = 'local'::text);


CREATE INDEX token_voucher_id_idx ON textrawl.token USING btree (voucher_id) WHERE (voucher_id IS NOT NULL);


CREATE INDEX undo_joint_idx ON textrawl.undo USING btree (joint) WHERE (joint IS NOT NULL);


CREATE INDEX undone_copy_idx ON textrawl.undone USING btree (((after ->> 'copy'::text))) WHERE (after ? 'copy'::text);


CREATE INDEX undone_id_idx ON textrawl.undone USING btree (space_id, id);


CREATE INDEX undone_names_idx ON textrawl.undone USING gin (names);


CREATE TRIGGER document_is_buried AFTER DELETE ON textrawl.document FOR EACH ROW EXECUTE FUNCTION textrawl.bury_document();


CREATE TRIGGER event_is_kept BEFORE DELETE OR UPDATE ON textrawl.event FOR EACH ROW EXECUTE FUNCTION textrawl.keep_events();


CREATE TRIGGER events_are_kept BEFORE TRUNCATE ON textrawl.event FOR EACH STATEMENT EXECUTE FUNCTION textrawl.keep_events();


CREATE TRIGGER fact_is_dated BEFORE INSERT ON textrawl.observation FOR EACH ROW WHEN ((new.said_at IS NULL)) EXECUTE FUNCTION textrawl.date_fact();


CREATE TRIGGER fact_is_numbered BEFORE INSERT ON textrawl.observation FOR EACH ROW WHEN ((new.ordinal IS NULL)) EXECUTE FUNCTION textrawl.number_fact();


CREATE TRIGGER relation_is_stated AFTER INSERT ON textrawl.relation REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION textrawl.state_relations();


CREATE TRIGGER relation_was_changed AFTER UPDATE ON textrawl.relation REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION textrawl.update_statements();


ALTER TABLE ONLY textrawl.chunk
    ADD CONSTRAINT chunk_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES textrawl.observation(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.consolidation
    ADD CONSTRAINT consolidation_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.correction
    ADD CONSTRAINT correction_author_id_fkey FOREIGN KEY (author_id) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.correction
    ADD CONSTRAINT correction_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES textrawl.source(space_id, document_id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.decay_policy
    ADD CONSTRAINT decay_policy_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.document_clock
    ADD CONSTRAINT document_clock_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id);


ALTER TABLE ONLY textrawl.document_rebuild
    ADD CONSTRAINT document_rebuild_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.document
    ADD CONSTRAINT document_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES textrawl.entity(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.document
    ADD CONSTRAINT document_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id);


ALTER TABLE ONLY textrawl.document_tombstone
    ADD CONSTRAINT document_tombstone_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id);


ALTER TABLE ONLY textrawl.document_version
    ADD CONSTRAINT document_version_author_id_fkey FOREIGN KEY (author_id) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.document_version
    ADD CONSTRAINT document_version_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES textrawl.document(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.embedding_1
    ADD CONSTRAINT embedding_1_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES textrawl.observation(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.embedding_pending
    ADD CONSTRAINT embedding_pending_model_id_fkey FOREIGN KEY (model_id) REFERENCES textrawl.embedding_model(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.embedding_pending
    ADD CONSTRAINT embedding_pending_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES textrawl.observation(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.entity_alias
    ADD CONSTRAINT entity_alias_author_id_fkey FOREIGN KEY (author_id) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.entity_alias
    ADD CONSTRAINT entity_alias_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES textrawl.entity(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.entity
    ADD CONSTRAINT entity_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id);


ALTER TABLE ONLY textrawl.entity_use
    ADD CONSTRAINT entity_use_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES textrawl.entity(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.event
    ADD CONSTRAINT event_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.event
    ADD CONSTRAINT event_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id);


ALTER TABLE ONLY textrawl.extraction_pending
    ADD CONSTRAINT extraction_pending_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES textrawl.document(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.extraction_total
    ADD CONSTRAINT extraction_total_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.graph_change
    ADD CONSTRAINT graph_change_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES textrawl.entity(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.graph_change
    ADD CONSTRAINT graph_change_space_id_relation_id_fkey FOREIGN KEY (space_id, relation_id) REFERENCES textrawl.relation(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.graph_edge
    ADD CONSTRAINT graph_edge_space_id_relation_id_fkey FOREIGN KEY (space_id, relation_id) REFERENCES textrawl.relation(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.graph_node
    ADD CONSTRAINT graph_node_space_id_description_id_fkey FOREIGN KEY (space_id, description_id) REFERENCES textrawl.observation(space_id, id) ON DELETE SET NULL (description_id);


ALTER TABLE ONLY textrawl.graph_node
    ADD CONSTRAINT graph_node_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES textrawl.entity(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.identity_snapshot
    ADD CONSTRAINT identity_snapshot_space_id_document_id_version_fkey FOREIGN KEY (space_id, document_id, version) REFERENCES textrawl.document_version(space_id, document_id, version) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.instance
    ADD CONSTRAINT instance_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id);


ALTER TABLE ONLY textrawl.joint_use
    ADD CONSTRAINT joint_use_space_id_one_fkey FOREIGN KEY (space_id, one) REFERENCES textrawl.entity(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.joint_use
    ADD CONSTRAINT joint_use_space_id_other_fkey FOREIGN KEY (space_id, other) REFERENCES textrawl.entity(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.journal_entry
    ADD CONSTRAINT journal_entry_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES textrawl.document(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.lexeme
    ADD CONSTRAINT lexeme_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.llm_use
    ADD CONSTRAINT llm_use_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES textrawl.actor(id) ON DELETE SET NULL;


ALTER TABLE ONLY textrawl.llm_use
    ADD CONSTRAINT llm_use_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.memory_link
    ADD CONSTRAINT memory_link_space_id_from_id_fkey FOREIGN KEY (space_id, from_id) REFERENCES textrawl.observation(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.merge
    ADD CONSTRAINT merge_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.merge
    ADD CONSTRAINT merge_space_id_kept_id_fkey FOREIGN KEY (space_id, kept_id) REFERENCES textrawl.entity(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.merged
    ADD CONSTRAINT merged_space_id_merge_id_fkey FOREIGN KEY (space_id, merge_id) REFERENCES textrawl.merge(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.observation
    ADD CONSTRAINT observation_author_id_fkey FOREIGN KEY (author_id) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.observation
    ADD CONSTRAINT observation_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES textrawl.entity(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.observation
    ADD CONSTRAINT observation_space_id_relation_id_fkey FOREIGN KEY (space_id, relation_id) REFERENCES textrawl.relation(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.observation
    ADD CONSTRAINT observation_space_id_replaced_by_fkey FOREIGN KEY (space_id, replaced_by) REFERENCES textrawl.observation(space_id, id) ON DELETE SET NULL (replaced_by);


ALTER TABLE ONLY textrawl.proposal
    ADD CONSTRAINT proposal_author_id_fkey FOREIGN KEY (author_id) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.proposal
    ADD CONSTRAINT proposal_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.proposal
    ADD CONSTRAINT proposal_model_id_fkey FOREIGN KEY (model_id) REFERENCES textrawl.embedding_model(id) ON DELETE SET NULL;


ALTER TABLE ONLY textrawl.proposal
    ADD CONSTRAINT proposal_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id);


ALTER TABLE ONLY textrawl.recall
    ADD CONSTRAINT recall_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES textrawl.actor(id) ON DELETE SET NULL;


ALTER TABLE ONLY textrawl.recall
    ADD CONSTRAINT recall_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.recalled
    ADD CONSTRAINT recalled_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES textrawl.observation(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.reflection
    ADD CONSTRAINT reflection_author_id_fkey FOREIGN KEY (author_id) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.reflection
    ADD CONSTRAINT reflection_model_id_fkey FOREIGN KEY (model_id) REFERENCES textrawl.embedding_model(id) ON DELETE SET NULL;


ALTER TABLE ONLY textrawl.reflection
    ADD CONSTRAINT reflection_space_id_entity_id_fkey FOREIGN KEY (space_id, entity_id) REFERENCES textrawl.entity(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.reflection
    ADD CONSTRAINT reflection_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id);


ALTER TABLE ONLY textrawl.reflection
    ADD CONSTRAINT reflection_space_id_relation_id_fkey FOREIGN KEY (space_id, relation_id) REFERENCES textrawl.relation(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.relation
    ADD CONSTRAINT relation_author_id_fkey FOREIGN KEY (author_id) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.relation
    ADD CONSTRAINT relation_space_id_from_entity_fkey FOREIGN KEY (space_id, from_entity) REFERENCES textrawl.entity(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.relation
    ADD CONSTRAINT relation_space_id_to_entity_fkey FOREIGN KEY (space_id, to_entity) REFERENCES textrawl.entity(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.retention
    ADD CONSTRAINT retention_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES textrawl.observation(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.revision
    ADD CONSTRAINT revision_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.revision
    ADD CONSTRAINT revision_space_id_observation_id_fkey FOREIGN KEY (space_id, observation_id) REFERENCES textrawl.observation(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.source
    ADD CONSTRAINT source_space_id_document_id_fkey FOREIGN KEY (space_id, document_id) REFERENCES textrawl.document(space_id, id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.space_grant
    ADD CONSTRAINT space_grant_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES textrawl.actor(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.space_grant
    ADD CONSTRAINT space_grant_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.space_statistics
    ADD CONSTRAINT space_statistics_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.token
    ADD CONSTRAINT token_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES textrawl.actor(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.token
    ADD CONSTRAINT token_home_space_id_fkey FOREIGN KEY (home_space_id) REFERENCES textrawl.space(id) ON DELETE SET NULL;


ALTER TABLE ONLY textrawl.token
    ADD CONSTRAINT token_voucher_id_fkey FOREIGN KEY (voucher_id) REFERENCES textrawl.token(id) ON DELETE CASCADE;


ALTER TABLE ONLY textrawl.undo
    ADD CONSTRAINT undo_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.undo
    ADD CONSTRAINT undo_author_id_fkey FOREIGN KEY (author_id) REFERENCES textrawl.actor(id);


ALTER TABLE ONLY textrawl.undo
    ADD CONSTRAINT undo_space_id_fkey FOREIGN KEY (space_id) REFERENCES textrawl.space(id);


ALTER TABLE ONLY textrawl.undone
    ADD CONSTRAINT undone_space_id_undo_id_fkey FOREIGN KEY (space_id, undo_id) REFERENCES textrawl.undo(space_id, id) ON DELETE CASCADE;


ALTER TABLE textrawl.chunk ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.consolidation ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.correction ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.decay_policy ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.document ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.document_clock ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.document_rebuild ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.document_tombstone ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.document_version ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.embedding_1 ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.embedding_pending ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.entity ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.entity_alias ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.entity_use ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.event ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.extraction_pending ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.extraction_total ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.graph_change ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.graph_edge ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.graph_node ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.identity_snapshot ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.instance ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.joint_use ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.journal_entry ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.lexeme ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.llm_use ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.memory_link ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.merge ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.merged ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.observation ENABLE ROW LEVEL SECURITY;

CREATE POLICY owner ON textrawl.chunk TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.consolidation TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.correction TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.decay_policy TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.document TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.document_clock TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.document_rebuild TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.document_tombstone TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.document_version TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.embedding_1 TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.embedding_pending TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.entity TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.entity_alias TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.entity_use TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.event TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.extraction_pending TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.extraction_total TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.graph_change TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.graph_edge TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.graph_node TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.identity_snapshot TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.instance TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.joint_use TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.journal_entry TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.lexeme TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.llm_use TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.memory_link TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.merge TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.merged TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.observation TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.proposal TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.recall TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.recalled TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.reflection TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.relation TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.retention TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.revision TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.source TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.space TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.space_grant TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.space_statistics TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.token TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.undo TO textrawl_owner USING (true) WITH CHECK (true);


CREATE POLICY owner ON textrawl.undone TO textrawl_owner USING (true) WITH CHECK (true);


ALTER TABLE textrawl.proposal ENABLE ROW LEVEL SECURITY;

CREATE POLICY proposals ON textrawl.event AS RESTRICTIVE FOR SELECT TO textrawl_analyst USING (((NOT (detail ? 'proposal'::text)) OR (action = 'accepted'::text) OR (space_id = ANY (( SELECT textrawl.session_reviews() AS session_reviews)::integer[]))));


CREATE POLICY proposals ON textrawl.undone AS RESTRICTIVE FOR SELECT TO textrawl_analyst USING (((kind <> 'proposal'::text) OR (space_id = ANY (( SELECT textrawl.session_reviews() AS session_reviews)::integer[]))));


CREATE POLICY readers ON textrawl.chunk FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.consolidation FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.correction FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.decay_policy FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.document FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.document_clock FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.document_rebuild FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.document_tombstone FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.document_version FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.embedding_1 FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.embedding_pending FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.entity FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.entity_alias FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.entity_use FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.event FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.extraction_pending FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.extraction_total FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.graph_change FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.graph_edge FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.graph_node FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.identity_snapshot FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.instance FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.joint_use FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.journal_entry FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.lexeme FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.llm_use FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.memory_link FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.merge FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.merged FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.observation FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.proposal FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_reviews() AS session_reviews)::integer[])));


CREATE POLICY readers ON textrawl.recall FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.recalled FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.reflection FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.relation FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.retention FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.revision FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.source FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.space FOR SELECT USING ((id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.space_grant FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.space_statistics FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.undo FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


CREATE POLICY readers ON textrawl.undone FOR SELECT USING ((space_id = ANY (( SELECT textrawl.session_spaces() AS session_spaces)::integer[])));


ALTER TABLE textrawl.recall ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.recalled ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.reflection ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.relation ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.retention ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.revision ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.source ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.space ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.space_grant ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.space_statistics ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.token ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.undo ENABLE ROW LEVEL SECURITY;

ALTER TABLE textrawl.undone ENABLE ROW LEVEL SECURITY;


