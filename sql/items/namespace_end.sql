create function textrawl.namespace_end(labels text[]) returns text[]
language sql immutable parallel safe
begin atomic
    -- In the order of code points, no text lies between a text and the same text with U+0001 behind it.
    select case when cardinality(labels) = 0 then array[repeat(chr(1114111), 501)]
        else labels[:cardinality(labels) - 1] || (labels[cardinality(labels)] || chr(1)) end;
end;

comment on function textrawl.namespace_end is
    'The first labels after all namespaces that begin with the given labels, in the order of the index. '
    'Example: select textrawl.namespace_end(array[''users'', ''ada'']);';
