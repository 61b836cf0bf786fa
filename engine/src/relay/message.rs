//! What stands in a request and in a reply: one JSON object each.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::drive::exec::Output;
use crate::members::{self, Members, Object};
use crate::{Error, Kind};

/// The most bytes that a request may have.
pub(super) const LONGEST_REQUEST: u64 = 64 * 1024;

/// The most bytes that a reply may have.
pub(super) const LONGEST_REPLY: u64 = 64 * 1024 * 1024;

/// What an agent asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Request {
    /// The task whose agent it is.
    pub task: String,
    /// The number of its spawn.
    pub spawn: u32,
    /// What it was given to be known by.
    pub secret: Option<String>,
    /// The folder that it stands in.
    pub folder: PathBuf,
    /// The words behind `orange`.
    pub words: Vec<String>,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The command was run.
    Ran {
        /// What it wrote to its standard output.
        stdout: String,
        /// What it wrote to its standard error.
        stderr: String,
        /// Its exit status.
        status: u8,
    },
    /// It was not, or nobody knows what came of it.
    Failed(Error),
}

impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Request, D::Error> {
        members::deserialize(from)
    }
}

impl Object for Request {
    fn take(from: &mut Members) -> Request {
        Request {
            task: from.required("task"),
            spawn: from.required("spawn"),
            secret: from.optional("secret"),
            folder: from.required("folder"),
            words: from.required("words"),
        }
    }
}

impl Reply {
    /// The reply of a command that has ended.
    pub(super) fn of(output: &Output) -> Reply {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.code().and_then(|code| u8::try_from(code).ok()) {
            Some(status) => Reply::Ran { stdout: text(&output.stdout), stderr: text(&output.stderr), status },
            None => Reply::Failed(in_doubt("the command was ended by a signal")),
        }
    }

    /// As it is written.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let json = match self {
            Reply::Ran { stdout, stderr, status } => {
                json!({ "stdout": stdout, "stderr": stderr, "status": status })
            }
            Reply::Failed(error) => {
                json!({ "code": error.kind.code(), "message": error.message, "help": error.help })
            }
        };
        json.to_string().into_bytes()
    }

    /// As it is read; none where it is no reply.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Reply> {
        let mut read: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
        let mut text = |name: &str| match read.remove(name) {
            Some(Value::String(text)) => Some(text),
            Some(_) | None => None,
        };
        if let Some(message) = text("message") {
            let kind = text("code").and_then(|code| Kind::named(&code)).unwrap_or(Kind::Environment);
            return Some(Reply::Failed(Error::new(kind, message).help(text("help").unwrap_or_default())));
        }
        let (stdout, stderr) = (text("stdout")?, text("stderr")?);
        Some(Reply::Ran { stdout, stderr, status: read.get("status")?.as_u64()?.try_into().ok()? })
    }
}

/// The error of a request of which nobody knows what came.
pub(super) fn in_doubt(what: &str) -> Error {
    Error::new(Kind::Environment, format!("{what}: nobody can say whether it did what was asked"))
        .help("`orange task show` says what has become of the task; ask again if nothing has")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: Reply) {
        assert_eq!(Reply::from_bytes(&reply.to_bytes()), Some(reply));
    }

    #[test]
    fn replies_are_read_as_they_were_written() {
        check(Reply::Ran { stdout: "a\n\"b\"\u{1b}".to_owned(), stderr: String::new(), status: 3 });
        check(Reply::Failed(Error::new(Kind::NotAllowed, "no").help("ask")));
        for wrong in ["", "{", "[]", "{}", r#"{"stdout":"","stderr":"","status":256}"#, r#"{"stdout":1}"#] {
            assert_eq!(Reply::from_bytes(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn a_request_is_whole_or_none() {
        let words = vec!["task".to_owned(), "next".to_owned()];
        let request = Request { task: "t1".to_owned(), spawn: 2, folder: "/w".into(), words, secret: None };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
        for end in 0..text.len() {
            assert!(serde_json::from_str::<Request>(&text[..end]).is_err(), "{}", &text[..end]);
        }
    }
}
