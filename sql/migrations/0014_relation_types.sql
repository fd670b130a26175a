-- worksAt, works-at and works_at become one type of relation.

create temporary table keyed on commit drop as
select r.space_id, r.id, r.valid_until is null as live, k.key, row_number() over (
    partition by r.space_id, r.from_entity, k.key, r.to_entity, r.valid_until is null
    order by r.relation_type <> k.key, r.created_at, r.id) as place
from relation r
cross join lateral (
    select regexp_replace(regexp_replace(coalesce(r.label, r.relation_type), '([a-z0-9])([A-Z])', '\1 \2', 'g'),
                          '([A-Z])([A-Z][a-z])', '\1 \2', 'g') as words) split
cross join lateral (
    select left(coalesce(nullif(btrim(lower(regexp_replace(words, '(?:->|[-_\s→\\\u2010-\u2013])+', '_', 'g')), '_'), ''), r.relation_type), 100)
        as key) k;
-- Two relations of one type between the same entities say the same, so the later one ends.
update relation r set valid_until = now(), closed_at = now()
from keyed k where r.space_id = k.space_id and r.id = k.id and k.live and k.place > 1;
update relation r set relation_type = k.key, label = coalesce(r.label, r.relation_type)
from keyed k where r.space_id = k.space_id and r.id = k.id and r.relation_type <> k.key;

comment on column relation.relation_type is 'Type of the relation as relation_key() writes it, such as works_at.';
comment on column relation.label is 'Type as it is shown, such as worksAt or works-at. Null: it is shown as relation_type.';
