create function textrawl.claim_namespace(
    labels text[], space integer,
    appending boolean default false  -- true: no other session appends to its log or removes from it until the transaction ends
) returns uuid
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    id uuid;
begin
    -- The index of the table takes at most 2,700 bytes.
    if coalesce(cardinality(labels), 0) not between 1 and 100 or array_ndims(labels) <> 1
       or exists (select from unnest(labels) label where coalesce(char_length(label), 0) not between 1 and 500)
       or octet_length(array_to_string(labels, '')) + 8 * cardinality(labels) > 2400 then
        raise exception using errcode = 'TR103', message = 'not a namespace', detail = left(to_json(labels)::text, 100);
    end if;
    loop
        if appending then
            select n.id into id from item_namespace n where n.space_id = space and n.labels = labels for no key update;
        else
            select n.id into id from item_namespace n where n.space_id = space and n.labels = labels for key share;
        end if;
        if id is not null then
            return id;
        end if;
        insert into item_namespace (space_id, labels) values (space, labels) on conflict do nothing;
    end loop;
end
$$;

comment on function textrawl.claim_namespace is
    'Find or create a namespace, and keep it until the transaction ends. Error TR103: not 1 to 100 labels of 1 to 500 '
    'characters, or more than 2,400 bytes.';
