//! The keys of `sandbox`: demands on the confinement of agents.

use super::{Object, Takes, key};

/// A level in a word, or a level with what is within the wall.
pub(super) const SANDBOX: Takes = Takes::OneOf(&[LEVEL, Takes::Object(&CONFINEMENT)]);

const LEVEL: Takes = Takes::Word(&["off", "wall"]);

/// A `sandbox` with several demands.
pub static CONFINEMENT: Object = Object {
    what: "`sandbox`",
    keys: &[
        key(
            "level",
            LEVEL,
            "The least level; `wall` beside the other keys, which are about the inside of a wall.",
        ),
        key(
            "git",
            Takes::Word(&["own", "read", "none"]),
            "The most access to git: a private repository, the project's to read, or none; reviewers have no more than `read`.",
        ),
        key(
            "network",
            Takes::Word(&["none", "model", "listed"]),
            "The most network: none, the hosts of the harness, or those that a person lists, too, the default.",
        ),
        key(
            "worktree",
            Takes::Word(&["write", "read"]),
            "The most access to the worktree; with `read`, its agents write requests to Orange alone.",
        ),
    ],
};
