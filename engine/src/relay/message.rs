//! Requests and replies: one JSON object each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind};
use orange_system::exec::CallOutput;

/// The most bytes that a request may have.
pub(super) const LONGEST_REQUEST: u64 = 16 * 1024 * 1024;

/// The most bytes that a reply may have.
pub(super) const LONGEST_REPLY: u64 = 64 * 1024 * 1024;

/// A request of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RelayRequest {
    /// The task whose agent it is.
    pub task: String,
    /// The number of its spawn.
    pub spawn: u32,
    /// The secret of the agent.
    pub secret: Option<String>,
    /// Its current folder.
    pub folder: PathBuf,
    /// The words after `orange`.
    pub words: Vec<String>,
    /// Standard input of the command.
    #[serde(default)]
    pub input: String,
}

/// True for a command that waits for a person: a harness's request for a permission.
pub(super) fn is_held(words: &[String]) -> bool {
    words.iter().map(String::as_str).eq(["agent", "event", "--hold"])
}

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RelayReply {
    /// The command was run.
    Ran {
        /// Standard output of the command.
        stdout: String,
        /// Standard error of the command.
        stderr: String,
        /// Its exit status.
        status: u8,
    },
    /// It was not run, or its result is unknown.
    Failed(Error),
}

impl RelayReply {
    /// The reply of a command that has ended.
    pub(super) fn of(output: &CallOutput) -> RelayReply {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.code().and_then(|code| u8::try_from(code).ok()) {
            Some(status) => {
                RelayReply::Ran { stdout: text(&output.stdout), stderr: text(&output.stderr), status }
            }
            None => RelayReply::Failed(in_doubt("the command was ended by a signal")),
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Parses a reply.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<RelayReply> {
        serde_json::from_slice(bytes).ok()
    }
}

/// The error of a request whose result is unknown.
pub(super) fn in_doubt(what: &str) -> Error {
    Error::new(ErrorKind::Environment, format!("{what}: it is unknown whether the request was carried out"))
        .help("`orange task show`, or `orange step show` at a step, shows how it stands; ask again if that has not changed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: RelayReply) {
        assert_eq!(RelayReply::from_bytes(&reply.to_bytes()), Some(reply));
    }

    #[test]
    fn replies_are_read_as_they_were_written() {
        check(RelayReply::Ran { stdout: "a\n\"b\"\u{1b}".to_owned(), stderr: String::new(), status: 3 });
        check(RelayReply::Failed(Error::new(ErrorKind::NotAllowed, "no").help("ask")));
        for wrong in ["", "{", "[]", "{}", r#"{"stdout":"","stderr":"","status":256}"#, r#"{"stdout":1}"#] {
            assert_eq!(RelayReply::from_bytes(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn a_request_is_whole_or_none() {
        let words = vec!["task".to_owned(), "next".to_owned()];
        let request = RelayRequest {
            task: "t1".to_owned(),
            spawn: 2,
            folder: "/w".into(),
            words,
            secret: None,
            input: String::new(),
        };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<RelayRequest>(&text).unwrap(), request);
        for end in 0..text.len() {
            assert!(serde_json::from_str::<RelayRequest>(&text[..end]).is_err(), "{}", &text[..end]);
        }
    }
}
