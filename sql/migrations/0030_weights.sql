-- The words of a fact about another entity than the question names count less now. So these weights were moved from those of
-- benchmarks.fit, in steps of a tenth, as long as more right facts came first, among three (benchmarks.everyday) or among ten
-- (benchmarks.recall). The tests of scores chose the base of the local model.
update ranking_weight set weight = fitted.weight
from (values
    ('*', 'words', 1.75), ('*', 'about', 1.5), ('*', 'period', 0.5),
    ('local:wordllama-l2-supercat-256', 'base', -0.55), ('local:wordllama-l2-supercat-256', 'meaning', 2.1)) fitted (model, feature, weight)
where ranking_weight.model = fitted.model and ranking_weight.feature = fitted.feature;
