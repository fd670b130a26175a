create function textrawl.import_memories(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,
    outcome text    -- added, known (the decay tools know this fact), or homeless (the fact is missing)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    return query
    with input as materialized (
        select g.*, exists (
                select from fact o where o.space_id = g.space and o.id = g.id and coalesce(o.part, 1) = 1) as housed
        from jsonb_to_recordset(lines) g(
            place integer, space integer, id uuid, saved boolean, tags text[], entities text[], source text, context text, extra jsonb,
            strength double precision, use_count integer, last_used timestamptz, status text, ended_at timestamptz,
            promoted_at timestamptz, promoted_to text, last_review_at timestamptz, review_count integer, cross_domain_count integer)
    ), inserted as (
        insert into retention as r (space_id, observation_id, saved, tags, entities, source, context, extra, strength, use_count,
                                    last_used, status, ended_at, promoted_at, promoted_to, last_review_at, review_count, cross_domain_count)
        select distinct on (i.space, i.id)
            i.space, i.id, i.saved, i.tags, i.entities, i.source, i.context, i.extra, i.strength, i.use_count,
            i.last_used, i.status, i.ended_at, i.promoted_at, i.promoted_to, i.last_review_at, i.review_count, i.cross_domain_count
        from input i where i.housed order by i.space, i.id, i.place
        on conflict do nothing
        returning r.space_id, r.observation_id
    )
    select i.place, i.id,
        case when not i.housed then 'homeless'
            when n.observation_id is not null and row_number() over (partition by i.space, i.id order by i.place) = 1 then 'added'
            else 'known' end
    from input i left join inserted n on n.space_id = i.space and n.observation_id = i.id;
end
$$;

comment on function textrawl.import_memories is
    'Import tags, uses and status of memories, after their facts. Error TR013: not the owner.';
