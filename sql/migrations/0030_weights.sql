-- Weights that were fitted again, after the words of facts about other entities than the question names count less.
update ranking_weight set weight = fitted.weight
from (values
    ('*', 'words', 1.8), ('*', 'about', 1.6), ('*', 'better', 0.42), ('*', 'period', 0.5),
    ('local:wordllama-l2-supercat-256', 'meaning', 2.3)) fitted (model, feature, weight)
where ranking_weight.model = fitted.model and ranking_weight.feature = fitted.feature;
