//! Keys of step workflows, their inputs, their steps and the outputs of these.

use super::BUDGET;
use super::roles::{EFFORT, MODEL, ROLE};
use super::sandbox::SANDBOX;
use super::takes::{MapKeys, NameKind, Object, PromptKind, Takes, key, required};

/// A step workflow: the whole file.
pub static STEP_WORKFLOW: Object = Object {
    what: "a step workflow",
    keys: &[
        required("workflow", Takes::Object(&STEP_HEADER), "Its name and what it is for."),
        key(
            "inputs",
            Takes::Map(MapKeys::New(NameKind::Inputs), &Takes::Object(&INPUT)),
            "Values that a mission is started with.",
        ),
        key(
            "roles",
            Takes::Map(MapKeys::Known(NameKind::Roles), &Takes::Object(&ROLE)),
            "What the steps of a role have unless they say otherwise.",
        ),
        required("steps", Takes::List(&Takes::Object(&STEP)), "The steps."),
    ],
};

/// `[workflow]` of a step workflow.
pub static STEP_HEADER: Object = Object {
    what: "`workflow`",
    keys: &[
        required(
            "name",
            Takes::NewName(NameKind::Workflows),
            "The workflow's name, the same as the file's stem.",
        ),
        key("description", Takes::Text, "What the workflow is for."),
        key("version", Takes::Scalar, "The author's own version of it."),
        key(
            "execution",
            Takes::Word(&["step", "auto"]),
            "Whether a mission pauses after every step; auto by default.",
        ),
        key(
            "intervene",
            Takes::Word(&["never", "on-warning", "on-error", "always"]),
            "At which ends of steps a mission pauses; on-error by default.",
        ),
        key(
            "notices",
            Takes::Boolean,
            "Whether the one who starts a mission gets messages; true by default.",
        ),
        key("budget", Takes::Object(&BUDGET), "Limits of a mission for all its agents."),
        key("sandbox", SANDBOX, "The least confinement of every agent: `off`, `wall`, or one with more."),
        key(
            "max_attempts",
            Takes::Integer(1),
            "The most attempts of a mission, beside those that persons ask for; no limit by default.",
        ),
        key(
            "parallel",
            Takes::Integer(1),
            "The most agents and programs at once, up to 32; 4 by default. Readers make use of it.",
        ),
        key(
            "roles",
            Takes::List(&Takes::NewName(NameKind::Roles)),
            "The roles that steps may name; by default those that they name.",
        ),
    ],
};

const WORDS: Takes = Takes::List(&Takes::Text);
const TYPE: Takes = Takes::Word(&["text", "number", "bool", "list"]);

/// An input of a step workflow.
pub static INPUT: Object = Object {
    what: "an input",
    keys: &[
        key("words", WORDS, "The words of which its value is one."),
        key("type", TYPE, "The type of its value, where it has no words."),
        key("min", Takes::Scalar, "The least number."),
        key("max", Takes::Scalar, "The largest number."),
        key("max_items", Takes::Integer(0), "The most items of a list; 1000 by default."),
        key("default", Takes::OneOrList(&Takes::Scalar), "Its value where a start gives none."),
    ],
};

/// A gate of a step: a program.
pub static PROGRAM_GATE: Object = Object {
    what: "a gate with a program",
    keys: &[
        required(
            "run",
            Takes::List(&Takes::Scalar),
            "A program that must end with status 0, and its arguments; no shell reads them.",
        ),
        key("timeout", Takes::Integer(1), "The seconds that it may take; 600 by default."),
    ],
};

/// A gate of a step: a file.
pub static FILE_GATE: Object = Object {
    what: "a gate with a file",
    keys: &[
        required("file", Takes::Text, "A file of the worktree that must be there."),
        key("contains", Takes::Text, "Text that it must contain."),
    ],
};

/// An output of a step.
pub static OUTPUT: Object = Object {
    what: "an output",
    keys: &[
        key("words", WORDS, "The words of which its value is one."),
        key("type", TYPE, "The type of its value, where it has no words."),
        key("min", Takes::Scalar, "The least number."),
        key("max", Takes::Scalar, "The largest number."),
        key("max_items", Takes::Integer(0), "The most items of a list; 1000 by default."),
    ],
};

