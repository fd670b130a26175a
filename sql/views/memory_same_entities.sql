create view textrawl.memory_same_entities with (security_invoker) as
select * from textrawl.find_same_entities(max_rows => 200);

comment on view textrawl.memory_same_entities is 'Pairs of entities that can be one entity under two names. '
    'Nothing is merged before somebody calls merge_entities(). '
    'Example: select entity_name, other_name, score from textrawl.memory_same_entities limit 20;';
comment on column textrawl.memory_same_entities.space is 'Name of the space.';
comment on column textrawl.memory_same_entities.entity_id is 'Id of the entity with more facts, the one to keep.';
comment on column textrawl.memory_same_entities.entity_name is 'Name of this entity.';
comment on column textrawl.memory_same_entities.entity_type is 'Type of this entity.';
comment on column textrawl.memory_same_entities.facts is 'Number of its valid facts.';
comment on column textrawl.memory_same_entities.other_id is 'Id of the other entity.';
comment on column textrawl.memory_same_entities.other_name is 'Name of the other entity.';
comment on column textrawl.memory_same_entities.other_type is 'Type of the other entity.';
comment on column textrawl.memory_same_entities.other_facts is 'Number of valid facts of the other entity.';
comment on column textrawl.memory_same_entities.score is 'How likely the two are one entity, from 0 to 1.';
comment on column textrawl.memory_same_entities.name_score is 'How alike the names are, from 0 to 1: see name_likeness().';
comment on column textrawl.memory_same_entities.shared_facts is 'Number of valid facts that both entities have.';
comment on column textrawl.memory_same_entities.shared_relations is 'Number of valid relations of the same type that connect both with the same entity.';
comment on column textrawl.memory_same_entities.cosine is 'Cosine of the mean vectors of their newest facts. Null: an entity has no vectors.';
