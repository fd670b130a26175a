create function textrawl.search_languages(spaces integer[]) returns text[]
language sql stable parallel safe
begin atomic
    select coalesce(array_agg(distinct language order by language), array['english'])
    from (
        select s.language from textrawl.space s where s.id = any(spaces)
        union all
        select unnest(r.former_languages) from textrawl.document_rebuild r where r.space_id = any(spaces)) as known;
end;

comment on function textrawl.search_languages is
    'The languages of the given spaces, and the former languages of search documents that are being made anew. '
    'Example: select textrawl.search_languages(array[1]);';
