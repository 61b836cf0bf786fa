//! Every key of the workflow language, as data: what the decoder accepts, and what a schema is written from.

use orange_core::action::{Parameter, ParameterKind, SYNC_STRATEGIES};
use orange_core::{Action, DelegateInto, Fact, FactKind};

use super::Actor;

pub use gates::{
    ALL_FIELDS, ALL_GATES, ALL_VERDICTS, ANY_VERDICTS, CHECKS_GATE, CHILDREN_GATE, COMMAND_GATE, GATE,
    GATE_PROGRAM, GREEN, MERGE, WRITERS,
};
pub use roles::ROLE;
pub use sandbox::CONFINEMENT;
pub use steps::{FILE_GATE, INPUT, OUTPUT, PROGRAM_GATE, STEP, STEP_HEADER, STEP_WORKFLOW};
pub use takes::{Key, MapKeys, NameKind, Object, PromptKind, Takes, key, required};

mod gates;
mod roles;
mod sandbox;
mod steps;
mod takes;

use gates::{GATES, NAMED_GATE};
use sandbox::SANDBOX;

const STATE_NAME: Takes = Takes::Name(NameKind::States);
const STATE_OR_NOTICE: Takes = Takes::NameOr(NameKind::States, &["notify"]);
const HARNESS_NAME: Takes = Takes::NameOr(NameKind::Harnesses, &["task", "review"]);

/// A state machine workflow: the whole file.
pub static WORKFLOW: Object = Object {
    what: "a workflow",
    keys: &[
        required(
            "name",
            Takes::NewName(NameKind::Workflows),
            "The workflow's name, the same as the file's stem.",
        ),
        key("version", Takes::Integer(1), "The workflow's version, as its author counts; 1 by default."),
        key("description", Takes::Text, "What the workflow is for."),
        key("initial", STATE_NAME, "Where a new task starts; the first state by default."),
        key(
            "fields",
            Takes::Map(MapKeys::New(NameKind::Counters), &Takes::Integer(0)),
            "Counters beside review_round and crash_count, and their first values.",
        ),
        key(
            "actors",
            Takes::List(&Takes::NewName(NameKind::Actors)),
            "Actors beside worker, reviewer, human and engine: programs that ask with a token.",
        ),
        key("commands", Takes::Object(&COMMANDS), "Which state each command drives to."),
        key(
            "unattended",
            Takes::Boolean,
            "Work may be merged although no person was asked; false by default.",
        ),
        key(
            "budget",
            Takes::Object(&BUDGET),
            "Limits of a task for all its agents, where the task has none of its own.",
        ),
        key("sandbox", SANDBOX, "The least confinement of every agent: `off`, `wall`, or one with more."),
        required("states", Takes::Map(MapKeys::New(NameKind::States), &Takes::Object(&STATE)), "The states."),
        key(
            "gates",
            Takes::Map(MapKeys::New(NameKind::Gates), &NAMED_GATE),
            "Gates with names, which transitions and exit rules use.",
        ),
        key("transitions", Takes::List(&Takes::Object(&TRANSITION)), "The transitions between them."),
        key(
            "watch",
            Takes::List(&Takes::Object(&WATCH_RULE)),
            "Facts that take a task out of a state: checks, reviews and threads of its pull request, its base, and the tasks that it has created.",
        ),
        key(
            "deadlines",
            Takes::List(&Takes::Object(&DEADLINE)),
            "How long a task may be within some states.",
        ),
        key("exit_monitoring", Takes::Object(&EXIT_MONITORING), "What happens when an agent has died."),
        key(
            "prompts",
            Takes::Map(
                MapKeys::New(NameKind::Prompts),
                &Takes::OneOf(&[Takes::Prompt(PromptKind::Task), Takes::Object(&PROMPT)]),
            ),
            "The first messages of agents.",
        ),
    ],
};

/// A prompt that stands in a file.
pub static PROMPT: Object = Object {
    what: "a prompt",
    keys: &[required(
        "include",
        Takes::Name(NameKind::Files),
        "The file with its text, in the folder of the workflow.",
    )],
};

/// `commands`
pub static COMMANDS: Object = Object {
    what: "`commands`",
    keys: &[
        key("spawn", STATE_NAME, "spawn of a task with a summary; working by default."),
        key("clarify", STATE_NAME, "spawn of a task without a summary; clarification by default."),
        key("review", STATE_NAME, "Where reviewers work; agent-review by default."),
        key("merge", STATE_NAME, "merge; done by default."),
        key("cancel", STATE_NAME, "cancel; cancelled by default."),
        key("crash", STATE_NAME, "Where escalation goes; stuck by default."),
    ],
};

