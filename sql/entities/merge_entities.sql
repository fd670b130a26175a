create function textrawl.merge_entities(
    kept text, merged text, dry_run boolean default false,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out merge_id uuid,                    -- null if dry_run
    out kept_id uuid, out kept_name text, out kept_type text,
    out merged_id uuid, out merged_name text, out merged_type text,
    out facts bigint, out relations bigint,
    out duplicate_facts bigint, out duplicate_relations bigint,
    out collapsing jsonb                  -- up to 20 of the facts and relations that collapse: [{kind, id, content}]
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, case when dry_run then 'read' else 'write' end, client, tool, request);
    moment timestamptz;
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    select c[1], c[2] into kept_id, merged_id from claim_named(array[kept, merged], origin) c;
    if kept_id = merged_id then
        raise exception using errcode = 'TR005', message = 'both names belong to one entity';
    elsif exists (select from document d where d.space_id = origin.space_id and d.entity_id in (kept_id, merged_id)) then
        raise exception using errcode = 'TR038', message = 'the entity holds the text of a document', detail = (
            select e.name from entity e join document d on d.space_id = e.space_id and d.entity_id = e.id
            where e.space_id = origin.space_id and e.id in (kept_id, merged_id) limit 1);
    end if;
    moment := clock_timestamp();
    select one.name, free_type(one.entity_type, one.metadata), other.name, free_type(other.entity_type, other.metadata)
    into kept_name, kept_type, merged_name, merged_type
    from entity one, entity other
    where one.space_id = origin.space_id and one.id = kept_id and other.space_id = origin.space_id and other.id = merged_id;
    facts := (select count(*) from fact o where o.space_id = origin.space_id and o.entity_id = merged_id);
    relations := (
        select count(distinct r.id) from (
            select f.id from relation f where f.space_id = origin.space_id and f.from_entity = merged_id
            union all
            select t.id from relation t where t.space_id = origin.space_id and t.to_entity = merged_id) r);
    select count(*) filter (where c.kind = 'fact'), count(*) filter (where c.kind = 'relation'),
        coalesce(jsonb_agg(jsonb_build_object('kind', c.kind, 'id', c.id, 'content', o.content)) filter (where c.rank <= 20), '[]')
    into duplicate_facts, duplicate_relations, collapsing
    from (select c.*, row_number() over (order by c.kind, c.id) as rank
          from collapsing_rows(origin.space_id, kept_id, merged_id, moment) c) c
    join observation o on o.space_id = origin.space_id and o.id = c.id;
    if dry_run then
        return;
    end if;
    merge_id := join_entities(kept_id, merged_id, moment, origin);
end
$$;

comment on function textrawl.merge_entities is
    'Merge an entity into another one: its facts and relations move to the kept entity, and its names become aliases. A '
    'fact or relation that the kept entity has too ends now, and so does a relation between the two. Nothing is lost: '
    'split_entity() restores both. A dry run only says what would happen. Needs the scopes read and write, a dry run only '
    'read. Errors: TR005 (both names belong to one entity), TR010 to TR012 (access), TR038 (an entity holds the text of '
    'a document), TR050 (no such entity). '
    'Example: select * from textrawl.merge_entities(''Jeff'', ''Jeff Miller'', dry_run => true);';
