//! The commands of a walk: one a line, in scripts, at the prompt and in traces.

use std::fmt;

use orange_core::{Actor, Fact, FactKind};

use super::{Act, Impossible, WalkEnd};
use crate::search::sections::{FAILS, SUCCEEDS};

/// The actor of requests that name none.
const PERSON: &str = Actor::Human.kind();

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Something that somebody does.
    Act(Act),
    /// Set a counter.
    Set {
        counter: String,
        /// Its new value.
        value: u32,
    },
    /// Show the transitions from here.
    Next,
    /// Show the task.
    Show,
    /// Take the last command back.
    Back,
    /// Show these commands.
    Help,
    Quit,
}

/// Help text that lists the commands.
pub const HELP: &str = "\
write ## NAME: TEXT          write a section of TASK.md; \\n begins a new line
                             a name with a colon stands in quotes
status STATE [by ACTOR]      ask for a state; ACTOR is worker, reviewer, human or an
                             actor that the workflow declares
spawn                        `orange task spawn`: start the task
respawn                      `orange task respawn`: start its agent again
fail HOOK                    the next hook with this action fails
retry-hooks                  `orange task update --retry-hooks`: run those that
                             wait
program COMMAND: succeeds    what a program that gates ask answers from now on;
                             or `fails`, as at first
commit                       the work changes
sync                         the work takes in what the base has, without a
                             conflict: its own changes stay the same
checks WORD                  the checks of the pull request are green, red,
                             pending or none from now on
children WORD                of the tasks that it has created, some are open from
                             now on, or none
fact KIND VALUE              a fact holds that the workflow may watch: `fact
                             pr.checks red`, `fact pr.threads open`, `fact base
                             conflict`
die [worker|reviewer [NAME]] [with CODE] [by SIGNAL] [after SECONDS] [spent] [saying TEXT]
                             the agent ends: with this exit status, by this
                             signal, so long after the task came to its state,
                             with this in its last lines
elapse [after SECONDS]       the time that the task may spend in its state, or
                             within some states, is over: the next one, or what
                             is over so long after the task came to its state
set COUNTER NUMBER           set a counter
next                         show the transitions from here, and what closes each
show                         show the task
back                         take the last command back
quit                         stop
";

