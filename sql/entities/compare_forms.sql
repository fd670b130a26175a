create function textrawl.compare_forms(
    words text[], others text[], squeezed text, other_squeezed text, short text, other_short text,
    numbers text[], other_numbers text[], trigrams text[], other_trigrams text[]
) returns table (likeness double precision)
language sql immutable parallel safe
begin atomic
    -- The function is not strict and does not set options, so that the planner can inline it.
    -- The part of their trigrams that two names share finds spelling mistakes. The other cases are the usual short forms:
    -- other order or punctuation, an initial with the last name, and some of the words.
    select case
        when compare_forms.squeezed = '' or compare_forms.other_squeezed = '' then null
        when compare_forms.numbers <> compare_forms.other_numbers
            and compare_forms.numbers <> '{}' and compare_forms.other_numbers <> '{}' then 0
        when compare_forms.squeezed = compare_forms.other_squeezed
            or compare_forms.words @> compare_forms.others and compare_forms.words <@ compare_forms.others then 1
        else greatest(
            -- Another word in the same place, such as api and ui, speaks against what else is alike.
            case when said.likeness = 0 then 0.5 else 1 end * shared.count
                / (cardinality(compare_forms.trigrams) + cardinality(compare_forms.other_trigrams) - shared.count),
            said.likeness,
            case
                when cardinality(compare_forms.words) > 1 and cardinality(compare_forms.others) = 1
                        and compare_forms.short = compare_forms.other_squeezed
                    or cardinality(compare_forms.others) > 1 and cardinality(compare_forms.words) = 1
                        and compare_forms.other_short = compare_forms.squeezed then 0.8
                when compare_forms.words @> compare_forms.others or compare_forms.words <@ compare_forms.others then 0.6
                else 0 end)
        end
    from (select count(*) from unnest(compare_forms.trigrams) t (part) where t.part = any(compare_forms.other_trigrams)) shared
    -- Few pairs have so many trigrams in common that their words are worth a look. "offset 0": see name_form().
    cross join lateral (
        select case when shared.count * 3 > cardinality(compare_forms.trigrams)
            then textrawl.compare_words(compare_forms.words, compare_forms.others) end as likeness offset 0) said;
end;

comment on function textrawl.compare_forms is
    'How alike two names are, from their forms: see name_likeness() and name_form().';
