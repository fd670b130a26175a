create function textrawl.ended_by(told jsonb, known jsonb, names text[] default '{}') returns text
language sql immutable parallel safe
begin atomic
    with word as (
        select w.* from unnest(array(select jsonb_array_elements_text(told #> '{ends,what}')),
            array(select jsonb_array_elements_text(told #> '{ends,roles}'))) w (word, role)
        where w.word <> all(names)
    ), old as (
        select split_part(i.item, '~', -1) as word, i.role
        from unnest(array(select jsonb_array_elements_text(known -> 'items')), array(select jsonb_array_elements_text(known -> 'roles'))) i (item, role)
        union all
        select subject, 'o' from jsonb_array_elements_text(known -> 'subject') subject
        union all
        select substr(known ->> 'predicate', 3), 'o' where known ->> 'predicate' like 'v:%'
    ), shared as (
        select w.role, exists (
                -- Who left Tom still works with Tom.
                select from old where old.word = w.word and (old.role <> '@with' or known ->> 'predicate' = 'marriage')) as same,
            exists (select from old where left(old.word, 4) = left(w.word, 4) and char_length(w.word) >= 4) as alike
        from word w
    )
    select case
        when not coalesce(told -> 'ends' ?| '{by,now}', false) or known ? 'past' or known ? 'negative' then null
        when told -> 'ends' ? 'sure'
            and known ->> 'predicate' !~ '^(like|prefer|name|born|founded|plan|cost|weigh|when:.*)$'
            and case when told -> 'ends' ? 'back' or known ? 'event' then coalesce(known -> 'ends' ? 'lent', false) else true end
            and count(*) filter (where same) > 0
            and coalesce(bool_and(same) filter (where role = 'o' or known -> 'roles' ? role), false) then 'sure'
        when count(*) filter (where same or alike) > 0 and (told -> 'ends' ? 'by' or told -> 'predicate' = known -> 'predicate') then 'likely' end
    from shared;
end;

comment on function textrawl.ended_by is
    'Whether a claim says that an older claim of the same entity is over: sure (a word that ends and the same object), '
    'likely (such a word and a word in common), or null. `names` are stems of the names of the entity. '
    'Example: select textrawl.ended_by(textrawl.make_claim(''sold the red car''), textrawl.make_claim(''drives a red car''));';
