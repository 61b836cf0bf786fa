//! Reads `xtask/mutants.txt`, the changes that no check notices, with the reasons.

/// The list: changes, each with the reason why no check notices it.
pub(super) struct KnownMutants {
    /// In the order of the file.
    reasons: Vec<(String, String)>,
}

impl KnownMutants {
    /// Reads the list: a line that begins in the first column is a reason, the indented lines under it are changes; `#` begins a comment.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut reasons = Vec::new();
        let mut reason: Option<&str> = None;
        let mut explains = true;
        let lines = text.lines().filter(|it| !it.trim().is_empty() && !it.starts_with('#'));
        for line in lines {
            match (line.strip_prefix("  "), reason) {
                (Some(name), None) => return Err(format!("no reason stands before `{}`", name.trim())),
                (Some(name), Some(reason)) => {
                    reasons.push((name.trim().to_owned(), reason.to_owned()));
                    explains = true;
                }
                (None, _) => {
                    barren(reason, explains)?;
                    (reason, explains) = (Some(line), false);
                }
            }
        }
        barren(reason, explains)?;
        Ok(Self { reasons })
    }

    /// Reason for which no check notices a change.
    pub fn reason(&self, name: &str) -> Option<&str> {
        self.reasons.iter().find(|(of, _)| of == name).map(|(_, reason)| reason.as_str())
    }

    /// The errors of the list: survivors without a reason, and changes that do not survive.
    pub fn compare(&self, survivors: &[String]) -> Vec<String> {
        let unexplained = survivors.iter().filter(|it| self.reason(it).is_none());
        let stale = self.reasons.iter().map(|(name, _)| name).filter(|it| !survivors.contains(it));
        let unexplained = unexplained.map(|it| format!("not explained: {it}"));
        unexplained.chain(stale.map(|it| format!("explained, and does not survive: {it}"))).collect()
    }
}

fn barren(reason: Option<&str>, explains: bool) -> Result<(), String> {
    match reason {
        Some(reason) if !explains => Err(format!("no change stands under `{reason}`")),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_list_and_survivors_is_reported() {
        let known =
            KnownMutants::read("# why\n\nit is a comment\n  a: b\n  c: d\n\nanother\n  e: f\n").unwrap();
        let survivors = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert_eq!(known.compare(&survivors(&["a: b", "e: f", "c: d"])), [""; 0]);
        assert_eq!((known.reason("c: d"), known.reason("x: y")), (Some("it is a comment"), None));
        assert_eq!(
            known.compare(&survivors(&["a: b", "x: y", "c: d"])),
            ["not explained: x: y", "explained, and does not survive: e: f"]
        );
    }

    #[test]
    fn a_list_that_explains_nothing_is_refused() {
        assert!(KnownMutants::read("  a: b\n").is_err());
        assert!(KnownMutants::read("why\nbecause\n  a: b\n").is_err());
        assert!(KnownMutants::read("why\n  a: b\nbecause\n").is_err());
    }
}
