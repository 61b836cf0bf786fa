//! What a run of `orange` says.

use std::process::Output;

use serde_json::Value;

use crate::answers;
use crate::world::text;

/// Exit status and output of one run.
#[derive(Debug)]
pub(crate) struct Said {
    /// The exit status.
    pub status: i32,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl Said {
    pub(crate) fn from(output: Output) -> Said {
        let status = output.status.code().unwrap_or(-1);
        Said { status, out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// The one JSON value that it wrote.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("no JSON ({error}): {self:#?}"))
    }

    /// The answer of a run that must have succeeded.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!((self.status, self.err.as_str()), (0, ""), "{self:#?}");
        self.json()
    }

    /// Message and help of a run that must have failed with this exit status and this code.
    #[track_caller]
    pub(crate) fn fails(&self, status: i32, code: &str) -> String {
        assert_eq!(self.status, status, "{self:#?}");
        let refusal = self.json();
        answers::check(&["error"], &refusal);
        let error = &refusal["error"];
        assert_eq!(error["code"], code, "{self:#?}");
        let (message, help) = (error["message"].as_str().unwrap(), error["help"].as_str().unwrap());
        assert!(!message.is_empty(), "an error without words: {self:#?}");
        format!("{message}\n{help}")
    }
}
