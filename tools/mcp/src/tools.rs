//! The tools as data: for each the command of `orange` that it is, and the arguments that it takes.

use serde_json::{Map, Value, json};

/// One tool.
#[derive(Debug)]
pub(crate) struct Tool {
    /// What agents call it.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Whether it changes nothing.
    pub only_reads: bool,
    command: [&'static str; 2],
    arguments: &'static [Argument],
}

#[derive(Debug)]
struct Argument {
    name: &'static str,
    about: &'static str,
    form: Form,
}

/// How an argument becomes words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The task that the command is about.
    Task,
    /// An option with a value.
    Text(&'static str),
    /// An option whose value may be left out; an empty text leaves it out.
    MaybeText(&'static str),
    /// An option without a value, which `true` gives.
    Switch(&'static str),
}

/// What an agent may ask for.
pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "task_list",
        about: "Lists the unfinished tasks, with the status and session of each and what needs attention.",
        only_reads: true,
        command: ["task", "list"],
        arguments: &[
            Argument { name: "status", about: "Only those with this status.", form: Form::Text("--status") },
            Argument { name: "project", about: "Only those of this project.", form: Form::Text("--project") },
            Argument { name: "all", about: "Finished ones too.", form: Form::Switch("--all") },
        ],
    },
    Tool {
        name: "task_show",
        about: "Shows a task: its fields, the sections of its TASK.md, its history, what needs attention.",
        only_reads: true,
        command: ["task", "show"],
        arguments: &[TASK],
    },
    Tool {
        name: "task_next",
        about: "Says which statuses a task can go to from here, and what is still missing for each.",
        only_reads: true,
        command: ["task", "next"],
        arguments: &[TASK],
    },
    Tool {
        name: "task_update",
        about: "Asks for a status of a task, or changes its summary or branch. What is refused changes nothing, and the \
                answer says what would be accepted.",
        only_reads: false,
        command: ["task", "update"],
        arguments: &[
            TASK,
            Argument { name: "status", about: "The status to ask for.", form: Form::Text("--status") },
            Argument { name: "summary", about: "What is to be done.", form: Form::Text("--summary") },
            Argument {
                name: "branch",
                about: "A new name for the task's branch; empty to take over the one that is checked out in its worktree.",
                form: Form::MaybeText("--branch"),
            },
            Argument {
                name: "dry_run",
                about: "Only say what would happen.",
                form: Form::Switch("--dry-run"),
            },
        ],
    },
];

const TASK: Argument = Argument {
    name: "task",
    about: "Its id, the start of its id, or its branch; without, the task whose agent asks or whose worktree this is.",
    form: Form::Task,
};

/// The tool of this name.
pub(crate) fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Tool {
    /// The JSON Schema of its arguments.
    pub(crate) fn schema(&self) -> Map<String, Value> {
        let property = |argument: &Argument| {
            let kind = if matches!(argument.form, Form::Switch(_)) { "boolean" } else { "string" };
            (argument.name.to_owned(), json!({ "type": kind, "description": argument.about }))
        };
        let properties: Map<String, Value> = self.arguments.iter().map(property).collect();
        let schema = [
            ("type", json!("object")),
            ("properties", Value::Object(properties)),
            ("additionalProperties", json!(false)),
        ];
        schema.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
    }

    /// The words behind `orange` for these arguments, or what is wrong with them.
    pub(crate) fn words(&self, given: &Map<String, Value>) -> Result<Vec<String>, String> {
        if let Some(unknown) = given.keys().find(|key| self.arguments.iter().all(|it| it.name != **key)) {
            let names: Vec<_> = self.arguments.iter().map(|argument| argument.name).collect();
            return Err(format!("{} takes no `{unknown}`; it takes: {}", self.name, names.join(", ")));
        }
        let (mut words, mut task) = (self.command.map(str::to_owned).to_vec(), None);
        words.push("--json".to_owned());
        for argument in self.arguments {
            let Some(value) = given.get(argument.name).filter(|value| !value.is_null()) else { continue };
            match argument.form {
                Form::Task => task = Some(text(argument, value)?),
                Form::Text(option) => words.push(format!("{option}={}", text(argument, value)?)),
                Form::MaybeText(option) => words.push(match text(argument, value)? {
                    "" => option.to_owned(),
                    text => format!("{option}={text}"),
                }),
                Form::Switch(option) => words.extend(switch(argument, value)?.then(|| option.to_owned())),
            }
        }
        // Whatever a task is called, it is no option.
        words.extend(task.map(|task| ["--".to_owned(), task.to_owned()]).into_iter().flatten());
        Ok(words)
    }
}

fn text<'v>(argument: &Argument, value: &'v Value) -> Result<&'v str, String> {
    value.as_str().ok_or_else(|| format!("`{}` is a text, and this is {value}", argument.name))
}

fn switch(argument: &Argument, value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("`{}` is true or false, and this is {value}", argument.name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may fail where they stand, and say why")]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tool: &str, given: Value, expect: Result<&[&str], &str>) {
        let words = named(tool).unwrap().words(given.as_object().unwrap());
        let expect = expect.map(|words| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(words, expect.map_err(str::to_owned));
    }

    #[test]
    fn arguments_become_words_that_cannot_be_taken_for_others() {
        check("task_next", json!({}), Ok(&["task", "next", "--json"]));
        check("task_next", json!({ "task": null }), Ok(&["task", "next", "--json"]));
        check("task_show", json!({ "task": "--all" }), Ok(&["task", "show", "--json", "--", "--all"]));
        check(
            "task_update",
            json!({ "task": "fix", "summary": "-v; $(x)\n=", "branch": "", "dry_run": true }),
            Ok(&["task", "update", "--json", "--summary=-v; $(x)\n=", "--branch", "--dry-run", "--", "fix"]),
        );
        check(
            "task_list",
            json!({ "status": "stuck", "all": false }),
            Ok(&["task", "list", "--json", "--status=stuck"]),
        );
    }

    #[test]
    fn wrong_arguments_are_named() {
        check("task_show", json!({ "id": "x" }), Err("task_show takes no `id`; it takes: task"));
        check("task_list", json!({ "all": "yes" }), Err("`all` is true or false, and this is \"yes\""));
        check("task_update", json!({ "status": 3 }), Err("`status` is a text, and this is 3"));
    }
}
