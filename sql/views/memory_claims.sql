create view textrawl.memory_claims with (security_invoker) as
select s.name as space, o.id, e.name as entity_name, coalesce(o.claim ->> 'topic', o.claim ->> 'sole') as topic, o.claim ->> 'predicate' as predicate,
       array_to_string(array(select jsonb_array_elements_text(o.claim -> 'items')), ' ') as value,
       o.claim ? 'negative' as negative, case when o.claim ? 'event' then 'event' else 'state' end as kind,
       o.claim #>> '{ends,by}' as ends, o.valid_from, o.valid_until
from textrawl.fact o
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = o.space_id and s.tier is null
where o.claim is not null;

comment on view textrawl.memory_claims is 'What each fact claims, as it was read when the fact was stored.';
comment on column textrawl.memory_claims.space is 'Name of the space.';
comment on column textrawl.memory_claims.id is 'Id of the fact.';
comment on column textrawl.memory_claims.entity_name is 'Name of the entity.';
comment on column textrawl.memory_claims.topic is
    'What the fact states about its entity, such as home or the capital of france is: an entity has one value of it at a time. Null: several values can be true.';
comment on column textrawl.memory_claims.predicate is 'Kind of the verb, as in claim_words(), or v: and its stem.';
comment on column textrawl.memory_claims.value is 'Stems of the value, in the order of the text; # before a number, % before a part of a date.';
comment on column textrawl.memory_claims.negative is 'True if the fact denies it.';
comment on column textrawl.memory_claims.kind is 'event (each counts) or state (the last counts).';
comment on column textrawl.memory_claims.ends is 'Words that say that something is over, such as sold; null if there are none.';
comment on column textrawl.memory_claims.valid_from is 'Time from which the fact is valid.';
comment on column textrawl.memory_claims.valid_until is 'Time at which the fact ends or ended; null if it has no end.';
