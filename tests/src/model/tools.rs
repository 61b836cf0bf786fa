//! Converts acts to calls of a harness's tools.

use serde_json::{Value, json};

use super::plan::ModelAct;

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolCall {
    pub(super) tool: String,
    pub(super) input: Value,
}

/// A tool of the harness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HarnessTool {
    pub(super) name: String,
    /// Its group, if the harness has groups.
    pub(super) group: Option<String>,
    /// The names of its inputs; empty for a tool that takes plain text.
    pub(super) fields: Vec<String>,
    /// True if it takes plain text.
    pub(super) is_plain: bool,
}

impl HarnessTool {
    /// A tool with this name and JSON Schema.
    pub(super) fn new(name: &str, schema: &Value) -> HarnessTool {
        let fields = schema["properties"].as_object().map(|fields| fields.keys().cloned().collect());
        HarnessTool { name: name.to_owned(), fields: fields.unwrap_or_default(), ..HarnessTool::default() }
    }
}

/// The call that carries out an act with one of these tools; `None` for an act without a call. `folder` is the agent's, `seen` the
/// contents of the file as last read.
pub(super) fn call(
    act: &ModelAct,
    tools: &[HarnessTool],
    folder: &str,
    seen: Option<&str>,
) -> Option<ToolCall> {
    let mut call = of_harness(act, tools, folder, seen)?;
    let tool = tools.iter().find(|tool| tool.name == call.tool);
    if let (Some(tool), Some(input)) = (tool.filter(|tool| !tool.is_plain), call.input.as_object_mut()) {
        // Harnesses use different names for the same inputs, and refuse unknown ones.
        input.retain(|field, _| tool.fields.contains(field));
    }
    Some(call)
}

fn of_harness(act: &ModelAct, tools: &[HarnessTool], folder: &str, seen: Option<&str>) -> Option<ToolCall> {
    let has = |tool: &str| has(tools, tool);
    let at = |path: &str| if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
    let seen = seen.unwrap_or_default();
    let only_a_shell = !["Write", "write"].into_iter().any(has);
    Some(match act {
        ModelAct::Run(command) => shell(command, tools),
        ModelAct::Asking(command) => asking(command, tools),
        ModelAct::Read(path) if only_a_shell => shell(&format!("cat {path}"), tools),
        ModelAct::Read(path) if has("Read") => of("Read", json!({ "file_path": at(path) })),
        ModelAct::Read(path) => of("read", json!({ "filePath": at(path), "path": path })),
        ModelAct::Write { path, text } => write(path, text, &at(path), tools),
        ModelAct::Append { path, text } => {
            write(path, &format!("{}\n\n{text}\n", seen.trim_end()), &at(path), tools)
        }
        ModelAct::Edit { path, old, new } => edit(path, old, new, &at(path), tools),
        ModelAct::Extend { path, text } => {
            let end = unique_end(seen.trim_end());
            edit(path, end, &format!("{end}\n\n{text}"), &at(path), tools)
        }
        ModelAct::Tool { name, input } => of(name, input.clone()),
        ModelAct::Orange(_)
        | ModelAct::Quoted(_)
        | ModelAct::Say(_)
        | ModelAct::Hold(_)
        | ModelAct::Fail(..) => return None,
    })
}

fn has(tools: &[HarnessTool], name: &str) -> bool {
    tools.iter().any(|tool| tool.name == name)
}

fn of(tool: &str, input: Value) -> ToolCall {
    ToolCall { tool: tool.to_owned(), input }
}

fn shell(command: &str, tools: &[HarnessTool]) -> ToolCall {
    let has = |tool: &str| has(tools, tool);
    if has("exec_command") {
        return of("exec_command", json!({ "cmd": command, "yield_time_ms": 30_000 }));
    }
    if has("shell_command") {
        return of("shell_command", json!({ "command": command }));
    }
    if has("shell") {
        return of("shell", json!({ "command": ["bash", "-lc", command] }));
    }
    let description = "Do what the plan says";
    let tool = if has("Bash") { "Bash" } else { "bash" };
    of(tool, json!({ "command": command, "description": description }))
}

/// A command outside of the sandbox: if the tool has a sandbox of its own, the call asks to leave it.
fn asking(command: &str, tools: &[HarnessTool]) -> ToolCall {
    let mut call = shell(command, tools);
    if ["exec_command", "shell_command", "shell"].contains(&call.tool.as_str()) {
        call.input["sandbox_permissions"] = json!("require_escalated");
        call.input["justification"] = json!("May it do so?");
    }
    call
}

fn write(path: &str, text: &str, absolute: &str, tools: &[HarnessTool]) -> ToolCall {
    let has = |tool: &str| has(tools, tool);
    if has("Write") {
        return of("Write", json!({ "file_path": absolute, "content": text }));
    }
    if has("write") {
        return of("write", json!({ "filePath": absolute, "path": path, "content": text }));
    }
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    patch(&format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch"), tools)
}

fn edit(path: &str, old: &str, new: &str, absolute: &str, tools: &[HarnessTool]) -> ToolCall {
    let has = |tool: &str| has(tools, tool);
    if has("Edit") {
        return of("Edit", json!({ "file_path": absolute, "old_string": old, "new_string": new }));
    }
    if has("edit") {
        let input = json!({ "filePath": absolute, "oldString": old, "newString": new,
            "path": path, "edits": [{ "oldText": old, "newText": new }] });
        return of("edit", input);
    }
    let marked =
        |mark: char, text: &str| -> String { text.lines().map(|line| format!("{mark}{line}\n")).collect() };
    let change = format!("{}{}", marked('-', old), marked('+', new));
    patch(&format!("*** Begin Patch\n*** Update File: {path}\n@@\n{change}*** End Patch"), tools)
}

/// The shortest end of a text, in whole lines, that occurs only once in it.
fn unique_end(text: &str) -> &str {
    let begins = text.rmatch_indices('\n').map(|(newline, _)| newline + 1);
    let mut ends = begins.map(|begin| &text[begin..]);
    ends.find(|end| text.matches(end).count() == 1).unwrap_or(text)
}

/// A patch for codex: by a tool of its own, or by a command that it recognises.
fn patch(patch: &str, tools: &[HarnessTool]) -> ToolCall {
    if has(tools, "apply_patch") {
        return of("apply_patch", json!({ "input": patch }));
    }
    shell(&format!("apply_patch <<'END_OF_PATCH'\n{patch}\nEND_OF_PATCH"), tools)
}

/// The contents of a file from a tool's answer: without line numbers and the harness's additions.
pub(super) fn contents(answer: &str) -> String {
    let begins = ["<content>\n", "\nOutput:\n"];
    let body = begins.iter().find_map(|begin| answer.split_once(begin)).map_or(answer, |(_, rest)| rest);
    let body = body.split("</content>").next().unwrap_or(body);
    let body = body.split("\n<system-reminder>").next().unwrap_or(body);
    let lines: Vec<&str> = body.lines().collect();
    let numbered: Vec<&str> = lines.iter().filter_map(|line| unnumbered(line)).collect();
    if numbered.is_empty() { lines.join("\n") } else { numbered.join("\n") }
}

/// A line without its number: `12→text`, `12\ttext`, `00012| text`, `12: text`.
fn unnumbered(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = rest.len() < line.len();
    let text = ["→", "\t", "| ", ": "].iter().find_map(|mark| rest.strip_prefix(mark));
    let text = text.or_else(|| [":", "|"].contains(&rest).then_some(""));
    text.filter(|_| is_numbered)
}
