-- Texts and types of relations are compared by the same rules on every way in.

-- worksAt, works-at and works_at become one type of relation.

create temporary table keyed on commit drop as
select r.space_id, r.id, r.valid_until is null as live, k.key, row_number() over (
    partition by r.space_id, r.from_entity, k.key, r.to_entity, r.valid_until is null
    order by r.relation_type <> k.key, r.created_at, r.id) as place
from relation r
cross join lateral (
    select case when given ~ '[-_\s\u2010-\u2013]' or given !~ '[a-z][A-Z]' then given
        else regexp_replace(regexp_replace(given, '([a-z])([A-Z])', '\1 \2', 'g'), '([A-Z])([A-Z][a-z])', '\1 \2', 'g')
        end as words
    from coalesce(r.label, r.relation_type) as given) split
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

-- Facts that differ in case or white space are different facts. The hash of each text is made anew, as fact_hash() does.
update observation o set content_hash = k.hash
from (select o.space_id, o.id, key.hash from observation o,
    lateral regexp_replace(regexp_replace(normalize(o.content, nfc), '^\s+|\s+$', '', 'g'), '(?<=[^\s./\\…])[.。．｡।॥۔።։။។]$', '') as text,
    lateral substring(text from '^\S+') as word,
    lateral normalize(lower(translate(normalize(word, nfd),
        'ØŁĐÆŒÞÐĦΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯІЄҐЂЈЉЊЋЏ',
        'øłđæœþðħαβγδεζηθικλμνξοπρστυφχψωабвгдежзиклмнопрстуфхцчшщъыьэюяієґђјљњћџ') collate "C"), nfc) as small,
    lateral (select md5(case when text ~ '^\S+\s+\S+\s+\S' and word !~ '[0-9]' and substr(small, 2) = substr(word, 2)
        then left(small, 1) || substr(text, 2) else text end)::uuid as hash) key) k
where o.space_id = k.space_id and o.id = k.id and o.content_hash <> k.hash;
update proposal p set content_hash = k.hash
from (select p.space_id, p.id, key.hash from proposal p,
    lateral regexp_replace(regexp_replace(normalize(p.content, nfc), '^\s+|\s+$', '', 'g'), '(?<=[^\s./\\…])[.。．｡।॥۔።։။។]$', '') as text,
    lateral substring(text from '^\S+') as word,
    lateral normalize(lower(translate(normalize(word, nfd),
        'ØŁĐÆŒÞÐĦΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯІЄҐЂЈЉЊЋЏ',
        'øłđæœþðħαβγδεζηθικλμνξοπρστυφχψωабвгдежзиклмнопрстуфхцчшщъыьэюяієґђјљњћџ') collate "C"), nfc) as small,
    lateral (select md5(case when text ~ '^\S+\s+\S+\s+\S' and word !~ '[0-9]' and substr(small, 2) = substr(word, 2)
        then left(small, 1) || substr(text, 2) else text end)::uuid as hash) key where p.kind = 'fact') k
where p.space_id = k.space_id and p.id = k.id and p.content_hash <> k.hash;
update undone u set before = u.before || jsonb_build_object('content_hash', k.hash)
from (select u.space_id, u.undo_id, u.id, u.action, key.hash from undone u,
    lateral regexp_replace(regexp_replace(normalize(u.before ->> 'content', nfc), '^\s+|\s+$', '', 'g'), '(?<=[^\s./\\…])[.。．｡।॥۔።։။។]$', '') as text,
    lateral substring(text from '^\S+') as word,
    lateral normalize(lower(translate(normalize(word, nfd),
        'ØŁĐÆŒÞÐĦΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯІЄҐЂЈЉЊЋЏ',
        'øłđæœþðħαβγδεζηθικλμνξοπρστυφχψωабвгдежзиклмнопрстуфхцчшщъыьэюяієґђјљњћџ') collate "C"), nfc) as small,
    lateral (select md5(case when text ~ '^\S+\s+\S+\s+\S' and word !~ '[0-9]' and substr(small, 2) = substr(word, 2)
        then left(small, 1) || substr(text, 2) else text end)::uuid as hash) key where u.before ? 'content_hash') k
where u.space_id = k.space_id and u.undo_id = k.undo_id and u.id = k.id and u.action = k.action;
comment on column observation.content_hash is 'md5 of fact_key(content). Texts with the same hash are the same fact.';

-- Servers make the search documents anew: with the types of entities, names such as C++, and other spellings of codes.
insert into document_rebuild (space_id, former_languages)
select s.id, array[s.language] from space s where exists (select from observation o where o.space_id = s.id)
on conflict do nothing;
