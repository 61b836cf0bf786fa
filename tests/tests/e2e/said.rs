//! Output of a run of `orange`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::answers;
use crate::world::text;

/// Exit status and output of one run.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    /// The exit status.
    pub status: i32,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
    /// Arguments of `orange`, where they are known.
    asked: Option<Vec<String>>,
}

impl ProgramOutput {
    pub(crate) fn from(output: Output) -> ProgramOutput {
        let status = output.status.code().unwrap_or(-1);
        ProgramOutput { status, out: text(&output.stdout), err: text(&output.stderr), asked: None }
    }

    /// Output of this command.
    pub(crate) fn of(command: &mut Command) -> ProgramOutput {
        let said = ProgramOutput::from(command.output().unwrap());
        let is_ours = Path::new(command.get_program()).file_name().is_some_and(|name| name == "orange");
        let asked = command.get_args().map(|word| word.to_string_lossy().into_owned());
        ProgramOutput { asked: is_ours.then(|| asked.collect()), ..said }
    }

    /// The one JSON value that it wrote.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("no JSON ({error}): {self:#?}"))
    }

    /// The answer of a run that must have succeeded, which fits its schema.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!((self.status, self.err.as_str()), (0, ""), "{self:#?}");
        let answer = self.json();
        if let Some(asked) = &self.asked {
            answers::check(&asked.iter().map(String::as_str).collect::<Vec<_>>(), &answer);
        }
        answer
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
