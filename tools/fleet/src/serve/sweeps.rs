//! Times of a gateway's sweeps: each sweep counts for all gateways of a store, and one of them makes it in each period.

use std::collections::HashMap;

/// Number of sweeps of each colony that this gateway has seen at its last look.
#[derive(Clone, Debug, Default)]
pub struct Sweeps(HashMap<String, u64>);

impl Sweeps {
    /// Looks at how many sweeps there were. A sweep is due where nobody has swept since the last look, a whole period ago.
    pub fn is_due(&mut self, colony: &str, sweeps: u64) -> bool {
        self.0.insert(colony.to_owned(), sweeps) == Some(sweeps)
    }

    /// This gateway has made the sweep after so many.
    pub fn made(&mut self, colony: &str, before: u64) {
        self.0.insert(colony.to_owned(), before + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time of a period.
    const PERIOD: u64 = 100;

    /// Times of sweeps by gateways that look once in each period, each from its own time and until its own end.
    fn made(gateways: &[(u64, u64)]) -> Vec<u64> {
        let mut known = vec![Sweeps::default(); gateways.len()];
        let mut times = Vec::new();
        for time in 0..20 * PERIOD {
            for ((first, end), sweeps) in gateways.iter().zip(&mut known) {
                let looks = time >= *first && time < *end && (time - first) % PERIOD == 0;
                let before = times.len() as u64;
                if looks && sweeps.is_due("c", before) {
                    sweeps.made("c", before);
                    times.push(time);
                }
            }
        }
        times
    }

    /// Never two sweeps within a period, however many gateways there are, and never two periods without one, also when those end that
    /// have swept.
    #[test]
    fn any_number_of_gateways_sweep_as_often_as_one() {
        const END: u64 = 20 * PERIOD;
        for (second, third) in (0..PERIOD).flat_map(|it| [(it, 0), (it, 37), (it, 99)]) {
            for gone in [END, 5 * PERIOD, 5 * PERIOD + 63] {
                let times = made(&[(0, gone), (second, END), (third, END)]);
                let gaps: Vec<u64> = times.windows(2).map(|it| it[1] - it[0]).collect();
                let is_right = gaps.iter().all(|it| (PERIOD..=2 * PERIOD).contains(it));
                assert!(is_right && times.len() >= 17, "{second} {third} {gone}: {times:?}");
            }
        }
        assert_eq!(made(&[(0, END)]).len(), 19, "one gateway sweeps in every period after its first look");
    }
}
