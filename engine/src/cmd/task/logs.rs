//! `orange task logs`: shows the transcript of an agent.

use crate::app::App;
use crate::cmd::answer::{CommandAnswer, one_line};
use crate::cmd::args::LogsArgs;
use crate::flow::doing::works_as;
use crate::flow::transcript::{Transcript, TranscriptTurn, TurnContent, follow, plain, transcript, turns};
use crate::store::WorkItemDir;
use crate::store::transcripts::TranscriptForm;
use crate::{Error, ErrorKind, Result};
use orange_api::Logs;
use std::borrow::Cow;

/// Shows the transcript of an agent so far. With `--follow` and a living agent, it goes on until the agent ends.
pub fn run(
    app: &App,
    dir: &WorkItemDir,
    args: &LogsArgs,
    as_json: bool,
    tell: &dyn Fn(&CommandAnswer) -> Result<bool>,
) -> Result<CommandAnswer> {
    if args.raw && as_json {
        return Err(Error::new(ErrorKind::Usage, "`--raw` and `--json` are two forms of one answer")
            .help("leave one of them out; the raw transcript of most agents is a JSON object a line"));
    }
    let found = transcript(app, dir, args.spawn)?;
    if args.follow && found.is_alive {
        let spawn = found.agent.spawn;
        follow(app, dir, found, !args.raw, |form, new| tell_new(form, args.raw, spawn, new, tell))?;
        return Ok(CommandAnswer::default());
    }
    let Some(source) = &found.source else { return Err(nothing(dir, &found)) };
    let contents = source.read()?;
    match args.raw {
        true => Ok(CommandAnswer::raw(contents)),
        false => whole(dir, &found, source.form(), &contents),
    }
}

fn whole(
    dir: &WorkItemDir,
    found: &Transcript,
    form: TranscriptForm,
    contents: &[u8],
) -> Result<CommandAnswer> {
    let (shown, turns) = match form {
        TranscriptForm::Pane => (Some(without_repeats(&plain(contents))), None),
        TranscriptForm::Jsonl => (None, Some(turns(contents))),
    };
    let body = shown.iter().cloned().chain(turns.iter().flatten().map(to_text)).collect::<Vec<_>>();
    let text = heading(found) + &body.join("\n");
    let whole = Logs::Whole {
        id: dir.id.as_str().into(),
        spawn: found.agent.spawn,
        actor: Cow::Borrowed(&found.agent.actor),
        step: found.agent.step.as_deref().map(Into::into),
        role: found.agent.role.as_deref().map(Into::into),
        harness: found.agent.harness.as_str().into(),
        conversation: found.conversation.as_deref().map(Into::into),
        resumed: found.agent.resumed,
        alive: found.is_alive,
        form: form.to_string(),
        text: shown.as_deref().map(Into::into),
        turns: turns.as_ref().map(|turns| turns.iter().map(to_answer).collect()),
    };
    CommandAnswer::of(&whole, text.trim_end())
}

fn heading(found: &Transcript) -> String {
    let agent = &found.agent;
    let conversation = found.conversation.as_ref().map(|id| format!(", conversation {id}"));
    let resumed = if agent.resumed { ", continued" } else { "" };
    let alive = if found.is_alive { ", alive" } else { "" };
    format!(
        "agent {} ({}, {}{}{resumed}{alive})\n\n",
        agent.spawn,
        works_as(&agent.seat(), agent.step.as_deref(), agent.role.as_deref()),
        agent.harness,
        conversation.unwrap_or_default()
    )
}

fn nothing(dir: &WorkItemDir, found: &Transcript) -> Error {
    let spawn = found.agent.spawn;
    Error::new(ErrorKind::NotFound, format!("there is no transcript of agent {spawn}")).help(format!(
        "it has written nothing, or newer transcripts have replaced it; `orange {} show {}` has its end",
        dir.kind.word(),
        dir.id
    ))
}

