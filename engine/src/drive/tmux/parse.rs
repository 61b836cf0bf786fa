//! Parsers of tmux's output.

use std::fmt;
use std::path::PathBuf;

/// A version of tmux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TmuxVersion {
    /// Major version: 3 of 3.3a.
    pub major: u32,
    /// Minor version: 3 of 3.3a.
    pub minor: u32,
}

/// One pane of a tmux server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pane {
    /// The session's name, which a person may have changed.
    pub session: String,
    /// The session's id, such as `$1`.
    pub session_id: String,
    /// The window's name, which a person or a program may have changed.
    pub window: String,
    /// The window's id, such as `@2`.
    pub window_id: String,
    /// The pane's id, such as `%3`.
    pub pane_id: String,
    /// Its terminal, such as `/dev/pts/7`.
    pub tty: PathBuf,
    /// Its first process, which leads a session.
    pub pid: i32,
    /// True if that process has ended, which needs `remain-on-exit`.
    pub dead: bool,
    /// Time of the last change of its window's output, in seconds since 1970.
    pub changed: u64,
    /// The task of its session; `None` for a session that is not ours.
    pub task: Option<String>,
    /// The window name under which we started an agent here; `None` for a pane of a person.
    pub agent: Option<String>,
}

/// The format that [`parse_panes`] reads. Session names cannot contain a colon, and the fields before them are ids and numbers, or
/// ours; a window's name can contain anything but a line break and comes last.
pub(super) const PANE_FORMAT: &str = "#{session_id}:#{window_id}:#{pane_id}:#{pane_pid}:#{pane_dead}:#{window_activity}:#{pane_tty}:\
                                      #{@orange_task}:#{@orange_agent}:#{session_name}:#{window_name}";

/// The panes in output of [`PANE_FORMAT`]; `None` if a line has another form.
pub(super) fn parse_panes(printed: &str) -> Option<Vec<Pane>> {
    printed.lines().map(parse_pane).collect()
}

fn parse_pane(line: &str) -> Option<Pane> {
    let mut fields = line.splitn(11, ':');
    let mut text = || fields.next().map(str::to_owned);
    let marked = |mark: String| Some(mark).filter(|mark| !mark.is_empty());
    let pane = Pane {
        session_id: text()?,
        window_id: text()?,
        pane_id: text()?,
        pid: text()?.parse().ok()?,
        dead: text()? == "1",
        changed: text()?.parse().unwrap_or_default(),
        tty: text()?.into(),
        task: marked(text()?),
        agent: marked(text()?),
        session: text()?,
        window: text()?,
    };
    pane.pane_id.starts_with('%').then_some(pane)
}

/// The version in the output of `tmux -V`. `None` for versions without numbers, such as `master` and those of OpenBSD: they are new
/// enough.
pub(super) fn parse_version(printed: &str) -> Option<TmuxVersion> {
    let word = printed.trim().strip_prefix("tmux ")?;
    let number = word.strip_prefix("next-").unwrap_or(word);
    let (major, rest) = number.split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some(TmuxVersion { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

/// True if this complaint means that there is no server, or one without sessions that is about to end.
pub(super) fn says_no_server(complaint: &str) -> bool {
    complaint.starts_with("no server running on ")
        || ["no current target", "no sessions"].contains(&complaint)
        || (complaint.starts_with("error connecting to ")
            && complaint.ends_with("(No such file or directory)"))
}

/// True if this complaint means that the server ended during the call.
pub(super) fn says_server_ended(complaint: &str) -> bool {
    complaint.contains("server exited") || complaint.contains("lost server")
}

/// True if this complaint means that the target does not exist.
pub(super) fn says_no_target(complaint: &str) -> bool {
    says_no_server(complaint)
        || ["can't find session", "can't find window", "can't find pane"]
            .iter()
            .any(|start| complaint.starts_with(start))
}

impl fmt::Display for TmuxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_version(printed: &str, expect: Option<(u32, u32)>) {
        let version = expect.map(|(major, minor)| TmuxVersion { major, minor });
        assert_eq!(parse_version(printed), version);
    }

    #[test]
    fn versions() {
        check_version("tmux 3.3a\n", Some((3, 3)));
        check_version("tmux 2.9", Some((2, 9)));
        check_version("tmux 3.10-rc2", Some((3, 10)));
        check_version("tmux next-3.5\n", Some((3, 5)));
        check_version("tmux openbsd-7.4\n", None);
        check_version("tmux master\n", None);
        check_version("", None);
        assert!(TmuxVersion { major: 3, minor: 10 } > TmuxVersion { major: 3, minor: 2 });
    }

    #[test]
    fn panes() {
        let printed = "$0:@0:%0:3861:0:1700000000:/dev/pts/7:k3v9Qa:worker:p/fix:worker\n\
                       $1:@4:%7:3870:1:::::mine:a: strange \"name\"\n";
        let panes = parse_panes(printed).unwrap();
        let [ours, foreign] = panes.as_slice() else { panic!("{panes:?}") };
        assert_eq!((ours.task.as_deref(), ours.agent.as_deref()), (Some("k3v9Qa"), Some("worker")));
        assert_eq!((ours.session.as_str(), ours.pid, ours.dead), ("p/fix", 3861, false));
        assert_eq!(ours.tty, PathBuf::from("/dev/pts/7"));
        assert_eq!((&foreign.task, &foreign.agent, foreign.dead), (&None, &None, true));
        assert_eq!(foreign.window, "a: strange \"name\"");
        assert_eq!(parse_panes("").unwrap(), []);
        assert_eq!(parse_panes("server exited unexpectedly"), None);
    }

    #[test]
    fn only_a_missing_server_is_an_empty_one() {
        assert!(says_no_server("no server running on /tmp/tmux-0/orange"));
        assert!(says_no_server("error connecting to /tmp/tmux-0/orange (No such file or directory)"));
        assert!(!says_no_server("error connecting to /tmp/tmux-0/orange (Permission denied)"));
        assert!(says_no_server("no current target"));
        assert!(!says_no_server("server exited unexpectedly"));
        assert!(!says_no_server("lost server") && says_server_ended("lost server"));
        assert!(says_server_ended("server exited unexpectedly"));
        assert!(says_no_target("can't find session: p/fix"));
        assert!(!says_no_target("command too long"));
    }
}
