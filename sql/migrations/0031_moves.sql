-- An undo no longer takes moves between spaces back, so a move keeps nothing in the space that it left.
delete from undo where moved_to is not null;
drop index undone_copy_idx;
alter table undo drop column moved_to, drop column joint;
