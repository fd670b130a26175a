create function textrawl.name_stems(name text, language text) returns text[]
language sql immutable strict parallel safe
begin atomic
    select coalesce(array_agg(coalesce((ts_lexize(('pg_catalog.' || language || '_stem')::regdictionary, word))[1], word)), '{}')
    from unnest(string_to_array(textrawl.fold_case(name), ' ')) word where word <> '';
end;

comment on function textrawl.name_stems is 'The stems of the words of a name, as in the items of a claim.';
