//! The keys of roles, which their steps share.

use super::sandbox::SANDBOX;
use super::{Key, NameKind, Object, Takes, key};

pub(super) const MODEL: Key =
    key("model", Takes::Scalar, "The model, in the harness's own words; the mission's by default.");
pub(super) const EFFORT: Key = key(
    "effort",
    Takes::Word(&["low", "medium", "high", "max"]),
    "The effort, which the harness must have an option for; the mission's by default.",
);

/// A role under `roles`.
pub static ROLE: Object = Object {
    what: "a role",
    keys: &[
        key("harness", Takes::Name(NameKind::Harnesses), "The harness of its steps."),
        MODEL,
        EFFORT,
        key("permissions", Takes::Word(&["full", "reduced"]), "What its agents may do without asking."),
        key("sandbox", SANDBOX, "The least confinement of the agents of its steps."),
        key(
            "prompt_file",
            Takes::OneOrList(&Takes::Name(NameKind::Files)),
            "The file, or files, whose text stands before the prompts of its steps.",
        ),
    ],
};
