create function textrawl.plain_text(input text, accents boolean default false) returns text
language plpgsql immutable strict parallel safe
as $$
declare
    plain text := input;
begin
    if octet_length(plain) > char_length(plain) then
        plain := normalize(plain, nfkd);
        -- Writers may omit accents, Hebrew and Arabic points, joiners and variation selectors. So remove these
        -- characters. Keep the accents if the caller asks for them, because the stemmers of some languages need them.
        if not accents then
            plain := regexp_replace(plain, '[\u0300-\u036f]', '', 'g');
        end if;
        plain := regexp_replace(plain,
            '[\u00ad\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200b\u200d\u2060\ufe00-\ufe0f\ufeff]', '', 'g');
        -- In the C locale, the text search parser treats every character beyond ASCII as a letter, and lower() does not
        -- change these characters. So remove punctuation and symbols, and change Greek and Cyrillic letters to lower
        -- case. Persian uses a zero-width non-joiner (U+200C) where other languages use a space. So replace it by
        -- a space. Persian and Arabic keyboards produce different characters for two letters. So use one character for
        -- each of these letters.
        plain := regexp_replace(plain, '[‘’ʼ]', '''', 'g');
        plain := regexp_replace(plain,
            '[\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u30fb\ufe30-\ufe4f\U0001f000-\U0001faff]', ' ', 'g');
        plain := translate(plain,
            'øØłŁđĐıħĦАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯІЄҐЂЈЉЊЋЏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςیىک',
            'oOlLdDihHабвгдежзиклмнопрстуфхцчшщъыьэюяієґђјљњћџαβγδεζηθικλμνξοπρστυφχψωσييك');
        -- The Arabic article belongs to no word.
        plain := regexp_replace(plain, '(?<![\u0621-\u064a])\u0627\u0644(?=[\u0621-\u064a]{3})', '', 'g');
        plain := replace(replace(replace(replace(plain, 'ß', 'ss'), 'æ', 'ae'), 'Æ', 'AE'), 'œ', 'oe');
        plain := textrawl.split_ideographs(normalize(plain, nfc));
        if accents then
            plain := translate(plain,
                'ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝŸĀĂĄĆČĎĒĖĘĚĞĢĪĮĶĹĻĽŃŅŇŌŐŔŘŚŞŠŢŤȚȘŪŮŰŲŹŻŽЙЁЇЎΆΈΉΊΌΎΏΪΫ',
                'àáâãäåçèéêëìíîïñòóôõöùúûüýÿāăąćčďēėęěğģīįķĺļľńņňōőŕřśşšţťțșūůűųźżžйёїўάέήίόύώϊϋ');
        end if;
    end if;
    -- Names such as C++, C#, F# and .NET are words. Without their signs, they would be the same words as others.
    if plain ~ '[+#]|\.[Nn]' then
        plain := regexp_replace(plain, '(?<![[:alnum:]])([A-Za-z])\+\+(?![[:alnum:]+])', '\1plusplus', 'g');
        plain := regexp_replace(plain, '(?<![[:alnum:]])([A-Za-z])#(?![[:alnum:]#])', '\1sharp', 'g');
        plain := regexp_replace(plain, '(?<![[:alnum:]])\.(NET|Net|net)(?![[:alnum:]])', 'dotnet', 'g');
    end if;
    -- Write 1,299.50 as 1299.50.
    if plain ~ '[0-9],[0-9]{3}' then
        plain := regexp_replace(plain, '(?<![0-9,.])([0-9]{1,3}),([0-9]{3})(?:,([0-9]{3}))?(?:,([0-9]{3}))?(?![0-9,])', '\1\2\3\4', 'g');
    end if;
    -- The parser would read words joined by these characters as one word, address, path or tag. It would read a number
    -- after - as negative. Remove every point that is not inside a number.
    plain := regexp_replace(translate(plain, '<>&_/\:@-+~=#|', '              '), '\.(?!\d)|(?<!\d)\.', ' ', 'g');
    -- Turn v1.2.3 into 1.2.3.
    return regexp_replace(plain, '\m[vV](?=\d+\.\d)', '', 'g');
end
$$;

comment on function textrawl.plain_text is
    'A text without symbols and, by default, without accents, with joined words separated. '
    'Example: select textrawl.plain_text(''src/auth/café_store.py'');';
