create function textrawl.nearest_type(type text) returns text
language sql immutable parallel safe
begin atomic
    -- Try the words from the last to the first, because the last word says most: a TeamMember is a member.
    with word as (
        select word, place from regexp_split_to_table(
            textrawl.fold_case(textrawl.plain_text(regexp_replace(coalesce(type, ''), '([a-z0-9])([A-Z])', '\1 \2', 'g'))),
            '[^[:alnum:]]+') with ordinality as found(word, place)
    ), synonym(word, nearest) as (
        select unnest(string_to_array(words, ' ')), nearest
        from (values
            ('person', 'person people human individual user contact employee colleague friend customer member developer engineer author manager student teacher persona usuario cliente contacto'),
            ('organization', 'organization organisation org company companies corporation business institution university school team department agency startup vendor client empresa organizacion equipo'),
            ('location', 'location place city country region address room building venue office lugar ciudad pais ubicacion'),
            ('project', 'project repo repository codebase app application product service library package component proyecto repositorio aplicacion'),
            ('preference', 'preference preferencia'),
            ('fact', 'fact event meeting session incident decision hecho evento reunion sesion'),
            ('concept', 'concept idea topic concepto')) as list(nearest, words)
    )
    select coalesce((
        select synonym.nearest from word
        join synonym on synonym.word in (word.word, regexp_replace(word.word, 's$', ''))
        order by word.place desc limit 1), 'concept');
end;

comment on function textrawl.nearest_type is
    'The entity type (one of the seven) that is nearest to a free type; "concept" if none of the seven is near. '
    'Example: select textrawl.nearest_type(''TeamMember'');';
