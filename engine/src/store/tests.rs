//! The store against real files, real processes and real kills.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::store::create::NewMission;
use crate::store::{Home, LockedWorkItem, WorkItemDraft, create, event};

mod both;
mod copies;
mod editors;
mod missions;
mod processes;
mod tasks;

/// A folder that any task could have as its worktree.
pub(crate) fn usable(_: &Path) -> crate::Result<bool> {
    Ok(true)
}

/// A home in a folder of its own, which goes with the guard.
pub(crate) fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().canonicalize().unwrap().join("home"));
    (folder, home)
}

/// Draft that most tests create.
pub(crate) fn draft(branch: &str) -> WorkItemDraft {
    WorkItemDraft {
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
        actor: event::Actor::Human,
        ..WorkItemDraft::default()
    }
}

/// Draft of a mission, with the values of [`draft`].
pub(crate) fn mission_draft(branch: &str) -> WorkItemDraft {
    let mission = NewMission {
        plan: b"{}".to_vec(),
        prompt: "Grind finer".to_owned(),
        execution: "auto".to_owned(),
        intervene: "on-error".to_owned(),
        notices: true,
        attempts_before: 0,
        inputs: BTreeMap::new(),
        creator_spawn: None,
    };
    WorkItemDraft { mission: Some(mission), counters: BTreeMap::new(), ..draft(branch) }
}

/// A new mission, locked.
pub(crate) fn mission(home: &Home, branch: &str) -> LockedWorkItem {
    create(home, &mission_draft(branch), |_| Ok(())).unwrap()
}

/// A new task, locked.
pub(crate) fn task(home: &Home, branch: &str) -> LockedWorkItem {
    create(home, &draft(branch), |_| Ok(())).unwrap()
}

/// Another process: this test program again, doing one thing.
pub(crate) struct TestProcess {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl TestProcess {
    /// Starts `processes::role` with this role.
    pub(crate) fn start(role: &str, home: &Home) -> TestProcess {
        TestProcess::start_with(role, home, None)
    }

    /// As [`TestProcess::start`], with steps as in [`orange_system::fault`] and their files in this folder.
    pub(crate) fn start_with_fail_points(role: &str, home: &Home, points: &Path) -> TestProcess {
        TestProcess::start_with(role, home, Some(points))
    }

    fn start_with(role: &str, home: &Home, points: Option<&Path>) -> TestProcess {
        let (_crate, module) = module_path!().split_once("::").unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("{module}::processes::role"), "--nocapture"])
            .envs([("ORANGE_TEST_ROLE", role.as_ref()), ("ORANGE_TEST_HOME", home.root().as_os_str())])
            .envs(points.map(|points| ("ORANGE_FAIL_POINTS", points)))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        TestProcess { child, lines }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it says this.
    pub(crate) fn wait_for(&mut self, word: &str) {
        let mut line = String::new();
        while line.trim() != word {
            line.clear();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "it ended without saying {word}");
        }
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end, and says whether it did what it should.
    pub(crate) fn succeeded(mut self) -> bool {
        std::io::copy(&mut self.lines, &mut std::io::sink()).unwrap();
        self.child.wait().unwrap().success()
    }
}
