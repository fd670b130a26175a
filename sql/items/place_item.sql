create function textrawl.place_item(
    document uuid, space integer,
    out text_id uuid, out text text  -- the text of which the vectors are made; null: there is none
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    subject record;
    words   text;
begin
    select i.key is not null as has_key, i.present, null::jsonb as fields, v.content, v.attributes, v.number, v.modified_at
    into subject
    from item i
    join document d on d.space_id = i.space_id and d.id = i.document_id
    left join document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where i.space_id = place_item.space and i.document_id = place_item.document;
    if not found then
        return;  -- an identity file
    end if;
    if subject.content is not null and subject.has_key then
        -- jsonb cannot hold U+0000, so it becomes U+FFFD. The escape counts only after an even number of backslashes.
        subject.fields := jsonb_build_object(
            'value', regexp_replace(subject.content, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::jsonb,
            'metadata', regexp_replace(
                subject.attributes ->> 'metadata', '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::jsonb);
        words := item_text(subject.fields -> 'value', subject.attributes -> 'index');
        -- No model makes a vector of a blank text. These are the blanks of Python.
        words := case when left(words, 2000) ~ '[^[:space:]\u001c-\u001f\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]' then words end;
    end if;
    update item i
    set present = subject.content is not null,
        created_at = case when subject.present then i.created_at else coalesce((
            select min(v.modified_at) from document_version v
            where v.space_id = i.space_id and v.document_id = i.document_id and not v.lost and v.number <= subject.number
              and v.number > coalesce((
                  select max(gone.number) from document_version gone
                  where gone.space_id = i.space_id and gone.document_id = i.document_id and gone.content is null
                    and gone.number < subject.number), 0)), i.created_at) end,
        updated_at = coalesce(subject.modified_at, i.updated_at),
        -- The time to live begins again, also if an undo brings the value back. An import has set its end.
        expires_at = case when subject.content is not null and subject.attributes ? 'ttl' then coalesce(
            case when not subject.present then i.expires_at end,
            clock_timestamp() + make_interval(secs => (subject.attributes ->> 'ttl')::double precision)) end,
        fields = subject.fields,
        fts = case when words is not null then item_document(i.space_id, space_language(i.space_id), words) end
    where i.space_id = place_item.space and i.document_id = place_item.document;
    delete from item_vector v where v.space_id = place_item.space and v.document_id = place_item.document;
    if words is not null then
        text_id := gen_random_uuid();
        text := left(words, 2000);
        insert into item_vector (space_id, document_id, model_id, text_id)
        select place_item.space, place_item.document, m.id, place_item.text_id from embedding_model m;
    end if;
end
$$;

comment on function textrawl.place_item is
    'Make the row of an item equal to its present value, after the value has changed. Return the text of which its vectors '
    'are made, which are pending. Nothing happens for other documents.';
