//! An arena for the lists of a machine: append through a shared reference, give back when dropped.

use std::cell::{Cell, OnceCell};

use orange_core::{
    Counter, ExitRule, Gate, Guard, Hook, Piece, Prompt, Range, SectionGate, State, StateId, Transition,
    WatchRule,
};

/// The lists that a lowered machine borrows besides the workflow. It may hold several machines.
#[derive(Debug, Default)]
pub struct Arena<'a> {
    pub(super) ranges: Pool<Range>,
    pub(super) conjunctions: Pool<&'a [Range]>,
    pub(super) words: Pool<&'a str>,
    pub(super) numbers: Pool<i32>,
    pub(super) ids: Pool<StateId>,
    pub(super) pieces: Pool<Piece<'a>>,
    pub(super) gates: Pool<Gate<'a>>,
    pub(super) sections: Pool<SectionGate<'a>>,
    pub(super) hooks: Pool<Hook<'a>>,
    pub(super) clauses: Pool<(Guard<'a>, StateId)>,
    pub(super) states: Pool<State<'a>>,
    pub(super) counters: Pool<Counter<'a>>,
    pub(super) transitions: Pool<Transition<'a>>,
    pub(super) rows: Pool<u32>,
    pub(super) exit_rules: Pool<ExitRule<'a>>,
    pub(super) watch: Pool<WatchRule<'a>>,
    pub(super) prompts: Pool<Prompt<'a>>,
    texts: Pool<String>,
}

/// Lists that stay where they are: chunk `n` has room for 2ⁿ of them and is made when the one before is full.
#[derive(Debug)]
pub(super) struct Pool<T> {
    chunks: [OnceCell<Box<[Slot<T>]>>; usize::BITS as usize],
    kept: Cell<usize>,
}

type Slot<T> = OnceCell<Box<[T]>>;

impl Arena<'_> {
    pub(super) fn text(&self, text: String) -> &str {
        self.texts.keep([text]).first().map_or("", String::as_str)
    }
}

impl<T> Pool<T> {
    /// Keeps a list; one without items takes no room.
    pub(super) fn keep(&self, items: impl IntoIterator<Item = T>) -> &[T] {
        let items: Box<[T]> = items.into_iter().collect();
        if items.is_empty() {
            return &[];
        }
        let place = self.kept.get() + 1;
        self.kept.set(place);
        let chunk = place.ilog2();
        let slots =
            self.chunks[chunk as usize].get_or_init(|| (0..1 << chunk).map(|_| Slot::new()).collect());
        slots[place - (1 << chunk)].get_or_init(|| items)
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { chunks: [const { OnceCell::new() }; usize::BITS as usize], kept: Cell::new(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_stay_as_more_are_kept() {
        let pool = Pool::default();
        let lists: Vec<&[u32]> = (0..1_000).map(|n| pool.keep(0..n % 5)).collect();
        assert!(lists.iter().zip(0..).all(|(list, n)| list.iter().copied().eq(0..n % 5)));
    }

    #[test]
    fn a_list_may_borrow_from_a_list_kept_before() {
        let arena = Arena::default();
        let name = arena.text("worker".to_owned());
        let words = arena.words.keep([name, "b"]);
        assert_eq!(words, ["worker", "b"]);
    }
}
