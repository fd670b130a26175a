create function textrawl.changed_bytes(new text, prefix integer, suffix integer) returns integer
language sql immutable parallel safe
begin atomic
    -- Tokens end at white space. So a change inside a word, or of white space, can only change the tokens of the words on both
    -- sides. Two more bytes are for the spaces before these words, which belong to the tokens of the words.
    select octet_length(substr(new, prefix + 1, char_length(new) - prefix - suffix)) + 2
        + octet_length(coalesce(substring(right(left(new, prefix), 1000) from '\S*\s*\S*$'), ''))
        + octet_length(coalesce(substring(left(right(new, suffix), 1000) from '^\S*\s*\S*'), ''));
end;

comment on function textrawl.changed_bytes is
    'The bytes of the words of a new text that a change has touched: all except the words in the first `prefix` and the last '
    '`suffix` characters. The number of tokens of a text grows by at most this number. '
    'Example: select textrawl.changed_bytes(''tea at five today'', 8, 8);';
