//! Worlds in which commands begin: an agent or a person is at work on the project `coffee`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::page::root;
use crate::programs::others;
use crate::world::{World, write_program};

/// World before a command runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GivenWorld {
    /// A repository at `~/code/coffee`, where one stands.
    Repository,
    /// It is a project.
    Project,
    /// It has a task, `add-login`, that waits.
    Pending,
    /// An agent works on `add-login`, in whose worktree one stands.
    Working,
    /// And it has written its `## Handoff`.
    HandedOff,
    /// The agent of `add-login` has asked what is to be done, and it is the one who goes on.
    Asking,
    /// The agent of `add-login` has died.
    Died,
    /// `add-login` was never started, and is deleted.
    Deleted,
    /// `add-login` was cancelled with work in its worktree, and has two backups.
    BackedUp,
    /// `add-login` is done but for a person's look at it; there is a branch `release`, too.
    Reviewing,
    /// The agent of the first step of a mission on the branch `login` is at work; one stands in its worktree.
    Mission,
    /// One is that agent.
    Step,
    /// The first step of that mission has failed, and it is paused.
    PausedMission,
    /// The first step of that mission has failed, and so has the mission.
    FailedMission,
    /// That mission was cancelled with work in its worktree; one stands in the repository.
    CancelledMission,
    /// That mission was cancelled, and it is deleted.
    DeletedMission,
    /// The folder of a gateway in its place, in which it has made the administrator's token.
    Gateway,
    /// A repository with `dev-task.toml`, its prompts, its scenarios and `mission.txt`, a script for it; with
    /// `flow.yml`, also in its folder `workflows`, both with scenarios beside them; with `walk.txt`, a
    /// script for it; and with `draft.yml`, in which checks find much.
    Workflows,
    /// Nothing: the command is only parsed, for this reason.
    OnlyParsed(&'static str),
}

/// A world, and where one stands in it.
pub(crate) struct Setting {
    pub world: World,
    pub folder: PathBuf,
    /// The folder of the task or mission whose agent one is; nothing for a person.
    agent_of: Option<PathBuf>,
}

impl Setting {
    pub(crate) fn new(given: GivenWorld) -> Setting {
        let place = Setting::with_repository();
        match given {
            GivenWorld::Repository | GivenWorld::OnlyParsed(_) => place,
            GivenWorld::Project => place.with_project(),
            GivenWorld::Pending => place.with_task("Implement the login form", &["--no-spawn"]),
            GivenWorld::Working => {
                place.with_agent("exec sleep 1000000").in_worktree("Implement the login form")
            }
            GivenWorld::HandedOff => {
                let place = Setting::new(GivenWorld::Working);
                let file = place.folder.join("TASK.md");
                let text = fs::read_to_string(&file).unwrap();
                fs::write(&file, format!("{text}\n## Handoff\n\nDONE: all of it\n")).unwrap();
                place
            }
            GivenWorld::Asking => {
                let place = place.with_agent("exec sleep 1000000").in_worktree("");
                let task = place.world.orange_in(&place.folder, &["--json", "task", "show"]).ok();
                let folder = place.world.home().join("tasks/coffee").join(task["id"].as_str().unwrap());
                Setting { agent_of: Some(folder), ..place }
            }
            GivenWorld::Died => {
                let place = place
                    .with_agent("echo \"I cannot go on.\"; exit 3")
                    .with_task("Implement the login form", &[]);
                let has_crashed = || place.orange(&["task", "show", "add-login"]).contains("agent.crashed");
                place.world.until("the agent's death is on record", has_crashed);
                place
            }
            GivenWorld::Reviewing => {
                let place = place.with_branch();
                place.with_task("Implement the login form", &["--status", "reviewing"])
            }
            GivenWorld::Deleted => {
                let place = Setting::new(GivenWorld::Pending);
                place.orange(&["task", "delete", "add-login", "--yes"]);
                place
            }
            GivenWorld::BackedUp => place.with_backups(),
            GivenWorld::Gateway => place.with_gateway(),
            GivenWorld::Workflows => place.with_workflows(),
            GivenWorld::Mission => place.with_agent("exec sleep 1000000").with_mission(&[]).0,
            GivenWorld::Step => {
                let (place, id) = place.with_agent("exec sleep 1000000").with_mission(&[]);
                fs::write(place.folder.join("review.md"), "The form lacks tests.\n").unwrap();
                let folder = place.world.home().join("missions/coffee").join(id);
                Setting { agent_of: Some(folder), ..place }
            }
            GivenWorld::PausedMission => place.with_failed_step(&[], "paused"),
            GivenWorld::CancelledMission => place.with_cancelled_mission(),
            GivenWorld::DeletedMission => {
                let place = Setting::new(GivenWorld::CancelledMission);
                place.orange(&["mission", "delete", "login", "--yes"]);
                place
            }
            GivenWorld::FailedMission => place.with_failed_step(&["--intervene", "never"], "failed"),
        }
    }

