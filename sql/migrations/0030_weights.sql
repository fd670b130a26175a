-- Weights that were fitted again, after the words of facts about other entities than the question names count less.
update ranking_weight set weight = fitted.weight
from (values
    ('*', 'words', 1.75), ('*', 'about', 1.5), ('*', 'better', 0.4), ('*', 'period', 0.5),
    ('local:wordllama-l2-supercat-256', 'base', -0.55), ('local:wordllama-l2-supercat-256', 'meaning', 2.1)) fitted (model, feature, weight)
where ranking_weight.model = fitted.model and ranking_weight.feature = fitted.feature;
