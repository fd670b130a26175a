create function textrawl.filter_seed(filter jsonb) returns jsonb
language plpgsql immutable parallel safe
set search_path from current
as $$
declare
    condition record;
    seed      jsonb;
    label     text;
begin
    for condition in select * from filter_conditions(filter) c order by c.path, c.operator loop
        if condition.operator not in ('$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in')
           or condition.operator = '$in' and jsonb_typeof(condition.value) <> 'array' then
            raise exception using errcode = 'TR103', message = 'not a filter', detail = left(condition.operator, 100);
        end if;
        -- A name with a point can be one name or a path, so the index cannot decide.
        if seed is null and condition.operator = '$eq' and condition.value <> 'null'
           and strpos(regexp_replace(condition.path, '^(metadata|\$)\.', ''), '.') = 0 then
            label := regexp_replace(condition.path, '^(metadata|\$)\.', '');
            seed := jsonb_build_object(
                case when condition.path like 'metadata.%' then 'metadata' else 'value' end, jsonb_build_object(label, condition.value));
        end if;
    end loop;
    return seed;
end
$$;

comment on function textrawl.filter_seed is
    'What the fields of every item contain that meets a filter, for the index item_fields_idx. Null: the index cannot help. '
    'Error TR103: an unknown operator, or $in without a list. '
    'Example: select textrawl.filter_seed(''{"kind": "tea"}'');';
