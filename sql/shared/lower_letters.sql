create function textrawl.lower_letters(input text) returns text
language sql immutable strict parallel safe
begin atomic
    -- lower() changes the same letters on every Postgres only in the locale C, which knows ASCII alone.
    select normalize(lower(translate(normalize(input, nfd),
        'ØŁĐÆŒÞÐĦΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯІЄҐЂЈЉЊЋЏ',
        'øłđæœþðħαβγδεζηθικλμνξοπρστυφχψωабвгдежзиклмнопрстуфхцчшщъыьэюяієґђјљњћџ') collate "C"), nfc);
end;

comment on function textrawl.lower_letters is
    'A word with its Latin, Greek and Cyrillic letters in lower case, on every Postgres. '
    'Example: select textrawl.lower_letters(''Élodie'');';
