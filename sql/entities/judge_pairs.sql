create function textrawl.judge_pairs(space_ids integer[], chosen uuid, max_rows integer) returns table (
    space text,
    entity_id uuid, entity_name text, entity_type text, facts bigint,  -- the entity with more facts, to keep
    other_id uuid, other_name text, other_type text, other_facts bigint,
    score double precision,  -- from 0 to 1
    name_score double precision, shared_facts bigint, shared_relations bigint,
    cosine double precision  -- of the means of their newest vectors; null without vectors
)
language plpgsql stable rows 20
set search_path from current
as $$
#variable_conflict use_column
declare
    model   integer := (select m.id from embedding_model m where m.status = 'active');
    pair    record;
begin
    for pair in
        with pair as materialized (
            select p.* from name_pairs(space_ids) p where chosen is null
            union all
            select p.* from pairs_of(space_ids, chosen) p where chosen is not null
        ), named as materialized (
            -- The form of a name is made once for all its pairs.
            select e.space_id, e.id, e.created_at, f.* from local_entities() e cross join lateral name_form(e.name) f
            where (e.space_id, e.id) in (
                select p.space_id, p.one from pair p union select p.space_id, p.other from pair p)
        ), likely as (
            select p.space_id, p.one, p.other, p.shared_facts, c.likeness, a.created_at <= b.created_at as older
            from pair p
            join named a on a.space_id = p.space_id and a.id = p.one
            join named b on b.space_id = p.space_id and b.id = p.other
            cross join lateral compare_forms(a.words, b.words, a.squeezed, b.squeezed, a.short, b.short,
                a.numbers, b.numbers, a.trigrams, b.trigrams) c
            where not exists (select from dismissal d where d.space_id = p.space_id and d.kind = 'same'
                                and d.one = least(p.one, p.other) and d.other = greatest(p.one, p.other))
            order by coalesce(c.likeness, 0) + least(p.shared_facts, 3) * 0.3 desc, p.one, p.other
            limit greatest(judge_pairs.max_rows * 2, 200)
        ), sized as (
            select l.*, (select count(*) from fact o where o.space_id = l.space_id and o.entity_id = l.one
                           and is_valid(o.valid_from, o.valid_until, o.closed_at)) as facts,
                (select count(*) from fact o where o.space_id = l.space_id and o.entity_id = l.other
                   and is_valid(o.valid_from, o.valid_until, o.closed_at)) as other_facts,
                (select count(*) from (
                    select x.other, x.relation_type from live_edges(l.space_id, l.one) x
                    intersect select x.other, x.relation_type from live_edges(l.space_id, l.other) x) shared) as shared_relations
            from likely l
            -- The name of the entity of a document belongs to the document.
            where not exists (select from document d where d.space_id = l.space_id and d.entity_id in (l.one, l.other))
        )
        select s.*, facts > other_facts or facts = other_facts and older as ordered from sized s
    loop
        space := (select s.name from space s where s.id = pair.space_id);
        select e.id, e.name, free_type(e.entity_type, e.metadata), pair.facts, o.id, o.name, free_type(o.entity_type, o.metadata),
            pair.other_facts, case when e.type_guessed or o.type_guessed or e.entity_type = o.entity_type then 1 else 0.8 end
        into entity_id, entity_name, entity_type, facts, other_id, other_name, other_type, other_facts, score
        from entity e, entity o
        where e.space_id = pair.space_id and o.space_id = pair.space_id
          and e.id = case when pair.ordered then pair.one else pair.other end
          and o.id = case when pair.ordered then pair.other else pair.one end;
        facts := greatest(pair.facts, pair.other_facts); other_facts := least(pair.facts, pair.other_facts);
        name_score := coalesce(pair.likeness, 0); shared_facts := pair.shared_facts; shared_relations := pair.shared_relations;
        cosine := 1 - (
            (select avg(v.vector) from (
                select o.id from fact o where o.space_id = pair.space_id and o.entity_id = pair.one order by o.ordinal desc limit 20) o
             join embedding v on v.model_id = model and v.space_id = pair.space_id and v.observation_id = o.id)
            <=> (select avg(v.vector) from (
                select o.id from fact o where o.space_id = pair.space_id and o.entity_id = pair.other order by o.ordinal desc limit 20) o
             join embedding v on v.model_id = model and v.space_id = pair.space_id and v.observation_id = o.id));
        score := score * (1 - (1 - 0.9 * name_score) * (1 - 0.8 * shared_facts / greatest(other_facts, shared_facts, 1))
            * (1 - 0.4 * shared_relations / (shared_relations + 1.0)) * (1 - 0.3 * greatest(coalesce(cosine, 0) - 0.5, 0)));
        return next;
    end loop;
end
$$;

comment on function textrawl.judge_pairs is
    'The likeliest pairs of name_pairs(), or of pairs_of() if an entity is chosen, with their scores. '
    'find_same_entities() describes the columns.';
