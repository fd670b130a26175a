-- Facts are stored many at once, each step in one statement for all of them.
create type new_fact as (
    id uuid, entity_id uuid, entity_name text, entity_type text, content text, content_hash uuid,
    source text, confidence real, valid_until timestamptz, replaces text, vector halfvec
);
comment on type new_fact is 'A fact that is about to be stored, of an entity that is claimed: made by read_facts().';
comment on column new_fact.id is 'Its id, if it is stored.';
comment on column new_fact.entity_id is 'The entity it is about.';
comment on column new_fact.entity_name is 'The name of that entity: a fact is found by it as well.';
comment on column new_fact.entity_type is 'The type of that entity, which an existing one keeps.';
comment on column new_fact.content is 'What it says.';
comment on column new_fact.content_hash is 'md5 of fact_key(content).';
comment on column new_fact.source is 'conversation, note, document, manual.';
comment on column new_fact.confidence is 'From 0 to 1.';
comment on column new_fact.valid_until is 'From this instant on it is not valid; null: valid until it is replaced.';
comment on column new_fact.replaces is 'The fact whose place it takes, by id, the front of one, or text; null: none.';
comment on column new_fact.vector is 'Its vector by the active model; null: there is none yet.';
