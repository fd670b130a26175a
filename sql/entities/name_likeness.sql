create function textrawl.name_likeness(one text, other text) returns double precision
language sql immutable strict parallel safe
begin atomic
    select c.likeness from textrawl.name_form(one) a, textrawl.name_form(other) b,
        textrawl.compare_forms(a.words, b.words, a.squeezed, b.squeezed, a.short, b.short,
            a.numbers, b.numbers, a.trigrams, b.trigrams) c;
end;

comment on function textrawl.name_likeness is
    'How alike two names are, from 0 to 1: the part of their trigrams that they share, or more if one is a usual short '
    'form of the other. Names with different numbers, such as two versions of a program, are not alike. '
    'Example: select textrawl.name_likeness(''Jeff Miller'', ''jmiller'');';
