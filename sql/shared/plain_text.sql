create function textrawl.plain_text(input text) returns text
language plpgsql immutable strict parallel safe
as $$
declare
    plain text := input;
begin
    if octet_length(plain) > char_length(plain) then
        plain := normalize(plain, nfkd);
        -- Writers may omit accents, Hebrew and Arabic points, joiners and variation selectors: remove them.
        plain := regexp_replace(plain,
            '[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200b\u200d\u2060\ufe00-\ufe0f\ufeff]', '', 'g');
        -- The parser of the C locale treats every character beyond ASCII as a letter, and its lower() changes none of them.
        -- So remove punctuation and symbols and lower Greek and Cyrillic here. Persian writes a ZWNJ where other languages
        -- write a space; the Persian and Arabic keyboards differ in two letters.
        plain := regexp_replace(plain, '[‘’ʼ]', '''', 'g');
        plain := regexp_replace(plain,
            '[\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u30fb\ufe30-\ufe4f\U0001f000-\U0001faff]', ' ', 'g');
        plain := translate(plain,
            'øØłŁđĐıħĦАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯІЄҐЂЈЉЊЋЏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςیىک',
            'oOlLdDihHабвгдежзиклмнопрстуфхцчшщъыьэюяієґђјљњћџαβγδεζηθικλμνξοπρστυφχψωσييك');
        plain := replace(replace(replace(replace(plain, 'ß', 'ss'), 'æ', 'ae'), 'Æ', 'AE'), 'œ', 'oe');
        plain := textrawl.split_ideographs(normalize(plain, nfc));
    end if;
    -- The parser would read words joined by these characters as one word, address, path or tag, and a number after -
    -- as negative. Keep only the point inside a number.
    plain := regexp_replace(translate(plain, '<>&_/\:@-+~=#|', '              '), '\.(?!\d)|(?<!\d)\.', ' ', 'g');
    -- v1.2.3 is the version 1.2.3.
    return regexp_replace(plain, '\m[vV](?=\d+\.\d)', '', 'g');
end
$$;

comment on function textrawl.plain_text is
    'Text without accents and symbols, with joined words separated. '
    'Example: select textrawl.plain_text(''src/auth/café_store.py'');';
