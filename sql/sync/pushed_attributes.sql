create function textrawl.pushed_attributes(change jsonb, kind text, instance text, stored jsonb) returns jsonb
language sql immutable parallel safe
begin atomic
    select coalesce(stored, '{}') || case when kind = 'identity' then jsonb_strip_nulls(jsonb_build_object('label', change ->> 'label'))
        else jsonb_build_object(
            'instance', coalesce(stored ->> 'instance', change ->> 'instance', pushed_attributes.instance),
            'chat_ids', coalesce(change -> 'chat_ids', stored -> 'chat_ids', '[]'),
            'participants', coalesce(change -> 'participants', stored -> 'participants',
                                     jsonb_build_array(coalesce(change ->> 'instance', pushed_attributes.instance)))) end;
end;

comment on function textrawl.pushed_attributes is
    'The attributes of a document after a pushed change. If the change does not give an attribute, the stored one stays.';
