-- No model is downloaded any more, so none is awaited: a model that stood in for another one stays.
alter table embedding_model drop column stands_in_for, drop column obstacle;