const STEP_NAME: Takes = Takes::Name(NameKind::Steps);
const STEP_NAMES: Takes = Takes::List(&STEP_NAME);

/// A step.
pub static STEP: Object = Object {
    what: "a step",
    keys: &[
        required("id", Takes::NewName(NameKind::Steps), "Its name among the steps."),
        key("title", Takes::Text, "A line for people; the id by default."),
        key("role", Takes::Name(NameKind::Roles), "Who may take it; any by default."),
        key(
            "prompt_file",
            Takes::OneOrList(&Takes::Name(NameKind::Files)),
            "The file with its prompt, in the folder of the workflow; several are joined, with a blank line between them.",
        ),
        key("prompt", Takes::Prompt(PromptKind::Step), "Its prompt, in the place of a file."),
        key(
            "run",
            Takes::List(&Takes::Scalar),
            "The program that does its work in the place of an agent, and its arguments; no shell reads them.",
        ),
        key(
            "ask",
            Takes::Prompt(PromptKind::Step),
            "The question to a person whose answer is the end of the step, in the place of an agent's work.",
        ),
        key(
            "who",
            Takes::List(&Takes::Text),
            "The persons who may answer; everybody who answers pauses by default.",
        ),
        key(
            "show",
            Takes::List(&Takes::Word(&["context", "diff"])),
            "What the question shows; both by default. Nothing else works while the changes are shown.",
        ),
        key(
            "answers",
            Takes::List(&Takes::NewName(NameKind::Results)),
            "The answers, each of which completes the step; by default approve, and reject, which fails it.",
        ),
        key(
            "on_timeout",
            Takes::Text,
            "What counts when nobody answers within `timeout`: an answer, or `fail`, which is the default.",
        ),
        key(
            "gates",
            Takes::List(&Takes::OneOf(&[Takes::Object(&PROGRAM_GATE), Takes::Object(&FILE_GATE)])),
            "What must hold before the report that it is complete counts.",
        ),
        key(
            "for_each",
            Takes::OneOf(&[Takes::ListName, Takes::List(&Takes::Scalar)]),
            "One item for each element of a list: `plan.parts`, `inputs.names`, or a list here.",
        ),
        key("enough", Takes::Integer(1), "How many items must complete; all by default."),
        key(
            "read_only",
            Takes::Boolean,
            "Whether it only reads in the worktree, beside other readers; false by default.",
        ),
        key(
            "worktree",
            Takes::Word(&["own"]),
            "`own`: it writes in a worktree of its own, whose commits land in the mission's branch afterwards.",
        ),
        key("depends_on", STEP_NAMES, "The steps that end before it is decided."),
        key("condition", Takes::Condition, "When it runs: `review.result == 'PASS'`."),
        key(
            "results",
            Takes::List(&Takes::NewName(NameKind::Results)),
            "What an attempt may report; any word by default.",
        ),
        key(
            "outputs",
            Takes::Map(MapKeys::New(NameKind::Outputs), &Takes::Object(&OUTPUT)),
            "Values that a completion reports besides result and summary.",
        ),
        key("max_retries", Takes::Integer(0), "How often it may complete and send steps back, up to 1000."),
        key(
            "requeue",
            STEP_NAMES,
            "The steps that it sends back; by default those that its condition reads.",
        ),
        key("on_fail", STEP_NAME, "The step that handles its failure."),
        key(
            "harness",
            Takes::Name(NameKind::Harnesses),
            "The harness of its agent; the project's by default.",
        ),
        MODEL,
        EFFORT,
        key(
            "permissions",
            Takes::Word(&["full", "reduced"]),
            "What its agent may do without asking; full by default.",
        ),
        key(
            "sandbox",
            SANDBOX,
            "The least confinement of its agent, beside that of its role and of the workflow.",
        ),
        key(
            "timeout",
            Takes::Integer(1),
            "The seconds that an attempt may take, or in which a person is to answer.",
        ),
        key("stuck_after", Takes::Integer(1), "How many ends without a word in a row fail it; 2 by default."),
        key("independent", Takes::Boolean, "Whether it is meant to have no edges."),
    ],
};
