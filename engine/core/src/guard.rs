//! Guards: conditions over counters, in disjunctive normal form.

use crate::CounterId;

/// A counter lies between two bounds, both included. Every comparison of the language is one or two of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The counter that is compared.
    pub counter: CounterId,
    /// The smallest allowed value.
    pub low: u32,
    /// The largest allowed value.
    pub high: u32,
}

/// The compiled `when` of a transition or of a `then_when` clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard<'a> {
    /// The source text, which messages quote.
    pub text: &'a str,
    /// The guard holds when all ranges of any one of these hold.
    pub any_of: &'a [&'a [Range]],
}

impl Guard<'_> {
    /// True if the guard holds. A counter that is not given is 0.
    pub const fn holds(&self, counters: &[u32]) -> bool {
        let mut i = 0;
        while i < self.any_of.len() {
            if all_hold(self.any_of[i], counters) {
                return true;
            }
            i += 1;
        }
        false
    }
}

const fn all_hold(ranges: &[Range], counters: &[u32]) -> bool {
    let mut i = 0;
    while i < ranges.len() {
        let Range { counter, low, high } = ranges[i];
        let value = if (counter.0 as usize) < counters.len() { counters[counter.0 as usize] } else { 0 };
        if value < low || value > high {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn range(counter: u16, low: u32, high: u32) -> Range {
        Range { counter: CounterId(counter), low, high }
    }

    #[test]
    fn any_conjunction_is_enough_and_all_its_ranges_are_needed() {
        let guard =
            Guard { text: "", any_of: &[&[range(0, 0, 1), range(1, 3, u32::MAX)], &[range(0, 7, 7)]] };
        assert!(guard.holds(&[1, 3]) && guard.holds(&[0, u32::MAX]) && guard.holds(&[7, 0]));
        assert!(!guard.holds(&[1, 2]) && !guard.holds(&[2, 3]));
    }

    #[test]
    fn the_edges_of_the_normal_form() {
        assert!(!Guard { text: "never", any_of: &[] }.holds(&[0]));
        assert!(Guard { text: "always", any_of: &[&[]] }.holds(&[0]));
        assert!(Guard { text: "absent counters are 0", any_of: &[&[range(5, 0, 0)]] }.holds(&[]));
    }
}
