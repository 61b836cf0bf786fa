//! Form of the state that journals fold to.

/// A number that changes with the source that folds journals: a cache of another form is not read.
pub const FORM: u64 = sum_of(&[
    include_bytes!("event.rs"),
    include_bytes!("event/convert.rs"),
    include_bytes!("event/declare.rs"),
    include_bytes!("event/ends.rs"),
    include_bytes!("event/objects.rs"),
    include_bytes!("event/spent.rs"),
    include_bytes!("event/words.rs"),
    include_bytes!("history/agents.rs"),
    include_bytes!("history/branch.rs"),
    include_bytes!("history/budget.rs"),
    include_bytes!("history/gates.rs"),
    include_bytes!("history/mission.rs"),
    include_bytes!("history/mod.rs"),
    include_bytes!("history/owned.rs"),
    include_bytes!("history/seat.rs"),
    include_bytes!("history/transition.rs"),
    include_bytes!("history/worktree.rs"),
    include_bytes!("read.rs"),
    include_bytes!("record.rs"),
    include_bytes!("set.rs"),
]);

/// FNV-1a, as a constant needs it.
const fn sum_of(sources: &[&[u8]]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut source = 0;
    while source < sources.len() {
        let mut at = 0;
        while at < sources[source].len() {
            sum = (sum ^ sources[source][at] as u64).wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        source += 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_a_hash_of_all_bytes() {
        assert_eq!(sum_of(&[]), orange_core::fnv1a(*b""));
        assert_eq!(sum_of(&[b"foo", b"", b"bar"]), orange_core::fnv1a(*b"foobar"));
        assert_ne!(FORM, sum_of(&[]));
    }

    #[test]
    fn every_source_that_folds_is_in_it() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        for folder in ["event", "history"] {
            let files = std::fs::read_dir(format!("{source}/{folder}")).unwrap();
            for name in files.map(|file| file.unwrap().file_name().into_string().unwrap()) {
                let is_in_it = include_str!("form.rs").contains(&format!("\"{folder}/{name}\""));
                assert!(is_in_it || ["sample.rs", "tests.rs"].contains(&&*name), "{folder}/{name}");
            }
        }
    }
}
