delete from ranking_weight where feature = 'stranger';
alter table ranking_weight drop constraint ranking_weight_feature_check;
alter table ranking_weight add constraint ranking_weight_feature_check
    check (feature in ('base', 'meaning', 'words', 'about', 'beside', 'better', 'period', 'unheard'));
comment on column ranking_weight.feature is 'Kind of evidence: base (every fact has it), meaning (likeness of the vectors), words (share of the words of the question), about (-1: the question names another entity), beside (words that only the fact before or after has), better (by how much a fact nearby is better), period (said or true at the time of the question), unheard (no fact has any word of the question).';
