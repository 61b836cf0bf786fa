//! Times the language server as an editor sees it: a process, and messages over its pipes.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::FigureRow;
use crate::Result;
use crate::workspace::OwnRepository;

/// The documents of an editor with many open files.
const OPEN: usize = 20;

/// The rows of the table.
pub(super) fn rows(workspace: &OwnRepository, checker: &Path, quick: bool) -> Result<Vec<FigureRow>> {
    let flow = workspace.read("workflows/default.yml")?.text;
    let panel = with_large_search(&workspace.read("tests/fixtures/panel.yml")?.text);
    let runs = if quick { 5 } else { 20 };
    let starts = (0..runs).map(|_| first_findings(checker, &flow)).collect::<Result<Vec<_>>>()?;
    let mut editor = EditorProcess::start(checker)?;
    for number in 0..OPEN {
        editor.open(&format!("file:///flows/{number}/default.yml"), &flow)?;
    }
    editor.idle()?;
    let edits = if quick { 50 } else { 500 };
    let uri = "file:///flows/0/default.yml";
    let keys = (1..=edits).map(|version| editor.key(uri, version)).collect::<Result<Vec<_>>>()?;
    editor.idle()?;
    let requests = (0..edits).map(|line| editor.actions(uri, line)).collect::<Result<Vec<_>>>()?;
    let memory = editor.memory()?;
    editor.end()?;
    let stops = stops(checker, &panel, runs)?;
    let row = |what: String, figure: f64, unit: &str, most: f64| FigureRow {
        what,
        figures: vec![format!("{figure:.1}")],
        budget: format!("at most {most} {unit}"),
        kept: Some(figure <= most),
    };
    Ok(vec![
        row("start to first findings, ms, median".to_owned(), percentile(starts, 50), "ms", 100.0),
        row("key to findings of the compiler, ms, p99".to_owned(), percentile(keys, 99), "ms", 5.0),
        row("code actions at a place, ms, p99".to_owned(), percentile(requests, 99), "ms", 10.0),
        row("edit to the end of a large search, ms, p99".to_owned(), percentile(stops, 99), "ms", 20.0),
        row(format!("memory with {OPEN} open files, MB"), memory, "MB", 60.0),
    ])
}

/// Seven reviewers, whose verdicts come in any order.
fn with_large_search(panel: &str) -> String {
    let reviewer = "      - {action: spawn_agent, as: reviewer, name: style, prompt: review}\n";
    let more: String = (0..5).map(|it| reviewer.replace("style", &format!("reviewer-{it}"))).collect();
    panel.replace(reviewer, &format!("{reviewer}{more}"))
}

fn first_findings(checker: &Path, flow: &str) -> Result<f64> {
    let begin = Instant::now();
    let mut editor = EditorProcess::start(checker)?;
    editor.open("file:///flows/default.yml", flow)?;
    editor.published()?;
    let took = milliseconds(begin);
    editor.end()?;
    Ok(took)
}

/// The times from an edit until the search that ran has ended.
fn stops(checker: &Path, panel: &str, runs: u64) -> Result<Vec<f64>> {
    let mut editor = EditorProcess::start(checker)?;
    let uri = "file:///flows/panel.yml";
    editor.open(uri, panel)?;
    let mut times = Vec::new();
    for version in 1..=runs {
        editor.until(|status| status["started"].as_u64() >= Some(version))?;
        let stopped = editor.status()?["stopped"].as_u64();
        let begin = Instant::now();
        editor.change(uri, version)?;
        editor.until(|status| status["stopped"].as_u64() > stopped || status["isIdle"] == true)?;
        times.push(milliseconds(begin));
        editor.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}}))?;
    }
    editor.end()?;
    Ok(times)
}

/// A server, and an editor that asks one thing at a time.
struct EditorProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl EditorProcess {
    fn start(checker: &Path) -> Result<Self> {
        let mut command = Command::new(checker);
        let command = command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", checker.display()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the language server has no pipes".into());
        };
        let mut editor = Self { child, input, output: BufReader::new(output), requests: 0 };
        editor.ask("initialize", json!({"processId": null, "rootUri": null, "capabilities": {}}))?;
        editor.notify("initialized", json!({}))?;
        Ok(editor)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let text = message.to_string();
        let sent = write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len());
        sent.and_then(|()| self.input.flush()).map_err(|error| lost(&error))
    }

    fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        self.requests += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}))?;
        loop {
            let mut message = self.receive()?;
            if message["id"] == json!(self.requests) {
                return Ok(message["result"].take());
            }
        }
    }

    fn receive(&mut self) -> Result<Value> {
        let (mut line, mut length) = (String::new(), 0);
        loop {
            line.clear();
            if self.output.read_line(&mut line).map_err(|error| lost(&error))? == 0 {
                return Err("the language server has ended".into());
            }
            match line.trim().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length =
                        value.parse().map_err(|_| format!("the language server says `{}`", line.trim()))?;
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).map_err(|error| lost(&error))?;
        serde_json::from_slice(&text).map_err(|error| format!("the language server says no JSON: {error}"))
    }

    /// Waits for the next findings.
    fn published(&mut self) -> Result<()> {
        while self.receive()?["method"] != "textDocument/publishDiagnostics" {}
        Ok(())
    }

    fn open(&mut self, uri: &str, text: &str) -> Result<()> {
        let document = json!({"uri": uri, "languageId": "yaml", "version": 0, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}))
    }

    fn change(&mut self, uri: &str, version: u64) -> Result<()> {
        let start = json!({"line": 0, "character": 0});
        let change = json!({"range": {"start": start, "end": start}, "text": "# a\n"});
        let id = json!({"uri": uri, "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": id, "contentChanges": [change]}))
    }

    /// Time from an edit to the findings in the new text.
    fn key(&mut self, uri: &str, version: u64) -> Result<f64> {
        let begin = Instant::now();
        self.change(uri, version)?;
        loop {
            let message = self.receive()?;
            if message["params"]["version"] == json!(version) && message["params"]["uri"] == uri {
                return Ok(milliseconds(begin));
            }
        }
    }

    fn actions(&mut self, uri: &str, line: u64) -> Result<f64> {
        let at = json!({"line": line, "character": 4});
        let range = json!({"start": at, "end": at});
        let params = json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": []}});
        let begin = Instant::now();
        self.ask("textDocument/codeAction", params)?;
        Ok(milliseconds(begin))
    }

    fn status(&mut self) -> Result<Value> {
        self.ask("orange/status", Value::Null)
    }

    fn until(&mut self, holds: impl Fn(&Value) -> bool) -> Result<()> {
        while !holds(&self.status()?) {
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    fn idle(&mut self) -> Result<()> {
        self.until(|status| status["isIdle"] == true)
    }

    /// Its memory in MB.
    fn memory(&self) -> Result<f64> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|it| it.trim().trim_end_matches(" kB").parse::<f64>().ok());
        Ok(kibibytes.ok_or_else(|| format!("{path} has no VmRSS"))? / 1024.0)
    }

    fn end(mut self) -> Result<()> {
        self.ask("shutdown", Value::Null)?;
        self.notify("exit", Value::Null)?;
        self.child.wait().map_err(|error| lost(&error))?;
        Ok(())
    }
}

fn lost(error: &std::io::Error) -> String {
    format!("the language server does not answer: {error}")
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

fn percentile(mut times: Vec<f64>, percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    let at = (times.len() * percent).div_ceil(100).saturating_sub(1);
    times.get(at).copied().unwrap_or_default()
}
