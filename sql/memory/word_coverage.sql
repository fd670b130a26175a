create function textrawl.word_coverage(fts tsvector, terms tsquery[], weights double precision[]) returns double precision
language sql immutable parallel safe
begin atomic
    -- Written out for the at most twelve terms of a query (search_terms), so that the planner inlines the sum.
    -- An aggregate over the terms would start a subplan for every row.
    select case when fts @@ terms[1] then weights[1] else 0 end
        + case when fts @@ terms[2] then weights[2] else 0 end
        + case when fts @@ terms[3] then weights[3] else 0 end
        + case when terms[4] is null then 0 else
            case when fts @@ terms[4] then weights[4] else 0 end
            + case when fts @@ terms[5] then weights[5] else 0 end
            + case when fts @@ terms[6] then weights[6] else 0 end
            + case when terms[7] is null then 0 else
                case when fts @@ terms[7] then weights[7] else 0 end
                + case when fts @@ terms[8] then weights[8] else 0 end
                + case when terms[9] is null then 0 else
                    case when fts @@ terms[9] then weights[9] else 0 end
                    + case when fts @@ terms[10] then weights[10] else 0 end
                    + case when fts @@ terms[11] then weights[11] else 0 end
                    + case when fts @@ terms[12] then weights[12] else 0 end end end end;
end;

comment on function textrawl.word_coverage is
    'The sum of the weights of the terms (at most twelve) that a search document contains. '
    'Example: select textrawl.word_coverage(to_tsvector(''english'', ''green tea''), array[''tea''::tsquery, '
    '''coffee''::tsquery], array[0.4, 0.6]);';
