create function textrawl.phone_digits(input text) returns text
language sql immutable strict parallel safe
begin atomic
    select case when char_length(regexp_replace(input, '[^0-9]', '', 'g')) between 8 and 15 then regexp_replace(input, '[^0-9]', '', 'g')
        else input end;
end;

comment on function textrawl.phone_digits is
    'The digits of a telephone number, without its spaces and signs. A text with fewer than 8 or more than 15 digits stays as it is. '
    'Example: select textrawl.phone_digits(''+49 89 5550 1234'');';
