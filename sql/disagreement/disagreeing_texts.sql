create function textrawl.disagreeing_texts(subjects text[], contents text[], days date[]) returns integer[]
language sql immutable strict parallel safe
begin atomic
    -- Read each text once. Only texts with the same predicate can disagree.
    with claim as materialized (
        select t.place::integer, t.subject, t.content, t.day, textrawl.read_claim(t.content) as parts
        from unnest(subjects, contents, days) with ordinality t (subject, content, day, place)
    ), pair as (
        select one.place as one, other.place as other
        from claim one join claim other on other.subject = one.subject and other.place > one.place
        where one.day <> other.day and (one.parts).predicate = (other.parts).predicate
          and textrawl.disagreement(one.content, other.content) is not null
    )
    select coalesce(array_agg(place order by place), '{}')
    from (select one as place from pair union select other from pair) as found;
end;

comment on function textrawl.disagreeing_texts is
    'The positions (from 1) of the texts that disagree with another text of the same subject and of another day. Answers '
    'show the days of these facts. '
    'Example: select textrawl.disagreeing_texts(''{Mo,Mo}'', ''{lives in Munich,moved to Berlin}'', ''{2024-01-10,2025-03-20}'');';
