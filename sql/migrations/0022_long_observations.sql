-- Observations of the graph tools that are longer than a fact: kept as facts, joined again by those tools.
-- And relations of an entity to itself, which the reference memory server knows.

alter table observation
    add column whole uuid,
    add column part smallint,
    add check ((whole is null) = (part is null) and part > 0);
comment on column observation.whole is 'md5 of the longer text that the graph tools were given, of which this is a part; null: it stands for itself.';
comment on column observation.part is 'Which part of that text it is, from 1; the parts of an entity with the same whole, one after the other, are the text.';

alter table relation drop constraint relation_check;
comment on column relation.to_entity is 'The entity that it leads to; the graph tools may relate an entity to itself.';
comment on column recall.tokens is 'Tokens that count against the budget: of all channels together, of the graph tools those of the larger.';
