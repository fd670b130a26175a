create function textrawl.filter_conditions(filter jsonb) returns table (path text, operator text, value jsonb)
language sql immutable parallel safe rows 2
begin atomic
    select f.key, o.key, o.value
    from jsonb_each(filter) f
    cross join lateral jsonb_each(
        case when jsonb_typeof(f.value) = 'object' and f.value <> '{}'
                  and (select bool_and(k.name like '$%') from jsonb_object_keys(f.value) k (name))
            then f.value else jsonb_build_object('$eq', f.value) end) o;
end;

comment on function textrawl.filter_conditions is
    'The conditions of a filter. A value without an operator means $eq. '
    'Example: select * from textrawl.filter_conditions(''{"kind": "tea", "age": {"$gt": 30}}'');';
