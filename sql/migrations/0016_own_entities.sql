-- The entity that each actor is.

create table own_entity (
    space_id  integer not null references space,
    actor_id  integer not null references actor on delete cascade,
    entity_id uuid not null,
    primary key (space_id, actor_id)
);
comment on table own_entity is 'The entity that an actor is in a space. In questions of the actor, words such as I and my mean this entity.';
comment on column own_entity.space_id is 'Space of the entity.';
comment on column own_entity.actor_id is 'Actor whose entity it is.';
comment on column own_entity.entity_id is 'Id of the entity when it was chosen. After a merge the alias with this id has its facts. It is not a key, because an undo can remove the entity and restore it.';
create index own_entity_actor_id_idx on own_entity (actor_id);
create index own_entity_entity_id_idx on own_entity (space_id, entity_id);
