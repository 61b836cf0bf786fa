//! The feedback on the pull request of a task, a file for each round.

use std::path::PathBuf;

use orange_api::Feedback;
use orange_system::files::{entries, if_found};
use orange_system::{atomic, nofollow};

use crate::store::{LockedWorkItem, WorkItemDir, home};
use crate::{Error, ErrorKind, Result};

/// The longest file that is read.
const LONGEST: u64 = 16 << 20;

/// Writes the feedback of a round. A file of the same round is replaced: its transition was not taken.
pub fn write(locked: &LockedWorkItem, feedback: &Feedback) -> Result<()> {
    let path = file(locked.dir(), feedback.number);
    home::make_folder(path.parent().unwrap_or(&path))?;
    let json = serde_json::to_vec(feedback)
        .map_err(|cause| Error::new(ErrorKind::Environment, format!("the feedback has no JSON: {cause}")))?;
    atomic::write(&path, &json)
}

/// The feedback of a round; `None` if there is none.
pub fn read(dir: &WorkItemDir, number: u32) -> Result<Option<Feedback>> {
    let path = file(dir, number);
    let Some(bytes) = if_found(&path, nofollow::read(&path, LONGEST))? else { return Ok(None) };
    let feedback = serde_json::from_slice(&bytes).map_err(|cause| {
        let message = format!("{} cannot be read: {cause}", path.display());
        Error::new(ErrorKind::Corrupt, message).help("remove it: the next round does not need it")
    })?;
    Ok(Some(feedback))
}

/// The feedback of the newest round; `None` before the first one.
pub fn newest(dir: &WorkItemDir) -> Result<Option<Feedback>> {
    match rounds(dir)?.last() {
        Some(number) => read(dir, *number),
        None => Ok(None),
    }
}

/// The rounds of which there is feedback, in order.
pub fn rounds(dir: &WorkItemDir) -> Result<Vec<u32>> {
    let names = entries(&dir.feedback())?.into_iter().map(|entry| entry.file_name());
    let mut rounds: Vec<u32> = names
        .filter_map(|name| {
            let number: u32 = name.to_str()?.strip_suffix(".json")?.parse().ok()?;
            (*name == *format!("{number}.json")).then_some(number)
        })
        .collect();
    rounds.sort_unstable();
    Ok(rounds)
}

fn file(dir: &WorkItemDir, number: u32) -> PathBuf {
    dir.feedback().join(format!("{number}.json"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use orange_api::ReviewDecision;

    use super::*;
    use crate::store::tests::{home, task};

    fn of_round(number: u32) -> Feedback {
        Feedback {
            number,
            cause: "pr.checks".to_owned(),
            pull_request: None,
            commit: "c0ffee".to_owned(),
            time: "2026-11-20T10:00:00.000Z".to_owned(),
            review: ReviewDecision::None,
            checks: Vec::new(),
            threads: Vec::new(),
            comments: Vec::new(),
            conflict: None,
            children: Vec::new(),
            others: 0,
            gaps: Vec::new(),
        }
    }

    #[test]
    fn each_round_has_a_file() {
        let (_guard, home) = home();
        let locked = task(&home, "fix");
        let dir = locked.dir();
        assert_eq!((newest(dir).unwrap(), rounds(dir).unwrap()), (None, vec![]));
        for number in [1, 2, 10] {
            write(&locked, &of_round(number)).unwrap();
        }
        for name in ["11.json.tmp", "x.json", "012.json", ".json"] {
            fs::write(dir.feedback().join(name), "{}").unwrap();
        }
        assert_eq!(rounds(dir).unwrap(), [1, 2, 10]);
        assert_eq!(read(dir, 2).unwrap(), Some(of_round(2)));
        assert_eq!(read(dir, 3).unwrap(), None);
        assert_eq!(newest(dir).unwrap(), Some(of_round(10)));
    }

    #[test]
    fn a_round_that_was_not_taken_is_written_again() {
        let (_guard, home) = home();
        let locked = task(&home, "fix");
        write(&locked, &of_round(1)).unwrap();
        let newer = Feedback { commit: "bad".to_owned(), ..of_round(1) };
        write(&locked, &newer).unwrap();
        assert_eq!(newest(locked.dir()).unwrap(), Some(newer));
    }

    #[test]
    fn half_a_file_and_a_link_are_not_read() {
        let (_guard, home) = home();
        let locked = task(&home, "fix");
        let dir = locked.dir();
        write(&locked, &of_round(1)).unwrap();
        let written = fs::read(file(dir, 1)).unwrap();
        fs::write(file(dir, 1), &written[..written.len() / 2]).unwrap();
        assert_eq!(read(dir, 1).unwrap_err().kind, ErrorKind::Corrupt);
        fs::write(dir.feedback().join("other"), &written).unwrap();
        std::os::unix::fs::symlink("other", file(dir, 2)).unwrap();
        assert!(read(dir, 2).is_err());
    }
}
