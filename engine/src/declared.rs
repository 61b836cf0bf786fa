//! A program that asks as an actor that the workflow declares, with a token.

use std::fs::File;
use std::io::Read;

use orange_core::{Actor, Machine};

use crate::caller::Caller;
use crate::store::{Home, WorkItem, tokens};
use crate::{Error, ErrorKind, Result};

/// A program that presents a token.
#[derive(Debug)]
pub struct DeclaredCaller {
    /// The actor that it asks as.
    name: String,
    token: String,
}

impl DeclaredCaller {
    /// The caller that asks as this actor, with the token in this file, or in standard input for `-`.
    ///
    /// # Errors
    /// `not_allowed` for agents, for the actors of every workflow, and without a token.
    pub fn new(caller: &Caller, name: &str, file: Option<&str>) -> Result<DeclaredCaller> {
        let help = "it is for programs that a person gives a token: `orange project token --help`";
        match caller {
            Caller::Agent { .. } | Caller::Engine => {
                Err(refusal(format!("an agent asks as itself, and not as {name}")).help("leave out --as"))
            }
            Caller::Person if Actor::built_in(name).is_some() => {
                let message = format!(
                    "nobody becomes a {name} by a token: --as takes an actor that the workflow declares"
                );
                Err(refusal(message).help(help))
            }
            Caller::Person => match file {
                Some(file) => Ok(DeclaredCaller { name: name.to_owned(), token: read(file)? }),
                None => Err(refusal(format!("{name} asks with its token: give --token-file")).help(help)),
            },
        }
    }

    /// The actor that asks for a change of this task, or why it may not.
    ///
    /// # Errors
    /// `not_allowed` for a token that is not this actor's in the project of the task, and for an actor that its workflow does
    /// not declare.
    pub fn check(&self, home: &Home, task: &WorkItem, machine: &Machine<'_>) -> Result<Actor> {
        let DeclaredCaller { name, token } = self;
        let project = &task.project;
        if !tokens::is_valid(home, project, name, token)? {
            return Err(refusal(format!("this is not a token of {name} for tasks of {project}")).help(format!(
                "it may be revoked: `orange project tokens --project {project}` lists those that are valid, and \
                 `orange project token {name} --project {project}` makes one for a person"
            )));
        }
        let declared = machine.actor_named(name).filter(|actor| matches!(actor, Actor::Declared(_)));
        declared.ok_or_else(|| {
            refusal(format!("the workflow {} declares no actor {name}", machine.name))
                .help(format!("declare it: `actors: [{name}]`, and name it in the `by` of a transition"))
        })
    }
}

fn read(file: &str) -> Result<String> {
    const LONGEST: u64 = 4096;
    let mut text = String::new();
    let read = match file {
        "-" => std::io::stdin().take(LONGEST).read_to_string(&mut text),
        _ => File::open(file).and_then(|file| file.take(LONGEST).read_to_string(&mut text)),
    };
    match read {
        Ok(_) => Ok(text.trim().to_owned()),
        Err(cause) => Err(Error::new(ErrorKind::Usage, format!("cannot read the token in {file}: {cause}"))
            .help("`orange project token ACTOR` prints one")),
    }
}

fn refusal(message: String) -> Error {
    Error::new(ErrorKind::NotAllowed, message)
}
