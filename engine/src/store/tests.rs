//! The store against real files, real processes and real kills.

use std::collections::BTreeMap;

use crate::store::{Draft, Home, Open, create};

mod tasks;

/// A home in a folder of its own, which goes with the guard.
pub(crate) fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().canonicalize().unwrap().join("home"));
    (folder, home)
}

/// What most tests create.
pub(crate) fn draft(branch: &str) -> Draft {
    Draft {
        project: "coffee".to_owned(),
        branch: Some(branch.to_owned()),
        summary: "Grind finer".to_owned(),
        harness: "claude".to_owned(),
        review_harness: "codex".to_owned(),
        workflow: "default".to_owned(),
        definition: "d1".to_owned(),
        status: "pending".to_owned(),
        counters: BTreeMap::from([("review_round".to_owned(), 0), ("crash_count".to_owned(), 0)]),
        body: "\n## Context\n\nToo sour.\n".to_owned(),
        actor: "human".to_owned(),
    }
}

/// A new task, locked.
pub(crate) fn task(home: &Home, branch: &str) -> Open {
    create(home, &draft(branch), |_| Ok(())).unwrap()
}
