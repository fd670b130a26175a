create function textrawl.matches_labels(labels text[], pattern text[]) returns boolean
language sql immutable parallel safe
begin atomic
    select cardinality(labels) = cardinality(pattern) and case when array_position(pattern, '*') is null then labels = pattern
        else not exists (
            select from unnest(labels, pattern) p (label, wanted) where p.wanted <> '*' and p.label <> p.wanted) end;
end;

comment on function textrawl.matches_labels is
    'True if each label is the one of the pattern, in which * stands for any label. '
    'Example: select textrawl.matches_labels(array[''users'', ''ada''], array[''users'', ''*'']);';
