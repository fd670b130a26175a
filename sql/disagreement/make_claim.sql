create function textrawl.make_claim(content text, default_language text default 'english') returns jsonb
language plpgsql immutable strict parallel safe
as $$
declare
    claim   record := textrawl.read_claim(content, default_language);
    several boolean := claim.predicate ~ '^(like|be|has|v:.*|)$';  -- the predicate has several values at a time
    about   text := case when not claim.named then nullif(array_to_string(claim.subject, ' '), '') end;
    valued  text[] := claim.items;
    topic   text;
begin
    if claim.predicate = '' and claim.items = '{}' then
        return null;
    end if;
    if claim.roles && '{@since,@until,@because}' then
        valued := array(select item from unnest(claim.items, claim.roles) i (item, role) where role not in ('@since', '@until', '@because'));
    end if;
    topic := case
        when claim.predicate = 'lead' then 'lead ' || array_to_string(claim.items, ' ')
        when claim.predicate = 'prefer' then concat_ws(' ', 'prefer', about, coalesce(
            substring(array_to_string(valued, ' ') from '~([a-z]+)~'),
            (select string_agg(item, ' ' order by item) from unnest(valued) item)))
        when not several then concat_ws(' ', claim.predicate, about)
        -- A noun with a number is a name.
        when not claim.event and claim.predicate <> 'like' and (claim.predicate <> '' or cardinality(claim.items) > 2)
             and array_to_string(valued, ' ') ~ '(^| )#'
            then concat_ws(' ', claim.predicate, about, regexp_replace(array_to_string(valued, ' '), '#\S*', '#', 'g'))
        end;
    return jsonb_strip_nulls(jsonb_build_object(
        'language', claim.language, 'predicate', claim.predicate, 'topic', topic, 'items', claim.items,
        'roles', claim.roles, 'subject', nullif(claim.subject, '{}'), 'named', nullif(claim.named, false), 'negative', nullif(claim.negative, false),
        'past', nullif(claim.past, false), 'event', nullif(claim.event, false), 'indefinite', nullif(claim.indefinite, false),
        'ends', claim.ending, 'sole', textrawl.sole_topic(content)));
end
$$;

comment on function textrawl.make_claim is
    'What a text claims: the parts of read_claim() that are not empty, and its topic. An entity has one value of a topic at a '
    'time, such as its home, its favourite colour or the number of its cats; sole is sole_topic(). Null: the text claims nothing that can be '
    'compared. Example: select textrawl.make_claim(''lives in Berlin'') ->> ''topic'';';
