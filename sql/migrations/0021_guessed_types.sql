-- relate_entities creates entities whose type nobody said: the first type that is said takes its place.

alter table entity add column type_guessed boolean not null default false;
comment on column entity.type_guessed is 'Whether nobody has said the type yet: the first type that is said takes its place.';
