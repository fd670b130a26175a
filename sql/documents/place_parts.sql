create function textrawl.place_parts(document uuid, origin textrawl.origin) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    home    integer := origin.space_id;
    subject record;
    numbers integer[];
    texts   text[];
    gone    uuid[];
    former  jsonb;  -- the origins of the parts that are gone, by their numbers
    missing integer[];
    added   uuid[];
begin
    select d.kind, d.entity_id, document_names(home, e.id) as names, e.entity_type, v.content, v.attributes,
        coalesce(lower(j.period)::timestamp at time zone 'UTC', v.modified_at, d.created_at) as said_at,
        case when s.document_id is null or s.source_kind = 'clip' then 'note'
            when s.source_kind = 'file' then 'document' else 'conversation' end as source
    into subject
    from document d
    join entity e on e.space_id = home and e.id = d.entity_id
    left join journal_entry j on j.space_id = home and j.document_id = d.id
    left join source s on s.space_id = home and s.document_id = d.id
    left join document_version v on v.space_id = home and v.document_id = d.id and v.version = d.version
    where d.space_id = home and d.id = place_parts.document;
    if not found then
        perform place_item(document, home);
        return;  -- an identity file or an item
    end if;
    select array_agg(p.part order by p.part), array_agg(p.text order by p.part) into numbers, texts
    from (select s.part, s.text from source_parts(subject.content, subject.attributes) s where subject.kind = 'source'
          union all
          select t.part, t.text from text_parts(subject.content) t where subject.kind <> 'source') p;
    -- Keep the parts that are the same, because their vectors are kept too.
    gone := array(
        select o.id from fact o
        where o.space_id = home and o.entity_id = subject.entity_id and o.whole = place_parts.document
          -- `not in` makes the planner use a hash table, however many parts there are.
          and (o.part, o.content) not in (select * from unnest(numbers, texts) p (part, text)));
    former := (select jsonb_object_agg(o.part, find_origin(o.origin, o.tool, o.client, o.source)) from fact o
               where o.space_id = home and o.id = any(gone));
    perform withdraw_words(home, gone);
    perform claim_rows(home, gone, '{}');
    delete from observation o where o.space_id = home and o.id = any(gone);
    missing := array(
        select p.part from unnest(numbers) p (part)
        except
        select o.part from fact o
        where o.space_id = home and o.entity_id = subject.entity_id and o.whole = place_parts.document);
    insert into observation as o (space_id, entity_id, entity_type, content, content_hash, whole, part, source, valid_from,
                                  author_id, client, tool, request, created_at, said_at, fts, origin)
    select home, subject.entity_id, subject.entity_type, p.text, fact_hash(p.text), place_parts.document, p.part::smallint,
        subject.source, clock_timestamp(), origin.author_id, origin.client, origin.tool, origin.request, clock_timestamp(),
        subject.said_at, search_document(home, space_language(home), subject.names, p.text),
        -- Only what the user wrote in a captured session is said by the user. A part keeps no better origin than its former text.
        case when subject.kind = 'source' then 'external' else least(former ->> p.part::text,
            case when origin.tool = 'textrawl capture' and p.text ~ '^(## [^\n]*\n+)?- user: ' and p.text !~ '\n- (?!user: )'
                      -- A part of a long line can look like the begin of one.
                      and strpos(E'\n' || subject.content, E'\n' || p.text) > 0 then 'said'
                else find_origin(null, origin.tool, origin.client, subject.source) end) end
    from unnest(numbers, texts) p (part, text)
    where p.part = any(missing) order by p.part;
    added := array(
        select o.id from fact o
        where o.space_id = home and o.entity_id = subject.entity_id and o.whole = place_parts.document and o.part = any(missing));
    perform store_embeddings(home, added, null, array_fill(null::halfvec, array[cardinality(added)]));
    if subject.kind = 'source' then
        perform place_chunks(home, place_parts.document, subject.content, subject.attributes);
    end if;
    update entity e set updated_at = clock_timestamp() where e.space_id = home and e.id = subject.entity_id;
end
$$;

comment on function textrawl.place_parts is
    'Make the facts of a journal entry, the chunks of a source, or the row of an item equal to its current text: delete the parts that are '
    'no longer in it, and store the new ones. Their vectors are pending. Call claim_removal() and lock the entity first.';
