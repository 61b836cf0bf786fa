-- A colony has one mission on a branch. Older stores may have several, so it is not unique.
create index mission_branch on mission (colony, branch);
