create function textrawl.import_facts(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,    -- id of the fact in this memory
    outcome text    -- added, known (by id, or a valid fact has the same text), another (this id has another text here),
                    -- homeless (its entity is missing), undone (an undo keeps the fact) or reviewed (the space
                    -- reviews external facts)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    perform register_actors(array(select g.author from jsonb_to_recordset(lines) g(author text)));
    -- Lock the entities in the order of names, like every writer, so that no session stores the same text meanwhile.
    perform from entity e
    where (e.space_id, e.id) in (select g.space, g.entity from jsonb_to_recordset(lines) g(space integer, entity uuid))
    order by e.space_id, e.name_key for no key update;
    return query
    with input as materialized (
        select line, g.*, fact_hash(g.text) as hash, a.id as author_id, e.name, e.entity_type,
            is_valid(g.valid_from, g.valid_until, g.closed_at) as valid,
            -- In exports of the first versions, each fact began when it was stored.
            case when g.valid_from = g.created_at then coalesce(least(g.said_at, g.valid_from), g.valid_from) else g.valid_from end as begins
        from jsonb_array_elements(lines) line
        cross join lateral jsonb_to_record(line) g(
            place integer, space integer, id uuid, entity uuid, text text, valid_from timestamptz, valid_until timestamptz,
            closed_at timestamptz, author text, created_at timestamptz, said_at timestamptz, whole uuid, part smallint, repository text)
        join actor a on a.name = g.author
        left join entity e on e.space_id = g.space and e.id = g.entity
    ), matched as materialized (
        select g.*, same.content_hash as their_hash, duplicate.id as duplicate,
            row_number() over own as turn, first_value(g.hash) over own as first_hash,
            exists (select from undone d where d.space_id = g.space and d.id = g.id and d.action = 'remove') as undone
        from input g
        left join observation same on same.space_id = g.space and same.id = g.id
        left join lateral (
            select o.id from fact o
            where g.valid and o.space_id = g.space and o.entity_id = g.entity and o.content_hash = g.hash
              and (o.whole, o.part, o.repository) is not distinct from (g.whole, g.part, g.repository)
              and is_valid(o.valid_from, o.valid_until, o.closed_at)
              and is_repetition(o.valid_from, o.created_at, g.begins, g.created_at)
            order by o.created_at, o.id limit 1) duplicate on true
        window own as (partition by g.space, g.id order by g.place)
    ), decided as materialized (
        select s.*,
            case
                when s.name is null then 'homeless'
                when coalesce(s.their_hash, s.first_hash) <> s.hash then 'another'
                when s.their_hash is not null or s.turn > 1 then 'known'
                when s.undone then 'undone'
                when s.duplicate is not null then 'known'
                when find_origin(s.line ->> 'origin', s.line ->> 'tool', s.line ->> 'client', s.line ->> 'source') = 'external'
                    and exists (select from space where space.id = s.space and external_reviewed) then 'reviewed'
                else 'added'
            end as outcome
        from matched s
    ), deduplicated as materialized (
        -- Two lines of one batch can have the same text. Store only the first.
        select j.*,
            case when j.outcome = 'added' and j.valid
                then first_value(j.id) over (
                    partition by j.space, j.entity, j.hash, j.whole, j.part, j.repository, j.valid, j.outcome,
                        case when j.begins <> j.created_at then (j.begins at time zone 'UTC')::date end
                    order by j.place)
                else j.id end as first
        from decided j
    ), inserted as (
        -- Do not call store_facts() here, because these rows already have authors and times.
        insert into observation
        select fresh.*
        from deduplicated s
        -- The other columns have the same names in a line.
        cross join lateral jsonb_populate_record(null::observation, s.line || jsonb_build_object(
            'space_id', s.space, 'entity_id', s.entity, 'entity_type', s.entity_type, 'content', s.text, 'content_hash', s.hash,
            'valid_from', s.begins, 'valid_until', case when s.valid_until = s.valid_from then s.begins else s.valid_until end,
            'closed_at', coalesce(s.closed_at, past_end(s.valid_until)), 'author_id', s.author_id,
            'said_at', coalesce(s.said_at, s.created_at),
            -- If a fact was said when it was stored, leave the words of the date out of its search document. A fact of
            -- remember_fact has the same search document.
            'fts', search_document(
                s.space, space_language(s.space), document_names(s.space, s.entity), s.text, nullif(s.said_at, s.created_at)))) fresh
        where s.outcome = 'added' and s.first = s.id
        order by s.place
        returning space_id, id, entity_id, created_at
    ), pending as (
        insert into embedding_pending (space_id, observation_id, model_id)
        select m.space_id, m.id, e.id from inserted m cross join embedding_model e
    ), touched as (
        update entity e set updated_at = latest.at
        from (select m.space_id, m.entity_id, max(m.created_at) as at from inserted m group by 1, 2) latest
        where e.space_id = latest.space_id and e.id = latest.entity_id and e.updated_at < latest.at
    )
    select s.place,
        case when s.outcome = 'known' and s.their_hash is null and s.turn = 1 then s.duplicate else s.first end,
        case when s.first <> s.id then 'known' else s.outcome end
    from deduplicated s;
end
$$;

comment on function textrawl.import_facts is
    'Import the facts of an export, without replaced_by. import_replacements() sets replaced_by later. Error TR013: '
    'not the owner.';