/// A state.
pub static STATE: Object = Object {
    what: "a state",
    keys: &[
        key("terminal", Takes::Boolean, "Whether no transition leaves it; false by default."),
        key(
            "respawn_prompt",
            Takes::Name(NameKind::Prompts),
            "The prompt of an agent that is started again here.",
        ),
        key("description", Takes::Text, "What the state is for."),
        key(
            "wait",
            Takes::Word(&["human"]),
            "A claim that is checked: nothing moves a task on from here but a person.",
        ),
        key("entry", Takes::Boolean, "Whether a task may be created here."),
        key("timeout", Takes::Duration, "How long a task may stay here: `90s`, `20m`, `2h`, `1d`."),
        key("on_timeout", STATE_OR_NOTICE, "The state that it then goes to, or `notify`, the default."),
        key("agent", Takes::Object(&AGENT), "What runs the agents that are started for this state."),
        key("sandbox", SANDBOX, "The least confinement of the agents that are started for this state."),
        key(
            "budget",
            Takes::Object(&BUDGET),
            "Limits of a stay in the state, for the agents that are started in it.",
        ),
        key(
            "on_budget",
            STATE_NAME,
            "The state that it goes to when its budget is used up; by default, the task waits for more.",
        ),
        key(
            "delegates",
            Takes::Object(&DELEGATES),
            "That its agent may create tasks, which begin when the task has left the state.",
        ),
    ],
};

/// A `budget`.
pub static BUDGET: Object = Object {
    what: "a budget",
    keys: &[
        key("cost", Takes::Scalar, "Dollars, as the harness reports them or else at list price: `5.00`."),
        key("tokens", Takes::Scalar, "Tokens that models read, cached or not, and write: `500k`, `20M`."),
        key("fresh_tokens", Takes::Scalar, "Those without the ones that are read from a cache."),
        key(
            "time",
            Takes::Duration,
            "Time for which agents are alive and do not wait: `90s`, `20m`, `2h`, `1d`.",
        ),
        key("starts", Takes::Integer(1), "Starts of agents, first ones and repeated ones."),
    ],
};

/// The `delegates` of a state.
pub static DELEGATES: Object = Object {
    what: "`delegates`",
    keys: &[
        required(
            "most",
            Takes::Integer(1),
            "The most tasks that a task may create, all its rounds together.",
        ),
        key(
            "depth",
            Takes::Integer(1),
            "The deepest level of a created task, below the one that no agent has created; 1 by default.",
        ),
        key("workflow", Takes::Text, "The workflow of the created tasks; the project's by default."),
        key(
            "into",
            Takes::Word(&[DelegateInto::Parent.as_str(), DelegateInto::Base.as_str()]),
            "The branch into which their work is merged: that of this task (`parent`, the default), or the `base` of the project.",
        ),
    ],
};

/// The `agent` of a state.
pub static AGENT: Object = Object {
    what: "`agent`",
    keys: &[
        key("harness", HARNESS_NAME, "The harness: one of the task's (task, review), or a name."),
        key("model", Takes::Scalar, "The model, in the harness's own words."),
        key("effort", Takes::Scalar, "The effort, in the harness's own words."),
        key(
            "workspace",
            Takes::Word(&[NO_WORKSPACE]),
            "That they work without a worktree, in a plain folder of the task.",
        ),
    ],
};

/// Workspace of a state whose agents work without a worktree.
pub const NO_WORKSPACE: &str = "none";

/// A transition.
pub static TRANSITION: Object = Object {
    what: "a transition",
    keys: &[
        required("from", Takes::OneOrList(&STATE_NAME), "The state it leaves, or several."),
        required("to", Takes::OneOrList(&STATE_NAME), "The state it leads to, or several."),
        key(
            "by",
            Takes::OneOrList(&Takes::NameOr(NameKind::Actors, &ACTORS)),
            "Who may ask; anyone but declared actors by default.",
        ),
        key(
            "cause",
            Takes::Word(&CAUSES),
            "The fact of a watch rule for which it is; other transitions of the pair are for everything else.",
        ),
        key("gate", GATES, "What must hold: a gate, the name of one, or `all` of several."),
        key("when", Takes::Guard, "Under which counter values it is open."),
        key(
            "reset",
            Takes::OneOrList(&Takes::Name(NameKind::Counters)),
            "The counters that it sets back to their initial values, before its hooks run.",
        ),
        key(
            "hooks",
            Takes::List(&Takes::Tagged("action", ACTIONS)),
            "The side effects of the transition, in order.",
        ),
        key("on_hook_failure", STATE_NAME, "Where the task goes when a hook fails and stops the others."),
    ],
};

