-- Run a statement in a cell, as the owner and in a transaction of its own. {cell} is its schema.
create function whole.run(shard bigint, statement text) returns jsonb
language plpgsql volatile as $$
declare
    place  record;
    answer record;
    told   jsonb;
begin
    select * into strict place from textrawl_content.list_cells() c where c.shard = run.shard;
    select * into answer from master_run_on_worker(
        array[place.host], array[place.port], array[format('select whole.attempt(%L)',
            replace(statement, '{cell}', format('textrawl_cell_%s', run.shard)))], false);
    if not answer.success then
        raise exception using message = answer.result;
    end if;
    told := answer.result::jsonb;
    if told ? 'state' then
        raise exception using errcode = told ->> 'state', message = told ->> 'message', detail = told ->> 'detail';
    end if;
    return nullif(told -> 'rows', 'null');
end
$$;

create function whole.find_shard(space integer) returns bigint
language sql stable as $$ select shard from textrawl_content.find_shards(array[$1]) $$;

create function whole.find_named(name text) returns integer
language sql stable as $$ select id from textrawl.space s where s.name = $1 $$;

create function whole.find_home(credential bytea) returns integer
language sql stable as $$ select coalesce((select home from textrawl.authenticate($1)), textrawl.default_space()) $$;

-- The rows of a statement in the cell of a space, or in all cells. Those without an answer are left
-- out, if others have one: an undo is in one cell, and the others do not know it.
create function whole.ask(statement text, space integer default null) returns jsonb
language plpgsql volatile as $$
declare
    shard   bigint;
    rows    jsonb := '[]';
    state   text;
    words   text;
    more    text;
    answers integer := 0;
begin
    if space is not null then
        return coalesce(whole.run(whole.find_shard(space), statement), '[]');
    end if;
    for shard in select c.shard from textrawl_content.list_cells() c order by 1 loop
        begin
            rows := rows || coalesce(whole.run(shard, statement), '[]');
            answers := answers + 1;
        exception when others then
            -- What a cell does not know is perhaps in another one.
            if state is null or state in ('TR016', 'TR031', 'TR063', 'TR066', 'TR068') then
                get stacked diagnostics state = returned_sqlstate, words = message_text, more = pg_exception_detail;
            end if;
        end;
    end loop;
    if answers = 0 then
        raise exception using errcode = state, message = words, detail = more;
    end if;
    return rows;
end
$$;

-- One row of several: numbers are added, and of other values the first is kept.
create function whole.fold(rows jsonb) returns jsonb
language sql immutable as $$
    select jsonb_build_array(jsonb_object_agg(name, folded)) from (
        select m.key as name, case when bool_or(jsonb_typeof(m.value) = 'number')
            then to_jsonb(sum(case when jsonb_typeof(m.value) = 'number' then (m.value #>> '{}')::numeric end))
            else (array_agg(m.value order by m.value = 'null', r.ordinality))[1] end as folded
        from jsonb_array_elements(rows) with ordinality r, jsonb_each(r.value) m
        group by m.key) members
$$;

-- Write a row of a view in its cell.
create function whole.write_row() returns trigger
language plpgsql volatile as $$
declare
    old_row jsonb;
    names   text[] := '{}';
    texts   text[] := '{}';
    keys    text[] := '{}';
    target  record := case when tg_op = 'DELETE' then old else new end;
    written jsonb;
    one     record;
    value   text;
    former  text;
    command text;
begin
    for one in
        select attname as name, exists (
            select from pg_index where indrelid = attrelid and indisprimary and attnum = any(indkey)) as is_key
        from pg_attribute
        where attrelid = format('textrawl.%I', tg_table_name)::regclass and attnum > 0
          and not attisdropped and attgenerated = ''
        order by attnum
    loop
        execute format('select ($1).%1$I::text, ($2).%1$I::text', one.name) into former, value
        using case when tg_op = 'INSERT' then null else old end, target;
        if one.is_key then
            keys := keys || format('%I = %L', one.name, former);
        end if;
        if value is distinct from former then
            names := names || quote_ident(one.name);
            texts := texts || quote_nullable(value);
        end if;
    end loop;
    if tg_op <> 'INSERT' and keys = '{}' then
        raise exception 'the table % has no key', tg_table_name;
    elsif tg_op = 'INSERT' then
        command := format('insert into {cell}.%I (%s) values (%s)', tg_table_name,
            array_to_string(names, ', '), array_to_string(texts, ', '));
    elsif tg_op = 'DELETE' then
        command := format('delete from {cell}.%I where %s', tg_table_name, array_to_string(keys, ' and '));
    elsif names = '{}' then
        return new;
    else
        command := format('update {cell}.%I set (%s) = row(%s) where %s', tg_table_name,
            array_to_string(names, ', '), array_to_string(texts, ', '), array_to_string(keys, ' and '));
    end if;
    written := whole.run(whole.find_shard((to_jsonb(target) ->> 'space_id')::integer),
        format('with done as (%s returning *) select to_jsonb(done) from done', command));
    return case when written is null then null else jsonb_populate_record(target, written) end;
end
$$;

-- Change a distributed table, and so its shards. The superuser owns the tables of the coordinator.
create function whole.alter_table(name text, change text) returns void
language plpgsql volatile security definer as $$
begin
    execute format('alter table textrawl_content.%I %s', name, change);
end
$$;

-- Show each table of content that is not shown yet. The superuser reads the distributed tables.
create function whole.show_tables() returns void
language plpgsql volatile security definer
set citus.enable_ddl_propagation = off
set search_path = whole, textrawl, public
as $$
declare
    name   text;
    source text;
begin
    for name in
        select relname from pg_class
        where relnamespace = 'textrawl'::regnamespace and relkind = 'r'
          and relname <> all(array['actor', 'embedding_model', 'space', 'space_grant', 'token', 'code', 'migration'])
          and to_regclass(format('whole.%I', relname)) is null
    loop
        source := case when to_regclass(format('textrawl_content.%I', name)) is null
            then format('select r.* from jsonb_populate_recordset(null::textrawl.%I, '
                'whole.ask(''select jsonb_agg(to_jsonb(t)) from {cell}.%I t'')) r', name, name)
            else format('select * from textrawl_content.%I', name) end;
        execute format('create function whole.%I() returns setof textrawl.%I language plpgsql volatile security definer as '
            '$f$ begin return query %s; end $f$', 'read_' || name, name, source);
        execute format('create view whole.%I as select * from whole.%I()', name, 'read_' || name);
        execute format('grant all on whole.%I to textrawl_owner', name);
        execute format('create trigger write_row instead of insert or update or delete on whole.%I '
            'for each row execute function whole.write_row()', name);
    end loop;
end
$$;
