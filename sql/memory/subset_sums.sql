create function textrawl.subset_sums(weights double precision[]) returns double precision[]
language plpgsql immutable strict parallel safe
as $$
declare
    sums  double precision[] := array_fill(0::double precision, array[128], array[0]);
    size  integer := 1;
    first integer := 0;
begin
    for term in 1 .. cardinality(weights) loop
        if term = 7 then
            first := 64;
            size := 1;
        end if;
        for subset in first .. first + size - 1 loop
            sums[subset + size] := sums[subset] + weights[term];
        end loop;
        size := 2 * size;
    end loop;
    return sums;
end
$$;

comment on function textrawl.subset_sums is
    'The sums of all subsets of at most twelve weights, for terms_weight(). Positions 0 to 63 hold the sums of the '
    'first six weights. Positions 64 to 127 hold the sums of the other weights. '
    'Example: select textrawl.subset_sums(array[0.5, 0.3, 0.2]);';