const CAUSES: [&str; FactKind::ALL.len()] = {
    let mut words = [""; FactKind::ALL.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = FactKind::ALL[at].as_str();
        at += 1;
    }
    words
};

const ACTORS: [&str; 4] = {
    let mut names = [""; 4];
    let mut at = 0;
    while at < names.len() {
        names[at] = Actor::BUILT_IN[at].kind();
        at += 1;
    }
    names
};

const ACTION: Key = required("action", Takes::Name(NameKind::Actions), "What the hook does.");
const ON_FAILURE: Key = key(
    "on_failure",
    Takes::Word(&["stop", "go-on"]),
    "Whether the hooks after it wait when it fails; stop by default for run_command, and go-on for the others.",
);
/// The keys that every hook has, whatever it does.
pub static HOOK: Object = Object { what: "a hook", keys: &[ACTION, ON_FAILURE] };

/// `increment` of `review_round`, in a word.
pub const INCREMENT_REVIEW_ROUND: &str = "increment_review_round";

/// The hooks, one object for each action, which is its `what`.
pub static ACTIONS: &[Object] = &{
    let mut objects =
        [const { Object { what: INCREMENT_REVIEW_ROUND, keys: &[ACTION, ON_FAILURE] } }; COUNT + 1];
    let mut at = 0;
    while at < COUNT {
        let action = Action::ALL[at];
        objects[at] =
            Object { what: action.name(), keys: PARAMETERS[at].split_at(2 + action.parameters().len()).0 };
        at += 1;
    }
    objects
};

const COUNT: usize = Action::ALL.len();

/// The most keys that an action has, with `action` and `on_failure`.
const MAX_KEYS: usize = 11;

/// By action: its keys. The rest of each is not used.
static PARAMETERS: [[Key; MAX_KEYS]; COUNT] = {
    let mut keys = [const { [ACTION; MAX_KEYS] }; COUNT];
    let mut at = 0;
    while at < COUNT {
        let parameters = Action::ALL[at].parameters();
        let mut slot = 0;
        while slot < parameters.len() {
            let Parameter { name, kind, required, doc } = parameters[slot];
            keys[at][1 + slot] = Key { name, required, takes: takes(kind), doc };
            slot += 1;
        }
        keys[at][1 + slot] = ON_FAILURE;
        at += 1;
    }
    keys
};

const fn takes(kind: ParameterKind) -> Takes {
    match kind {
        ParameterKind::Prompt => Takes::Name(NameKind::Prompts),
        ParameterKind::Role => Takes::Word(&["worker", "reviewer"]),
        ParameterKind::Harness => HARNESS_NAME,
        ParameterKind::Permissions => Takes::Word(&["full", "reduced"]),
        ParameterKind::Counter => Takes::Name(NameKind::Counters),
        ParameterKind::Message => Takes::Prompt(PromptKind::Message),
        ParameterKind::Field => Takes::Text,
        ParameterKind::Reviewer => Takes::NewName(NameKind::Reviewers),
        ParameterKind::Model | ParameterKind::Effort | ParameterKind::Value => Takes::Scalar,
        ParameterKind::Argv => Takes::List(&Takes::Scalar),
        ParameterKind::Seconds(_) => Takes::Integer(1),
        ParameterKind::SyncStrategy => Takes::Word(&SYNC_STRATEGIES),
        ParameterKind::Sandbox => SANDBOX,
    }
}

/// A watch rule.
pub static WATCH_RULE: Object = Object {
    what: "a watch rule",
    keys: &[
        required("status", STATE_NAME, "The state it is for."),
        key(
            "pr",
            Takes::Object(&PULL_REQUEST_FACT),
            "The fact of the task's pull request for which it waits.",
        ),
        key(
            "base",
            Takes::Word(&[Fact::BaseMoved.value(), Fact::BaseConflict.value()]),
            "The fact of the branch into which the work is to be merged for which it waits.",
        ),
        key(
            "children",
            Takes::Word(&[Fact::ChildrenMerged.value(), Fact::ChildrenEnded.value()]),
            "The fact of the tasks that it has created for which it waits: all are merged, or all are over and one was not merged.",
        ),
        key("when", Takes::Guard, "Under which counter values it applies."),
        key(
            "rerun",
            Takes::Integer(1),
            "How often the failed checks of one commit run again before the rule applies: 1 to 10.",
        ),
        key("then", STATE_NAME, "Takes the transition to this state, if the rule applies."),
        key(
            "then_when",
            Takes::List(&Takes::Object(&CLAUSE)),
            "Takes the transition of the one clause that holds, if the rule applies.",
        ),
    ],
};

