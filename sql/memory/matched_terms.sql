create function textrawl.matched_terms(fts tsvector, terms tsquery[]) returns integer
language sql immutable parallel safe
begin atomic
    -- A query has at most twelve terms, see search_terms(). The expression has each of them written out, so that the
    -- planner inlines it. An aggregate over the terms would start a subplan for every row.
    select case when fts @@ terms[1] then 1 else 0 end
        + case when fts @@ terms[2] then 2 else 0 end
        + case when fts @@ terms[3] then 4 else 0 end
        + case when terms[4] is null then 0 else
            case when fts @@ terms[4] then 8 else 0 end
            + case when fts @@ terms[5] then 16 else 0 end
            + case when fts @@ terms[6] then 32 else 0 end
            + case when terms[7] is null then 0 else
                case when fts @@ terms[7] then 64 else 0 end
                + case when fts @@ terms[8] then 128 else 0 end
                + case when fts @@ terms[9] then 256 else 0 end
                + case when terms[10] is null then 0 else
                    case when fts @@ terms[10] then 512 else 0 end
                    + case when fts @@ terms[11] then 1024 else 0 end
                    + case when fts @@ terms[12] then 2048 else 0 end end end end;
end;

comment on function textrawl.matched_terms is
    'The terms of a query (at most twelve) that a search document contains, as a bit mask: 1 for the first term, 2 for '
    'the second, 4 for the third. '
    'Example: select textrawl.matched_terms(to_tsvector(''english'', ''green tea''), array[''tea''::tsquery, '
    '''coffee''::tsquery]);';
