//! The lines of `orange task` in the table.

use super::{CreateArgs, MergeArgs, TaskCommand, TaskName, UpdateArgs, WaitArgs};
use crate::cmd::args::Command;
use crate::cmd::line::{Arg, Given, Spec, Takes};
use crate::drive::git::Strategy;
use crate::store::task::DEFAULT_HARNESS;

pub(in crate::cmd::args) const SPEC: Spec = Spec::group(
    "task",
    "Tasks and their agents",
    &[
        CREATE, LIST, SHOW, NEXT, WAIT, WATCH, SPAWN, RESPAWN, UPDATE, ATTACH, CANCEL, DELETE, RESTORE,
        MIGRATE, MERGE, CREATE_PR, FINISH, SPAWN_NEXT,
    ],
);

const CREATE: Spec = Spec::command("create", "Create a task and start its agent", |given| {
    Command::Task(TaskCommand::Create(CreateArgs {
        branch: given.text("BRANCH"),
        summary: given.text("SUMMARY"),
        project: given.text("project"),
        workflow: given.text("workflow"),
        harness: given.needed("harness"),
        review_harness: given.needed("review-harness"),
        context: given.text("context"),
        status: given.text("status"),
        no_spawn: given.has("no-spawn"),
    }))
})
.args(&[
    Arg::word("BRANCH", Takes::Name, "The branch to work on [default: orange-tasks/ID]"),
    Arg::word("SUMMARY", Takes::Text, "What is to be done; without it, the agent asks"),
    PROJECT,
    Arg::option("workflow", "W", Takes::Workflow, "The workflow [default: the project's]"),
    Arg::option("harness", "H", Takes::Harness, "What runs the worker").or(DEFAULT_HARNESS),
    Arg::option("review-harness", "H", Takes::Harness, "What runs the reviewer").or(DEFAULT_HARNESS),
    Arg::option(
        "context",
        "-|TEXT",
        Takes::Text,
        "More about the task, for its `## Context`; `-` reads standard input",
    ),
    Arg::option(
        "status",
        "S",
        Takes::Status,
        "Where the task begins [default: the workflow's initial status]",
    ),
    Arg::flag("no-spawn", "Only create it"),
])
.examples(&[
    "orange task create add-login \"Implement the login form\"",
    "orange task create --project coffee fix-42 -- \"-v is ignored\"",
    "git log -1 | orange task create explain \"Explain this commit\" --context - --no-spawn",
])
.notes(
    "\
An existing branch is gone on with. With `--status agent-review` (in the default workflow) a reviewer looks at it first, with
`--status reviewing` it waits for you. Without a summary, the agent asks what is to be done.",
);

const LIST: Spec = Spec::command("list", "List tasks", |given| {
    Command::Task(TaskCommand::List {
        status: given.text("status"),
        project: given.text("project"),
        all: given.has("all"),
    })
})
.args(&[
    Arg::option("status", "S", Takes::Status, "Only those with this status"),
    Arg::option("project", "P", Takes::Project, "Only those of this project"),
    Arg::flag("all", "Finished ones too"),
])
.examples(&["orange task list", "orange task list --status stuck --all --json"]);

const SHOW: Spec =
    Spec::command("show", "Show a task: its fields, sections, history and what needs attention", |given| {
        Command::Task(TaskCommand::Show(task(given)))
    })
    .args(&[TASK])
    .examples(&["orange task show add-login"]);

const NEXT: Spec =
    Spec::command("next", "Every status it can go to from here, and what is still missing", |given| {
        Command::Task(TaskCommand::Next(task(given)))
    })
    .args(&[TASK])
    .examples(&["orange task next --json"]);

const WAIT: Spec = Spec::command("wait", "Wait until it has come to a status, hooks and all", |given| {
    Command::Task(TaskCommand::Wait(WaitArgs {
        task: task(given),
        status: given.all("status"),
        timeout: given.number("timeout"),
    }))
})
.args(&[
    TASK,
    Arg::option("status", "S", Takes::Status, "This status; given more than once, any of them")
        .required()
        .many(),
    Arg::option("timeout", "SECONDS", Takes::Number(0, 31_536_000), "Give up after so long [default: never]"),
])
.examples(&[
    "orange task wait add-login --status working --timeout 5",
    "orange task wait add-login --status reviewing --status stuck --timeout 3600",
])
.notes(
    "It ends with status 1 when the time is over, and when the task can never come to that status any more.",
);

const WATCH: Spec =
    Spec::command("watch", "Tell what happens to it, or to all tasks, as it happens", |given| {
        Command::Task(TaskCommand::Watch(task(given)))
    })
    .args(&[Arg::word("ID", Takes::Task, "Its id, the start of its id, or its branch [default: all tasks]")])
    .examples(&[
        "orange task watch                     (until interrupted)",
        "orange task watch add-login --json    (until it is over; an object a line)",
    ]);

const SPAWN: Spec = Spec::command("spawn", "Start the agent of a pending task", |given| {
    Command::Task(TaskCommand::Spawn(task(given)))
})
.args(&[TASK])
.examples(&["orange task spawn add-login"]);

const RESPAWN: Spec =
    Spec::command("respawn", "Start the agent of a task again after its session has died", |given| {
        Command::Task(TaskCommand::Respawn(task(given)))
    })
    .args(&[TASK])
    .examples(&["orange task respawn add-login"]);

