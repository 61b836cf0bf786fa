//! Ids that sort as they were made: 21 characters that are safe in paths, branches and addresses.
//!
//! Nine digits of base 36 are the time in milliseconds, three count what is made in the same millisecond, nine are random.

use crate::host::Millis;

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const TIME: usize = 9;
const COUNT: usize = 3;
const RANDOM: usize = 9;

/// The first count that has no room.
const COUNTS: u64 = 36 * 36 * 36;

/// The length of an id.
pub const LENGTH: usize = TIME + COUNT + RANDOM;

/// The id that follows `last` at this time; later than `last` even when the clock has gone back.
pub fn next(now: Millis, last: Option<&str>, random: [u8; 8]) -> String {
    let now = u64::try_from(now).unwrap_or(0);
    let (mut time, mut count) = match last.and_then(parts) {
        Some((time, count)) if time >= now => (time, count + 1),
        Some(_) | None => (now, 0),
    };
    if count >= COUNTS {
        (time, count) = (time + 1, 0);
    }
    let mut id = String::with_capacity(LENGTH);
    digits(&mut id, time, TIME);
    digits(&mut id, count, COUNT);
    digits(&mut id, u64::from_be_bytes(random), RANDOM);
    id
}

/// True if this could be an id.
pub fn is_id(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|byte| DIGITS.contains(&byte))
}

fn parts(id: &str) -> Option<(u64, u64)> {
    let number = |text: &str| u64::from_str_radix(text, 36).ok();
    Some((number(id.get(..TIME)?)?, number(id.get(TIME..TIME + COUNT)?)?))
}

fn digits(to: &mut String, mut number: u64, length: usize) {
    let mut text = [b'0'; TIME];
    for place in text.iter_mut().take(length).rev() {
        *place = DIGITS[(number % 36) as usize];
        number /= 36;
    }
    to.extend(text.iter().take(length).map(|byte| char::from(*byte)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_rise_even_when_the_clock_goes_back() {
        let mut ids: Vec<String> = Vec::new();
        for now in [1_795_299_804_025, 1_795_299_804_025, 1_795_299_804_026, 1_795_296_204_026, -5] {
            let id = next(now, ids.last().map(String::as_str), [7; 8]);
            assert!(is_id(&id), "{id}");
            ids.push(id);
        }
        let mut sorted = ids.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(ids, sorted);
    }

    #[test]
    fn a_full_millisecond_lends_from_the_next() {
        let full = format!("{}zzz{}", &next(5, None, [0; 8])[..TIME], "0".repeat(RANDOM));
        let id = next(5, Some(&full), [0; 8]);
        assert_eq!(parts(&id), Some((6, 0)));
        assert!(id > full);
    }
}
