create function textrawl.import_spaces(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored integer,
    outcome text    -- added, known, unknown language, facts (the space here holds facts), graph (the space here is a
                    -- graph), sealed (the graph here is sensitive, that of the file is not), or open (the tier here
                    -- shows more than the tier of the file)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    tiers constant text[] := array['public', 'personal', 'sensitive'];
begin
    perform require_owner();
    return query
    with input as materialized (
        select g.*, s.id as existing, find_language(g.language) as found_language,
            case when s.tier is null and g.tier is not null and s.id is not null then 'facts'
                when s.tier is not null and g.tier is null then 'graph'
                when s.tier = 'sensitive' and g.tier <> 'sensitive' then 'sealed'
                -- Texts of a sensitive graph must not become visible because a graph here has the same name.
                when array_position(tiers, s.tier) < array_position(tiers, g.tier) then 'open' end as refused
        from jsonb_to_recordset(lines) g(
            place integer, name text, language text, created_at timestamptz, archived_at timestamptz, tier text,
            recall_tokens integer)
        left join space s on s.name = g.name
    ), inserted as (
        insert into space (name, language, created_at, archived_at, tier, recall_tokens)
        select distinct on (g.name) g.name, coalesce(g.found_language, 'english'), g.created_at, g.archived_at, g.tier,
            g.recall_tokens
        from input g where g.existing is null and (g.language is null or g.found_language is not null) order by g.name, g.place
        returning id, name
    ), dated as (
        -- The first space exists before the import. If the space is empty, it gets the language of the file, and also
        -- the date of the file if this date is earlier.
        update space s
        set created_at = least(g.created_at, s.created_at), language = coalesce(g.found_language, s.language)
        from input g
        where s.id = g.existing and g.refused is null
          and not exists (select from entity e where e.space_id = s.id)
    )
    select g.place, coalesce(g.existing, m.id),
        case when g.refused is not null then g.refused
            when g.language is not null and g.found_language is null then 'unknown language'
            when g.existing is null and g.place = min(g.place) over (partition by g.name) then 'added' else 'known' end
    from input g left join inserted m on m.name = g.name;
end
$$;

comment on function textrawl.import_spaces is
    'Create the spaces of an export, except spaces with a name that exists already. If an existing space is empty, it '
    'gets the language of the file. An existing graph keeps its tier. Error TR013: not the owner.';