const UPDATE: Spec = Spec::command("update", "Change a task's status, summary or branch", |given| {
    Command::Task(TaskCommand::Update(UpdateArgs {
        task: task(given),
        status: given.text("status"),
        summary: given.text("summary"),
        branch: given.bare("branch"),
        dry_run: given.has("dry-run"),
    }))
})
.args(&[
    TASK,
    Arg::option("status", "S", Takes::Status, "Ask for this status"),
    Arg::option("summary", "T", Takes::Text, "Say what is to be done"),
    Arg::bare(
        "branch",
        "NAME",
        Takes::Name,
        "Say which branch it is on; without a name, the one that is checked out",
    ),
    Arg::flag("dry-run", "Only say what would happen"),
])
.examples(&[
    "orange task update --status agent-review",
    "orange task update --summary \"Log in with a passkey\" --status working",
    "orange task update --branch                   (take over the name of the checked-out branch)",
    "orange task update add-login --status done --dry-run",
]);

const ATTACH: Spec = Spec::command("attach", "Attach the terminal to a task's session", |given| {
    Command::Task(TaskCommand::Attach(task(given)))
})
.args(&[TASK])
.examples(&["orange task attach add-login"]);

const CANCEL: Spec = Spec::command(
    "cancel",
    "Cancel a task: its session ends, its worktree is given back, its work is kept",
    |given| Command::Task(TaskCommand::Cancel { task: task(given), yes: given.has("yes") }),
)
.args(&[TASK, YES])
.examples(&["orange task cancel add-login --yes"]);

const DELETE: Spec = Spec::command(
    "delete",
    "Move a task that is over, or was never started, to the trash; its branch and its backups stay",
    |given| Command::Task(TaskCommand::Delete { task: task(given), yes: given.has("yes") }),
)
.args(&[TASK, YES])
.examples(&["orange task delete add-login --yes"])
.notes("A task that is under way is refused: cancel it first.");

const RESTORE: Spec =
    Spec::command("restore", "Bring a deleted task back, or make a branch of work that was backed up", |given| {
        Command::Task(TaskCommand::Restore { task: task(given), backup: given.number("backup") })
    })
    .args(&[
        TASK,
        Arg::option("backup", "N", Takes::Number(0, u32::MAX as i64), "Which backup: the last part of its ref"),
    ])
    .examples(&["orange task restore add-login", "orange task restore add-login --backup 2"])
    .notes(
        "\
A deleted task comes back as it was. Of any other one, the work that was kept when its worktree was given back
becomes a branch; worktrees and existing branches stay as they are. With several backups, `--backup` says which.",
    );

const MIGRATE: Spec = Spec::command(
    "migrate",
    "Move a task to a status of its workflow as it is now, when that has changed under it",
    |given| {
        let (to, workflow) = (given.needed("to"), given.text("workflow"));
        Command::Task(TaskCommand::Migrate { task: task(given), to, workflow })
    },
)
.args(&[
    TASK,
    Arg::option("to", "STATUS", Takes::Status, "The status that it gets").required(),
    Arg::option(
        "workflow",
        "W",
        Takes::Workflow,
        "The workflow that it follows from now on [default: the one that it follows]",
    ),
])
.examples(&[
    "orange task migrate add-login --to working",
    "orange task migrate add-login --to reviewing --workflow minimal",
])
.notes("No gate is asked and no hook is run: worktree, session and agents stay as they are.");

const MERGE: Spec = Spec::command(
    "merge",
    "Merge a task's branch into the default branch, push it, and finish the task",
    |given| {
        let is_merge = given.needed("strategy") == "merge";
        let strategy = if is_merge { Strategy::Merge } else { Strategy::FastForward };
        let (local, force) = (given.has("local"), given.has("force"));
        Command::Task(TaskCommand::Merge(MergeArgs { task: task(given), strategy, local, force }))
    },
)
.args(&[
    TASK,
    Arg::option(
        "strategy",
        "HOW",
        Takes::OneOf(&["ff", "merge"]),
        "ff: only fast-forward; merge: with a merge commit",
    )
    .or("ff"),
    Arg::flag("local", "Merge here, whatever a pull request says"),
    Arg::flag("force", "Merge from a status that does not lead there, or a branch without commits"),
])
.examples(&["orange task merge add-login --local", "orange task merge add-login --local --strategy merge"])
.notes(
    "\
A task with a pull request is merged on GitHub: this asks what has become of that, and then only cleans up.
What is not reviewed is merged with `--force`, by a person; the task's history says so.",
);

const CREATE_PR: Spec =
    Spec::command("create-pr", "Push a task's branch and open a pull request for it", |given| {
        Command::Task(TaskCommand::CreatePr(task(given)))
    })
    .args(&[TASK])
    .examples(&["orange task create-pr add-login"])
    .notes(
        "\
Its title is the task's summary; its text, the summary, the section `## Context` and the repository's template. A branch
that has an open pull request keeps it. This needs `gh`, the GitHub command line.",
    );

const FINISH: Spec = Spec::command("finish", "Finish a transition that was begun", |given| {
    Command::Task(TaskCommand::Finish { id: given.needed("ID") })
})
.args(&[EXACT_ID])
.hidden();

const SPAWN_NEXT: Spec = Spec::command("spawn-next", "Start the next task that waits", |given| {
    Command::Task(TaskCommand::SpawnNext { id: given.needed("ID") })
})
.args(&[EXACT_ID])
.hidden();

const TASK: Arg = Arg::word(
    "ID",
    Takes::Task,
    "Its id, the start of its id, or its branch [default: the task whose worktree you stand in]",
);

const YES: Arg = Arg::flag("yes", "Do not ask");

const EXACT_ID: Arg = Arg::needed("ID", Takes::Task, "The task's id");

const PROJECT: Arg =
    Arg::option("project", "P", Takes::Project, "The project [default: the one you stand in]");

fn task(given: &Given) -> TaskName {
    TaskName { name: given.text("ID") }
}
