//! Sends one message to one channel.

use orange_system::variables;
use std::path::Path;

use super::message::{NeedMessage, replaced};
use super::settings::{Channel, TerminalSequence, Via};
use crate::Result;
use crate::drive::tmux::Tmux;
use crate::drive::{curl, desktop};
use orange_system::exec::ProgramCall;
use orange_system::terminal;

/// The longest message on a terminal.
const LONGEST: usize = 400;

/// Sends it, and says what came of it.
///
/// # Errors
/// `environment` when the channel does not take it in time.
pub fn send(tmux: &Tmux, channel: &Channel, message: &NeedMessage) -> Result<String> {
    match &channel.via {
        Via::Terminal { style, attached } => ring(tmux, *style, *attached, message),
        Via::Desktop => {
            desktop::show(&message.title, &message.text, channel.timeout).map(|()| "shown".to_owned())
        }
        Via::Command { argv } => run(argv, channel, message),
        Via::Webhook { url, shape, headers, .. } => {
            let (body, url) = message.posted(*shape, url)?;
            curl::post(&url, headers, &body, channel.timeout).map(|status| format!("answered {status}"))
        }
    }
}

/// Runs a program with the fields in its arguments, in its environment and, as JSON, on its standard input.
fn run(argv: &[String], channel: &Channel, message: &NeedMessage) -> Result<String> {
    let [program, args @ ..] = argv else { return Ok("no program".to_owned()) };
    let input = message.written()?;
    let call =
        ProgramCall::new(program).args(args.iter().map(|arg| replaced(arg, message))).input(input.as_bytes());
    let call = call.without(variables::GIT).without(&[variables::TASK, variables::SPAWN, variables::SECRET]);
    let call = message
        .fields()
        .fold(call, |call, (name, value)| call.env(format!("ORANGE_NOTIFY_{}", name.to_uppercase()), value));
    call.bound(channel.timeout).run()?.checked().map(|_| format!("`{program}` has ended with 0"))
}

/// Writes to the terminal of this process and to those that show sessions of agents.
fn ring(tmux: &Tmux, style: TerminalSequence, attached: bool, message: &NeedMessage) -> Result<String> {
    let bytes = sequence(style, message);
    let is_inside = std::env::var_os("TMUX").is_some_and(|value| !value.is_empty());
    // A tmux around this process passes on what is wrapped, if its person allows that.
    let own = if is_inside && style != TerminalSequence::Bell { wrapped(&bytes) } else { bytes.clone() };
    let mut count = usize::from(terminal::write(Path::new("/dev/tty"), own.as_bytes()));
    let clients = if attached { tmux.clients()? } else { Vec::new() };
    count += clients.iter().filter(|client| terminal::write(client, bytes.as_bytes())).count();
    Ok(match count {
        0 => "no terminal is there".to_owned(),
        1 => "written to a terminal".to_owned(),
        _ => format!("written to {count} terminals"),
    })
}

/// Control sequence for a terminal. The message has no control characters, so nothing in it ends the sequence.
fn sequence(style: TerminalSequence, message: &NeedMessage) -> String {
    let cut = |text: &str| text.chars().take(LONGEST).collect::<String>();
    let (title, text) = (cut(&message.title), cut(&message.text));
    match style {
        TerminalSequence::Bell => "\u{7}".to_owned(),
        TerminalSequence::Osc9 => format!("\u{1b}]9;{title}: {text}\u{7}"),
        TerminalSequence::Osc99 => format!(
            "\u{1b}]99;i=orange:d=0:p=title;{title}\u{1b}\\\u{1b}]99;i=orange:d=1:p=body;{text}\u{1b}\\"
        ),
        TerminalSequence::Osc777 => {
            format!("\u{1b}]777;notify;{};{}\u{7}", title.replace(';', ","), text.replace(';', ","))
        }
    }
}

fn wrapped(sequence: &str) -> String {
    format!("\u{1b}Ptmux;{}\u{1b}\\", sequence.replace('\u{1b}', "\u{1b}\u{1b}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_one_sequence() {
        let message = NeedMessage {
            title: "stuck; fix".to_owned(),
            text: "why; so".to_owned(),
            ..NeedMessage::default()
        };
        let check = |style, expect: &str| assert_eq!(sequence(style, &message), expect);
        check(TerminalSequence::Bell, "\x07");
        check(TerminalSequence::Osc9, "\x1b]9;stuck; fix: why; so\x07");
        check(TerminalSequence::Osc777, "\x1b]777;notify;stuck, fix;why, so\x07");
        check(
            TerminalSequence::Osc99,
            "\x1b]99;i=orange:d=0:p=title;stuck; fix\x1b\\\x1b]99;i=orange:d=1:p=body;why; so\x1b\\",
        );
        assert_eq!(wrapped("\x1b]9;a\x07"), "\x1bPtmux;\x1b\x1b]9;a\x07\x1b\\");
    }
}
