//! Waiting tasks that may start: those that no other task blocks.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

/// Standing of a task that blocks another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is not over.
    Open,
    /// It is over, and merged.
    Merged,
    /// It is over, and was not merged.
    Ended,
    /// It does not exist any more.
    Gone,
}

/// Task that blocks another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block<T> {
    /// This task, until it is merged.
    Until(T),
    /// This task, which ended without a merge, or is gone: a person has to decide.
    Never(T),
}

/// Finds the task that blocks another one, by the standing of each task that is to come before it: first one that only a person can
/// mend.
pub fn block<T: Copy>(before: &[(T, Standing)]) -> Option<Block<T>> {
    let find = |wanted: &[Standing]| before.iter().find(|(_, at)| wanted.contains(at)).map(|(task, _)| *task);
    let never = find(&[Standing::Ended, Standing::Gone]).map(Block::Never);
    never.or_else(|| find(&[Standing::Open]).map(Block::Until))
}

/// The tasks through which this one would wait for itself if these came before it, from one of them to itself; empty if it
/// would not. `before` has the tasks that are to come before another one.
pub fn circle<T: Clone + Ord>(task: &T, blockers: &[T], before: impl Fn(&T) -> Vec<T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    let mut paths: Vec<Vec<T>> = blockers.iter().map(|first| vec![first.clone()]).collect();
    while let Some(path) = paths.pop() {
        let Some(last) = path.last() else { continue };
        if last == task {
            return path;
        }
        if seen.insert(last.clone()) {
            paths.extend(before(last).into_iter().map(|next| [&path[..], &[next]].concat()));
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_waits_for_all_and_first_for_a_person() {
        assert_eq!(block::<u8>(&[]), None);
        assert_eq!(block(&[(1, Standing::Merged)]), None);
        assert_eq!(block(&[(1, Standing::Merged), (2, Standing::Open)]), Some(Block::Until(2)));
        assert_eq!(block(&[(1, Standing::Open), (2, Standing::Ended)]), Some(Block::Never(2)));
        assert_eq!(block(&[(1, Standing::Gone), (2, Standing::Open)]), Some(Block::Never(1)));
    }

    #[track_caller]
    fn check(edges: &[(u8, u8)], blockers: &[u8], expect: &[u8]) {
        let before = |task: &u8| edges.iter().filter(|(it, _)| it == task).map(|(_, other)| *other).collect();
        assert_eq!(circle(&0, blockers, before), expect, "{edges:?}");
    }

    #[test]
    fn a_circle_is_found_however_long() {
        check(&[], &[], &[]);
        check(&[], &[0], &[0]);
        check(&[(1, 2)], &[1], &[]);
        check(&[(1, 2), (2, 0)], &[1], &[1, 2, 0]);
        check(&[(1, 2), (2, 1)], &[1], &[]);
        check(&[(1, 2), (1, 3), (2, 4), (3, 4), (4, 5)], &[1], &[]);
        check(&[(1, 2), (1, 3), (3, 0)], &[1], &[1, 3, 0]);
    }
}
