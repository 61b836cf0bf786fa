//! The keys of gates.

use orange_core::{OpenChildren, Verdict, VerdictOf};

use super::{NameKind, Object, Takes, key, required};
use crate::model::Actor;

/// A gate, the name of one, or several that must all hold; `has_artifact` takes the same.
pub(super) const GATES: Takes = Takes::OneOf(&[
    Takes::Name(NameKind::Gates),
    Takes::Object(&ALL_GATES),
    Takes::Object(&GATE),
    Takes::Object(&COMMAND_GATE),
    Takes::Object(&CHECKS_GATE),
    Takes::Object(&CHILDREN_GATE),
]);

/// The values that a name in `gates` takes.
pub(super) const NAMED_GATE: Takes = Takes::OneOf(&[
    Takes::Object(&GATE),
    Takes::Object(&COMMAND_GATE),
    Takes::Object(&CHECKS_GATE),
    Takes::Object(&CHILDREN_GATE),
]);

/// Several gates.
pub static ALL_GATES: Object = Object {
    what: "a list of gates",
    keys: &[required(
        "all",
        Takes::List(&Takes::OneOf(&[
            Takes::Name(NameKind::Gates),
            Takes::Object(&GATE),
            Takes::Object(&COMMAND_GATE),
            Takes::Object(&CHECKS_GATE),
            Takes::Object(&CHILDREN_GATE),
        ])),
        "The gates, or their names; each of them must hold.",
    )],
};

/// Several fields.
pub static ALL_FIELDS: Object = Object {
    what: "a list of fields",
    keys: &[required("all", Takes::List(&Takes::Text), "It must have a line for each of these names.")],
};

/// Verdicts of all reviewers.
pub static ALL_VERDICTS: Object = Object {
    what: "a list of verdicts",
    keys: &[required(
        "all",
        Takes::List(&Takes::NewName(NameKind::Verdicts)),
        "The verdicts of each section; those of all reviewers with names count.",
    )],
};

/// Verdicts of any reviewer.
pub static ANY_VERDICTS: Object = Object {
    what: "a list of verdicts",
    keys: &[required(
        "any",
        Takes::List(&Takes::NewName(NameKind::Verdicts)),
        "The verdicts of each section; that of any reviewer with a name counts.",
    )],
};

/// One gate.
pub static GATE: Object = Object {
    what: "a gate",
    keys: &[
        required("section", Takes::Heading, "The section that must exist."),
        key("required", Takes::Boolean, "It must have a line that is not blank."),
        key(
            "verdict",
            Takes::NameOr(NameKind::Verdicts, &Verdict::BOTH),
            "It must carry this verdict: `PASS`, `FAIL`, or one of those that `verdicts` lists for the section.",
        ),
        key(
            "verdicts",
            Takes::OneOf(&[
                Takes::Word(&["all", "any"]),
                Takes::List(&Takes::NewName(NameKind::Verdicts)),
                Takes::Object(&ALL_VERDICTS),
                Takes::Object(&ANY_VERDICTS),
            ]),
            "The verdicts that the section may have, such as `[PASS, FAIL, DISCUSS]`, of which the gate takes each that `verdict` does not rule out. Or whose count: those of `all` reviewers with names, or of `any` of them; each writes a section of its own, such as `## Review: security`. Both: `{all: [PASS, FAIL, DISCUSS]}`.",
        ),
        key(
            "strict",
            Takes::Boolean,
            "The verdict must be the first line that is not blank: `Verdict: PASS`.",
        ),
        key(
            "fields",
            Takes::OneOf(&[Takes::Object(&ALL_FIELDS), Takes::List(&Takes::Text)]),
            "It must have a line `NAME: something` for one of these names, or for `all` of them.",
        ),
        key(
            "fresh",
            Takes::Boolean,
            "Its content must be new: not what stood there when the state was entered, or when the agent that is to judge was started, or what a gate last let through.",
        ),
        key(
            "of",
            Takes::Word(&[VerdictOf::Patch.as_str(), VerdictOf::Commit.as_str()]),
            "What of the work must be as it was when a gate accepted the verdict: the `patch`, which a clean merge of the base keeps, or the `commit`.",
        ),
        key(
            "written_by",
            Takes::OneOrList(&Takes::NameOr(NameKind::Actors, &WRITER_NAMES)),
            "Who writes the section: a declaration for the checks, which do not let an agent judge its own work.",
        ),
    ],
};

/// A gate that asks a program.
pub static COMMAND_GATE: Object = Object {
    what: "a gate that asks a program",
    keys: &[required(
        "command",
        Takes::Object(&GATE_PROGRAM),
        "The program that must succeed in the worktree, or on the result of the merge.",
    )],
};

/// The program of a gate.
pub static GATE_PROGRAM: Object = Object {
    what: "a command",
    keys: &[
        required("argv", Takes::List(&Takes::Text), "The program and its arguments."),
        key("timeout", Takes::Integer(1), "The seconds that it may take; 600 by default."),
        key(
            "on",
            Takes::Word(&[MERGE]),
            "What it runs on: with `merge`, the result of the merge, before a branch moves; else the worktree.",
        ),
    ],
};

/// The word for the result of a merge.
pub const MERGE: &str = "merge";

/// A gate that reads the checks of the pull request.
pub static CHECKS_GATE: Object = Object {
    what: "a gate on checks",
    keys: &[required("checks", Takes::Word(&[GREEN]), "The checks of the task's pull request are green.")],
};

/// The one value that a gate on checks can ask for.
pub const GREEN: &str = "green";

/// A gate on created tasks that are open.
pub static CHILDREN_GATE: Object = Object {
    what: "a gate on created tasks",
    keys: &[required(
        "children",
        Takes::Word(&[OpenChildren::Some.as_str(), OpenChildren::None.as_str()]),
        "Some task that this task has created is not over, or none is.",
    )],
};

/// The built-in actors that can write a section.
pub const WRITERS: [Actor; 3] = [Actor::Worker, Actor::Reviewer, Actor::Human];

const WRITER_NAMES: [&str; 3] = [WRITERS[0].kind(), WRITERS[1].kind(), WRITERS[2].kind()];