/// Passes a new part of the transcript on to `tell`. Returns true if the output is still open.
fn tell_new(
    form: TranscriptForm,
    raw: bool,
    spawn: u32,
    new: Vec<u8>,
    tell: &dyn Fn(&CommandAnswer) -> Result<bool>,
) -> Result<bool> {
    if raw {
        return tell(&CommandAnswer::raw(new));
    }
    if form == TranscriptForm::Pane {
        let text = without_repeats(&plain(&new));
        return tell(&CommandAnswer::of(&Logs::Pane { spawn, text: text.as_str().into() }, text.trim_end())?);
    }
    for turn in turns(&new) {
        let line = Logs::Turn(orange_api::Turn { spawn: Some(spawn), ..to_answer(&turn) });
        if !tell(&CommandAnswer::of(&line, to_text(&turn))?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn to_answer(turn: &TranscriptTurn) -> orange_api::Turn<'_> {
    let of = orange_api::Turn {
        time: turn.time.as_deref().map(Into::into),
        kind: turn.what.kind().into(),
        ..orange_api::Turn::default()
    };
    match &turn.what {
        TurnContent::Asked(text) | TurnContent::Said(text) | TurnContent::Thought(text) => {
            orange_api::Turn { text: Some(text.into()), ..of }
        }
        TurnContent::Called { tool, arguments } => {
            orange_api::Turn { tool: Some(tool.into()), arguments: Some(arguments.into()), ..of }
        }
        TurnContent::Answered { text, failed } => {
            orange_api::Turn { text: Some(text.into()), failed: Some(*failed), ..of }
        }
    }
}

/// Shortens the results and arguments of tools; messages to and from the agent stay whole.
fn to_text(turn: &TranscriptTurn) -> String {
    const WIDTH: usize = 200;
    let time = turn.time.as_deref().and_then(|time| time.get(11..19)).unwrap_or("        ");
    let body = match &turn.what {
        TurnContent::Asked(text) => indented("> ", text),
        TurnContent::Said(text) => indented("", text),
        TurnContent::Thought(text) => indented("~ ", text),
        TurnContent::Called { tool, arguments } => {
            format!("$ {}: {}", one_line(tool, WIDTH), one_line(arguments, WIDTH))
        }
        TurnContent::Answered { text, failed } => result(text, *failed, WIDTH),
    };
    format!("{time} {body}")
}

const INDENT: &str = "\n         ";

fn indented(mark: &str, text: &str) -> String {
    let text = plain(text.as_bytes());
    let lines: Vec<String> = text.trim().lines().map(|line| format!("{mark}{line}")).collect();
    lines.join(INDENT)
}

fn result(text: &str, failed: bool, width: usize) -> String {
    const LINES: usize = 4;
    let text = plain(text.as_bytes());
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let mark = if failed { "! " } else { "| " };
    let shown = lines.iter().take(LINES).map(|line| format!("{mark}{}", one_line(line, width)));
    let left = lines.len().saturating_sub(LINES);
    let more = (left > 0).then(|| format!("{mark}… {left} more lines"));
    let shown: Vec<String> = shown.chain(more).collect();
    if shown.is_empty() { mark.trim_end().to_owned() } else { shown.join(INDENT) }
}

/// Leaves out repeated lines: a program that redraws its screen prints the same lines many times.
fn without_repeats(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.dedup();
    let mut text = lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(what: TurnContent, expect: &str) {
        assert_eq!(
            to_text(&TranscriptTurn { time: Some("2026-11-22T13:40:17.294Z".to_owned()), what }),
            expect
        );
    }

    #[test]
    fn turns_are_short_lines() {
        check(TurnContent::Asked("Do it.\nNow.\n".to_owned()), "13:40:17 > Do it.\n         > Now.");
        check(TurnContent::Said("\u{1b}[31mDone.".to_owned()), "13:40:17 Done.");
        let call = |arguments: &str| TurnContent::Called {
            tool: "Bash".to_owned(),
            arguments: arguments.to_owned(),
        };
        check(call("ls\n\u{7}-l"), "13:40:17 $ Bash: ls -l");
        let answer = |text: &str, failed| TurnContent::Answered { text: text.to_owned(), failed };
        check(
            answer("a\n\nb\nc\nd\ne\nf", false),
            "13:40:17 | a\n         | b\n         | c\n         | d\n         | … 2 more lines",
        );
        check(answer("no", true), "13:40:17 ! no");
        check(answer("", false), "13:40:17 |");
        let long = "x".repeat(1000);
        assert!(to_text(&TranscriptTurn { time: None, what: call(&long) }).len() < 250);
    }

    #[test]
    fn repeated_lines_are_shown_once() {
        assert_eq!(without_repeats("a  \na\nb\na\n"), "a\nb\na\n");
        assert_eq!(without_repeats(""), "");
    }
}
