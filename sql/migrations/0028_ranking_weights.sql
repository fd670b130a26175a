create table ranking_weight (
    model   text not null default '*',
    feature text not null check (feature in ('base', 'meaning', 'words', 'about', 'beside', 'better', 'period', 'stranger', 'unheard')),
    weight  double precision not null check (weight between -100 and 100),
    primary key (model, feature)
);
comment on table ranking_weight is 'What each kind of evidence adds to the logarithm of the odds of a fact. python -m benchmarks.fit finds these numbers.';
comment on column ranking_weight.model is 'Name of the embedding model for which the weight counts; none: searches without vectors; *: all models without a row of their own.';
comment on column ranking_weight.feature is 'Kind of evidence: base (every fact has it), meaning (likeness of the vectors), words (share of the words of the question), about (-1: the question names another entity), beside (words that only the fact before or after has), better (by how much a fact nearby is better), period (said or true at the time of the question), stranger (the question has a name that no fact has), unheard (no fact has any word of the question).';
comment on column ranking_weight.weight is 'Added for each unit of this evidence.';

insert into ranking_weight (model, feature, weight) values
    ('*', 'base', -0.85), ('*', 'meaning', 3.1), ('*', 'words', 1.9), ('*', 'about', 1.45), ('*', 'beside', 0.55), ('*', 'better', 0.32),
    ('*', 'period', 0.6), ('*', 'stranger', -1.75), ('*', 'unheard', -0.6),
    ('none', 'base', -0.5),
    ('local:wordllama-l2-supercat-256', 'base', -0.5), ('local:wordllama-l2-supercat-256', 'meaning', 1.9);