impl Command {
    /// Reads a line. Nothing for one that is empty or a comment.
    ///
    /// # Errors
    /// What is wrong with the line, and what to write.
    pub fn parse(line: &str) -> Result<Option<Self>, Impossible> {
        let line = line.trim();
        if line.is_empty() || (line.starts_with('#') && !line.starts_with("##")) {
            return Ok(None);
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let words: Vec<&str> = rest.split_whitespace().collect();
        Ok(Some(match (word, &words[..]) {
            ("write", [_, ..]) => Self::Act(write(rest)?),
            ("status", [to]) => Self::Act(Act::Request { to: (*to).to_owned(), by: PERSON.to_owned() }),
            ("status", [to, "by", who]) => {
                Self::Act(Act::Request { to: (*to).to_owned(), by: (*who).to_owned() })
            }
            ("die", _) => Self::Act(die(rest)?),
            ("set", [counter, value]) => {
                Self::Set { counter: (*counter).to_owned(), value: self::value(value)? }
            }
            ("program", [_, ..]) => Self::Act(program(rest)?),
            ("checks", [word]) => Self::Act(Act::Checks { word: (*word).to_owned() }),
            ("children", [word]) => Self::Act(Act::Children { word: (*word).to_owned() }),
            ("spawn", []) => Self::Act(Act::Spawn),
            ("respawn", []) => Self::Act(Act::Respawn),
            ("fail", [hook]) => Self::Act(Act::Fail { hook: (*hook).to_owned() }),
            ("retry-hooks", []) => Self::Act(Act::RetryHooks),
            ("fact", [kind, value]) => Self::Act(fact(kind, value)?),
            ("commit", []) => Self::Act(Act::Commit { is_sync: false }),
            ("sync", []) => Self::Act(Act::Commit { is_sync: true }),
            ("elapse", []) => Self::Act(Act::Elapse { after: None }),
            ("elapse", ["after", seconds]) => Self::Act(Act::Elapse { after: Some(value(seconds)?) }),
            ("next", []) => Self::Next,
            ("show", []) => Self::Show,
            ("back", []) => Self::Back,
            ("help" | "?", []) => Self::Help,
            ("quit" | "exit", []) => Self::Quit,
            _ => return Err(Impossible(no_command(line, word))),
        }))
    }
}

/// Message for a line that is not a command: the form of the command that it begins with, or a hint at `help`.
fn no_command(line: &str, word: &str) -> String {
    let mut known = HELP.lines().filter_map(|it| it.split_once("  ")).map(|(form, _)| form);
    match known.find(|form| form.split(' ').next() == Some(word)) {
        Some(form) => format!("`{line}` is not all of a command: `{form}`"),
        None => format!("`{line}` is not a command; `help` lists them"),
    }
}

/// `reviewer with 75 saying rate limit`: every part may be left out, and the last words may be any.
fn die(rest: &str) -> Result<Act, Impossible> {
    let (how, output) = match rest.strip_prefix("saying ") {
        Some(output) => ("", output),
        None => rest.split_once(" saying ").unwrap_or((rest, "")),
    };
    let mut ended = WalkEnd { output: unescaped(output.trim()), ..WalkEnd::default() };
    let mut words = how.split_whitespace().peekable();
    let is_how = |it: &&str| matches!(*it, "with" | "by" | "after" | "spent");
    let who = words.next_if(|it| !is_how(it));
    let agent = who.map_or(Ok(Actor::Worker), agent)?;
    let name = words.next_if(|it| agent == Actor::Reviewer && !is_how(it)).map(str::to_owned);
    while let Some(word) = words.next() {
        if word == "spent" {
            ended.spent = true;
            continue;
        }
        let number = words.next().and_then(|it| it.parse().ok());
        match (word, number) {
            ("with", Some(code)) => ended.code = Some(code),
            ("by", Some(signal)) => ended.signal = Some(signal),
            ("after", Some(seconds)) => ended.lasted = seconds.unsigned_abs(),
            _ => return Err(Impossible(no_command(&format!("die {rest}"), "die"))),
        }
    }
    Ok(Act::End { agent, name, ended })
}

/// A heading ends at the first colon, or, where it has one itself, at its closing quotes.
fn write(rest: &str) -> Result<Act, Impossible> {
    let quoted = rest.strip_prefix('"').and_then(|it| it.split_once("\":"));
    let (heading, text) = quoted.or_else(|| rest.split_once(':')).ok_or_else(|| {
        Impossible("write the section and its text: `write ## Handoff: DONE: all`".to_owned())
    })?;
    Ok(Act::Write { heading: heading.trim().to_owned(), text: unescaped(text.trim()) })
}

/// `make test: succeeds`
fn program(rest: &str) -> Result<Act, Impossible> {
    let says = rest.rsplit_once(':').map(|(program, answer)| (program.trim().to_owned(), answer.trim()));
    match says {
        Some((program, SUCCEEDS)) => Ok(Act::Answer { program, succeeds: true }),
        Some((program, FAILS)) => Ok(Act::Answer { program, succeeds: false }),
        Some(_) | None => {
            Err(Impossible(format!("write the program and its answer: `program {rest}: {SUCCEEDS}`")))
        }
    }
}

/// `pr.checks red`
fn fact(kind: &str, value: &str) -> Result<Act, Impossible> {
    let found = FactKind::parse(kind).and_then(|kind| Fact::of(kind, value));
    found.map(|fact| Act::Fact { fact }).ok_or_else(|| {
        let known: Vec<String> = Fact::ALL.into_iter().map(line).collect();
        Impossible(format!("`{kind} {value}` is not a fact; these are: {}", known.join(", ")))
    })
}

fn line(fact: Fact) -> String {
    format!("{} {}", fact.kind().as_str(), fact.word())
}

fn value(word: &str) -> Result<u32, Impossible> {
    let not_a_value = |_| Impossible(format!("`{word}` is not a whole number from 0 to {}", u32::MAX));
    word.parse().map_err(not_a_value)
}

fn agent(word: &str) -> Result<Actor, Impossible> {
    let found = [Actor::Worker, Actor::Reviewer].into_iter().find(|it| it.kind() == word);
    found.ok_or_else(|| Impossible(format!("`{word}` is neither worker nor reviewer")))
}

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n")
}