    /// Runs a script, which must end well.
    #[track_caller]
    pub(crate) fn run(&self, what: &str, script: &str) {
        let file = self.world.path("script.sh");
        // It has the first line, which no page has a command on, so that its line numbers are those of that page.
        fs::write(&file, format!("PS4='line $LINENO: '; set -euxo pipefail; {script}\n")).unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.world.path("agents"), others().to_owned()];
        let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&path))).unwrap();
        let mut bash = self.world.command("bash");
        bash.arg(file).env("PATH", path).current_dir(&self.folder);
        if let Some(folder) = &self.agent_of {
            let id = folder.file_name().unwrap();
            bash.env("ORANGE_TASK", id).envs([("ORANGE_ACTOR", "worker"), ("ORANGE_SPAWN", "1")]);
            bash.env("ORANGE_SECRET", self.secret(folder));
        }
        let said = self.world.said(&mut bash);
        // A mission ends its agent, and with it this script, which has the variables of the agent, perhaps before the answer is printed.
        let is_ended = self.agent_of.as_ref().is_some_and(|folder| {
            let is_recorded =
                || fs::read_to_string(folder.join("history.jsonl")).unwrap().contains("\"step.ended\"");
            said.out.contains("recorded; stop here") || (said.status == -1 && is_recorded())
        });
        assert!(said.status == 0 || is_ended, "{what}\n{}{}", said.out, said.err);
    }

    /// Secret of the first agent, which is made before it begins.
    fn secret(&self, folder: &Path) -> String {
        let file = folder.join("agents/1.secret");
        self.world.until("the agent begins", || file.exists());
        fs::read_to_string(file).unwrap()
    }

    fn with_repository() -> Setting {
        others();
        let world = World::empty();
        let folder = world.path("home/code/coffee");
        fs::create_dir(world.path("home/code")).unwrap();
        fs::create_dir_all(world.path("home/.config/fish/completions")).unwrap();
        fs::rename(world.repo(), &folder).unwrap();
        let place = Setting { world, folder, agent_of: None };
        place.with_agent("exec sleep 1000000").with_program("dot", "cat")
    }

    fn with_project(self) -> Setting {
        self.orange(&["project", "add"]);
        self
    }

    fn with_task(self, summary: &str, more: &[&str]) -> Setting {
        let place = self.with_project();
        let about: &[&str] = if summary.is_empty() { &["add-login"] } else { &["add-login", summary] };
        place.orange(&[&["task", "create"], more, about].concat());
        place
    }

    fn in_worktree(self, summary: &str) -> Setting {
        let place = self.with_task(summary, &[]);
        let folder = place.world.home().join("workspaces/coffee--1");
        Setting { folder, ..place }
    }

    /// With a mission on the branch `login`, in whose worktree one stands; and its id.
    fn with_mission(self, more: &[&str]) -> (Setting, String) {
        let place = self.with_project();
        let start = ["--json", "mission", "start", "dev-task", "Add a login form", "--branch", "login"];
        let answer = place.world.orange_in(&place.folder, &[&start, more].concat()).ok();
        let folder = place.world.home().join("workspaces/coffee--1");
        (Setting { folder, ..place }, answer["id"].as_str().unwrap().to_owned())
    }

    fn with_failed_step(self, more: &[&str], status: &str) -> Setting {
        let does = "echo 'I cannot go on.'; orange step fail --reason 'no network'";
        let (place, _) = self.with_agent(does).with_mission(more);
        let is_there = || {
            let shown = place.orange(&["mission", "show", "login"]);
            shown.contains(&format!("\"status\":\"{status}\"")) && shown.contains("\"tmux_session\":null")
        };
        place.world.until("the mission stops", is_there);
        place
    }

    fn with_cancelled_mission(self) -> Setting {
        let folder = self.folder.clone();
        let (place, _) = self.with_agent("exec sleep 1000000").with_mission(&[]);
        fs::write(place.folder.join("idea.txt"), "half an idea\n").unwrap();
        let place = Setting { folder, ..place };
        place.orange(&["mission", "cancel", "login", "--yes"]);
        place
    }

    fn with_branch(self) -> Setting {
        let git = |args: &[&str]| self.world.git(&self.folder, args);
        git(&["branch", "release"]);
        git(&["switch", "-qc", "add-login"]);
        fs::write(self.folder.join("login.txt"), "a form\n").unwrap();
        git(&["add", "login.txt"]);
        git(&["commit", "-qm", "Log in"]);
        git(&["switch", "-q", "main"]);
        self
    }

    fn with_backups(self) -> Setting {
        let place = self.with_task("Implement the login form", &[]);
        fs::write(place.world.home().join("workspaces/coffee--1/idea.txt"), "half an idea\n").unwrap();
        place.orange(&["task", "cancel", "add-login", "--yes"]);
        let id = place.world.orange_in(&place.folder, &["--json", "task", "list", "--all"]).ok();
        let id = id[0]["id"].as_str().unwrap();
        let [first, second] = [1, 2].map(|number| format!("refs/orange/backup/{id}/{number}"));
        place.world.git(&place.folder, &["update-ref", &second, &first]);
        place
    }

    fn with_workflows(self) -> Setting {
        let [flow, scenarios] = ["minimal.yml", "minimal.test.yml"]
            .map(|name| fs::read_to_string(root().join("workflows").join(name)).unwrap());
        let flow = flow.replace("name: minimal", "name: flow");
        for folder in ["workflows", "src"] {
            fs::create_dir(self.folder.join(folder)).unwrap();
        }
        for folder in [".", "workflows"] {
            fs::write(self.folder.join(folder).join("flow.yml"), &flow).unwrap();
            fs::write(self.folder.join(folder).join("flow.test.yml"), &scenarios).unwrap();
        }
        fs::write(self.folder.join("walk.txt"), "spawn\nwrite ## Handoff: DONE: all\nnext\n").unwrap();
        fs::create_dir(self.folder.join("do")).unwrap();
        let prompts = fs::read_dir(root().join("workflows/do")).unwrap();
        let prompts = prompts.map(|it| format!("do/{}", it.unwrap().file_name().to_string_lossy()));
        for name in prompts.chain(["dev-task.toml", "dev-task.test.yml"].map(str::to_owned)) {
            fs::copy(root().join("workflows").join(&name), self.folder.join(&name)).unwrap();
        }
        fs::write(
            self.folder.join("mission.txt"),
            "complete plan\ncomplete implement\ncomplete review FAIL\nnext\n",
        )
        .unwrap();
        let draft = fs::read_to_string(root().join("tests/fixtures/seed-default.yml")).unwrap();
        fs::write(self.folder.join("draft.yml"), draft.replace("name: default", "name: draft")).unwrap();
        fs::write(self.folder.join("known.json"), "{\"version\": 1, \"findings\": []}\n").unwrap();
        self.world.git(&self.folder, &["add", "."]);
        self.world.git(&self.folder, &["commit", "-qm", "A workflow"]);
        self
    }

    fn with_gateway(self) -> Setting {
        let tokens = self.world.path("home/orange-fleet/gateway/tokens");
        fs::create_dir_all(&tokens).unwrap();
        let private = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        private(&tokens, 0o700);
        fs::write(tokens.join("admin"), "0123456789abcdef0123456789abcdef\n").unwrap();
        private(&tokens.join("admin"), 0o600);
        self
    }

    fn with_agent(self, does: &str) -> Setting {
        fs::remove_file(self.world.path("agents/claude")).unwrap();
        self.with_program("claude", does)
    }

    fn with_program(self, name: &str, does: &str) -> Setting {
        write_program(&self.world.path("agents").join(name), &format!("#!/bin/sh\n{does}\n"));
        self
    }

    #[track_caller]
    fn orange(&self, args: &[&str]) -> String {
        self.world.orange_in(&self.folder, &[&["--json"], args].concat()).ok().to_string()
    }
}
