create function textrawl.sole_words() returns jsonb
language sql immutable parallel safe
begin atomic
    -- The function is immutable, so that its caller reads the words once in a session.
    select $$ {
"open": ["also", "too", "another", "not", "auch", "noch", "nicht", "aussi", "pas", "también", "no", "também", "não", "anche", "non"],
"kinds": ["type", "kind", "name"],
"before": {
    "is": {"the": ["the"]},
    "ist": {"the": ["der", "die", "das"]},
    "est": {"the": ["le", "la", "l'", "l’"]},
    "es": {"the": ["el", "la"]},
    "é": {"the": ["o", "a"]},
    "è": {"the": ["il", "lo", "la", "l'", "l’"]},
    "of": {"after": ["a citizen", "born in the city", "died in the city", "founded in the city", "located in the city", "located in the district", "in the country", "in the continent", "with the sport", "with the religion", "in the language", "the language", "the position", "in the field"]},
    "for": {"after": ["famous"]},
    "to": {"after": ["married"]},
    "by": {"after": ["employed", "founded", "created", "developed", "written", "performed", "composed", "directed", "produced", "invented", "discovered", "designed", "owned", "led", "chaired"]},
    "in": {"after": ["founded", "created", "written", "born", "died", "headquartered", "based", "geboren"]},
    "mit": {"after": ["verheiratet"]},
    "à": {"after": ["marié", "mariée", "né", "née"]},
    "par": {"after": ["fondé", "fondée", "dirigé", "dirigée"]},
    "con": {"after": ["casado", "casada", "sposato", "sposata"]},
    "com": {"after": ["casado", "casada"]},
    "por": {"after": ["fundado", "fundada", "dirigido", "dirigida"]},
    "en": {"after": ["nacido", "nacida"]},
    "a": {"after": ["nato", "nata"]},
    "da": {"after": ["fondato", "fondata", "diretto", "diretta"]}
}} $$::jsonb;
end;

comment on function textrawl.sole_words is
    'The words by which sole_topic() finds what has one value at a time. before: words before a value, with the words that '
    'come before them (after; a value after several words needs no capital), or with the articles of a subject of which there is one (the). kinds: nouns after which a value needs no capital. open: with these words the sentence leaves '
    'other values open. Example: select textrawl.sole_words() -> ''before'' -> ''by'';';