impl fmt::Display for Act {
    /// The line that says it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { heading, text } => {
                let quotes = if heading.contains(':') { "\"" } else { "" };
                write!(f, "write {quotes}{heading}{quotes}: {}", text.trim_end().replace('\n', "\\n"))
            }
            Self::Request { to, by } if by == PERSON => write!(f, "status {to}"),
            Self::Request { to, by } => write!(f, "status {to} by {by}"),
            Self::Spawn => f.write_str("spawn"),
            Self::Respawn => f.write_str("respawn"),
            Self::Fail { hook } => write!(f, "fail {hook}"),
            Self::RetryHooks => f.write_str("retry-hooks"),
            Self::Answer { program, succeeds } => {
                write!(f, "program {program}: {}", if *succeeds { SUCCEEDS } else { FAILS })
            }
            Self::Checks { word } => write!(f, "checks {word}"),
            Self::Children { word } => write!(f, "children {word}"),
            Self::Fact { fact } => write!(f, "fact {}", line(*fact)),
            Self::Commit { is_sync: false } => f.write_str("commit"),
            Self::Commit { is_sync: true } => f.write_str("sync"),
            Self::Elapse { after: None } => f.write_str("elapse"),
            Self::Elapse { after: Some(seconds) } => write!(f, "elapse after {seconds}"),
            Self::End { agent, name, ended: WalkEnd { code, signal, output, lasted, spent } } => {
                write!(f, "die {}", agent.kind())?;
                name.as_ref().map_or(Ok(()), |name| write!(f, " {name}"))?;
                code.map_or(Ok(()), |code| write!(f, " with {code}"))?;
                signal.map_or(Ok(()), |signal| write!(f, " by {signal}"))?;
                if *lasted > 0 {
                    write!(f, " after {lasted}")?;
                }
                if *spent {
                    f.write_str(" spent")?;
                }
                let output = output.trim().replace('\n', "\\n");
                if output.is_empty() { Ok(()) } else { write!(f, " saying {output}") }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str) {
        let command = Command::parse(line).expect("a command").expect("not empty");
        let Command::Act(act) = command else { panic!("{line} is not an act") };
        assert_eq!(act.to_string(), line);
    }

    #[test]
    fn acts_are_written_as_they_are_read() {
        check("write ## Handoff: DONE: all\\nREMAINING: nothing");
        check("write ## Empty: ");
        check("write \"## Done: all\": It is: done.");
        check("write ## \"Done\": all");
        check("status stuck");
        check("status agent-review by worker");
        check("status done by ci");
        check("spawn");
        check("die worker with 1 spent");
        check("respawn");
        check("fail run_command");
        check("retry-hooks");
        check("program make test: succeeds");
        check("program ./check a:b: fails");
        check("checks green");
        check("fact pr.checks red");
        check("children some");
        check("fact children merged");
        check("fact base conflict");
        check("commit");
        check("sync");
        check("elapse");
        check("elapse after 7200");
        check("die reviewer");
        check("die reviewer security with 1");
        check("die worker with 75 saying API Error: rate limit");
        check("die worker by 9");
        check("die worker with 1 after 7200 saying late");
        check("die worker saying one\\ntwo");
    }

    #[test]
    fn other_lines_say_what_to_write() {
        for line in [
            "write ## Handoff",
            "status",
            "status a b",
            "program make",
            "program make: maybe",
            "checks",
            "set x",
            "set x -1",
            "elapse after",
            "dance",
            "fact base",
            "fact base red",
            "die cat",
            "die by",
            "die worker with no",
        ] {
            assert!(Command::parse(line).is_err(), "{line}");
        }
        let says = |line| Command::parse(line).expect_err("no command").0;
        assert_eq!(says("status"), "`status` is not all of a command: `status STATE [by ACTOR]`");
        assert_eq!(says("dance"), "`dance` is not a command; `help` lists them");
        assert_eq!(says("set x 4294967296"), "`4294967296` is not a whole number from 0 to 4294967295");
        assert_eq!(Command::parse(" # a comment "), Ok(None));
        assert_eq!(Command::parse(""), Ok(None));
    }
}
