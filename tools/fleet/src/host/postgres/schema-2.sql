-- The steps whose questions wait for an answer, with commas between them, and the commit of the branch that a crab has pushed last.
alter table mission add column asks text;
alter table mission add column tip text;
create index mission_asks on mission (seq) where asks is not null;

-- When people are reminded of a question, or when the time for their answer is over.
alter table run add column due bigint;
create index run_due on run (due) where due is not null and ended is null;

-- The lane in which a step waits: its role, with what the step needs beside it. Without needs it is the role.
alter table waiting rename column role to lane;
