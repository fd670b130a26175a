create function textrawl.is_same_topic(one text[], other text[], share double precision default 0.5) returns boolean
language sql immutable parallel safe
begin atomic
    select count(*) >= share * least(cardinality(one), cardinality(other)) and count(*) > 0
    from unnest(one) word where word = any(other);
end;

comment on function textrawl.is_same_topic is
    'True if the shorter of two texts shares at least this share of its topic_words() with the other. '
    'Example: select textrawl.is_same_topic(textrawl.topic_words(''weighs 84 kg'', ''english''), array[''weigh'']);';
