create function textrawl.import_links(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,
    outcome text    -- added, known (by id, or by its ends and its type), or homeless (the memory that it starts at is missing)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    return query
    with input as materialized (
        select g.*, exists (select from fact o where o.space_id = g.space and o.id = g.from_memory) as housed
        from jsonb_to_recordset(lines) g(
            place integer, space integer, id uuid, from_memory uuid, to_memory uuid, relation text,
            strength double precision, metadata jsonb, created_at timestamptz)
    ), inserted as (
        insert into memory_link as l (space_id, id, from_id, to_id, relation_type, strength, metadata, created_at)
        select distinct on (i.space, i.id)
            i.space, i.id, i.from_memory, i.to_memory, i.relation, i.strength, i.metadata, i.created_at
        from input i where i.housed order by i.space, i.id, i.place
        on conflict do nothing
        returning l.space_id, l.id
    )
    select i.place, i.id,
        case when not i.housed then 'homeless'
            when n.id is not null and row_number() over (partition by i.space, i.id order by i.place) = 1 then 'added'
            else 'known' end
    from input i left join inserted n on n.space_id = i.space and n.id = i.id;
end
$$;

comment on function textrawl.import_links is
    'Import links between memories, after their facts. Error TR013: not the owner.';