/// The `pr` of a watch rule.
pub static PULL_REQUEST_FACT: Object = Object {
    what: "`pr`",
    keys: &[
        key(
            "checks",
            Takes::Word(&[Fact::ChecksRed.value(), Fact::ChecksGreen.value()]),
            "That its checks have ended, and one has failed, or that all have succeeded.",
        ),
        key(
            "review",
            Takes::Word(&[Fact::Approved.value(), Fact::ChangesRequested.value()]),
            "That it is approved, or that a review asks for changes.",
        ),
        key(
            "threads",
            Takes::Word(&[Fact::ThreadsOpen.value()]),
            "That it has threads that are not resolved, by people who may write to the repository.",
        ),
        key(
            "mergeable",
            Takes::Word(&[
                Fact::MergeableClean.value(),
                Fact::MergeableConflict.value(),
                Fact::MergeableBlocked.value(),
            ]),
            "That the forge would merge it, has found a conflict, or refuses the merge for another reason.",
        ),
        key("required", Takes::Boolean, "Only the checks count that the forge requires."),
        key("early", Takes::Boolean, "With `checks: red`: at the first failed check, before all have ended."),
    ],
};

/// A deadline.
pub static DEADLINE: Object = Object {
    what: "a deadline",
    keys: &[
        required("states", Takes::OneOrList(&STATE_NAME), "The states that it is for."),
        required(
            "after",
            Takes::Duration,
            "The time from the arrival in the first of them: `90s`, `20m`, `4h`, `1d`.",
        ),
        key("then", STATE_OR_NOTICE, "The state that the task then goes to, or `notify`, the default."),
    ],
};

/// `exit_monitoring`
pub static EXIT_MONITORING: Object = Object {
    what: "`exit_monitoring`",
    keys: &[
        key("poll_interval", Takes::Integer(1), "Seconds between two looks; 30 by default."),
        key(
            "rules",
            Takes::List(&Takes::Object(&EXIT_RULE)),
            "The exit rules; those of a state are tried in order.",
        ),
    ],
};

/// An exit rule.
pub static EXIT_RULE: Object = Object {
    what: "an exit rule",
    keys: &[
        required("status", STATE_NAME, "The state it is for."),
        key("has_artifact", GATES, "It applies when the body has this: as a `gate` says it."),
        key("no_artifact", Takes::Boolean, "It applies when no has_artifact of the same state holds."),
        key("exit", Takes::Object(&EXIT), "It applies when the agent ended with one of these."),
        key(
            "on_output",
            Takes::Text,
            "It applies when this stands in the last lines that the agent showed, in capitals or not.",
        ),
        key("then", STATE_NAME, "Takes the transition to this state."),
        key(
            "then_when",
            Takes::List(&Takes::Object(&CLAUSE)),
            "Takes the transition of the one clause that holds.",
        ),
        key(
            "action",
            Takes::Word(&["crash", "mark_dead", "wait"]),
            "Counts a crash, only shows that the agent is dead, or waits and starts it again.",
        ),
        key("stuck_after", Takes::Integer(1), "The number of crashes that escalates; 2 by default."),
        key("respawn", Takes::Boolean, "Whether an agent is started again before that; false by default."),
        key("resume_after", Takes::Integer(1), "Seconds that `wait` waits, at most a week."),
    ],
};

/// The `exit` of an exit rule.
pub static EXIT: Object = Object {
    what: "`exit`",
    keys: &[
        key("code", Takes::OneOrList(&Takes::Integer(0)), "The exit status, 0 to 255, or several."),
        key("signal", Takes::OneOrList(&Takes::Integer(1)), "The signal that ended it, 1 to 64, or several."),
    ],
};

/// A clause of `then_when`.
pub static CLAUSE: Object = Object {
    what: "a `then_when` clause",
    keys: &[
        required("when", Takes::Guard, "The condition."),
        required("then", STATE_NAME, "The state it leads to."),
    ],
};

/// Keys that no other kind of file has at its top.
pub(crate) const STRONG: &[&str] = &["states", "transitions", "exit_monitoring"];

/// Keys of which two at the top tell a workflow from other files, mistyped or not.
pub(crate) const TELLING: &[&str] =
    &["states", "transitions", "exit_monitoring", "prompts", "steps", "workflow"];

#[cfg(test)]
mod tests;
