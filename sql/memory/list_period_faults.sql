create function textrawl.list_period_faults(facts jsonb, relations jsonb) returns jsonb
language sql stable
begin atomic
    select coalesce(jsonb_agg(jsonb_build_object(
               'path', format('%s[%s].validUntil', kind, place - 1), 'code', 'TR098') order by kind, place), '[]')
    from (select 'facts' as kind, value, place from jsonb_array_elements(facts) with ordinality f (value, place)
          union all
          select 'relations', value, place from jsonb_array_elements(relations) with ordinality r (value, place)) item
    where (value ->> 'valid_from')::timestamptz >= (value ->> 'valid_until')::timestamptz;
end;

comment on function textrawl.list_period_faults is
    'The facts and relations of a batch whose period ends before it begins, by their paths, as faults of '
    'build_knowledge().';
