//! Tasks under torture, beside their merges.

use std::fs;

use super::Scene;
use super::SceneAct::{Agent, Ask};
use crate::Result;
use crate::scratch::PROJECT;
use crate::torture::outcome::Task;
use crate::torture::prepare::{ask, before, commit_on, create, noted, patient, triage, write, write_in};
use crate::torture::world::World;

/// The scripted `gh`.
const GITHUB: &str = include_str!("../../../../tests/agents/gh");

/// The requests.
pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "create, with its worktree and agent",
        prepare: |_, _| Ok(()),
        act: Ask(&["task", "create", "BRANCH", "Mend it"]),
        to: "working",
    },
    Scene {
        name: "create, where a person's folder is in the place of the worktree",
        prepare: |world, branch| {
            let place = world.path("orange/workspaces").join(format!("{PROJECT}--1"));
            // An earlier request may have created a worktree there.
            let words = ["worktree", "remove", "--force", &place.to_string_lossy()];
            world.git(&world.path(PROJECT), &words).map(drop).unwrap_or_default();
            fs::create_dir_all(&place).map_err(|error| error.to_string())?;
            world.must_stay(branch, &place.join("mine.txt"))
        },
        act: Ask(&["task", "create", "BRANCH", "Mend it"]),
        to: "working",
    },
    Scene {
        name: "merge that makes room, and the next task is started",
        prepare: |world, branch| {
            commit_on(world, &before(branch))?;
            create(world, &before(branch), &["--status", "reviewing"])?;
            create(world, branch, &["--no-spawn"])
        },
        act: Ask(&["task", "merge", "BRANCH-before", "--local", "--strategy", "merge"]),
        to: "working",
    },
    Scene {
        name: "cancel that makes room in a project that starts what waits",
        prepare: |world, branch| {
            world.orange(&["project", "update", PROJECT, "--queue", "auto", "--pool-size", "1"])?;
            create(world, &before(branch), &[])?;
            create(world, branch, &[])
        },
        act: Ask(&["task", "cancel", "BRANCH-before", "--yes"]),
        to: "working",
    },
    Scene {
        name: "a look of the monitor, which reclaims the worktree of a task that waits for a person",
        prepare: |world, branch| {
            let waiting = before(branch);
            let settings = ["--queue", "auto", "--pool-size", "1", "--reclaim-when-waiting", "true"];
            world.orange(&[&["project", "update", PROJECT], &settings[..]].concat())?;
            create(world, &waiting, &["--workflow", "minimal"])?;
            write(world, &waiting, "## Handoff\n\nDONE: all of it")?;
            ask(world, &waiting, "reviewing")?;
            let worktree = Task::named(world, &waiting)?.worktree(world)?;
            write_in(&worktree, "idea.txt", &format!("{branch} has half an idea\n"))?;
            create(world, branch, &[])?;
            world.must_be_kept(branch, &[&format!("{branch} has half an idea\n")])
        },
        act: Ask(&["monitor", "--once"]),
        to: "working",
    },
    Scene {
        name: "gc of all that is over, and of what is not merged",
        prepare: |world, branch| {
            let (own, kept) = (world.path(PROJECT), before(branch));
            let (merged, text) = (format!("{branch}.txt"), format!("{branch} is merged\n"));
            for (name, file, text) in [(branch, &*merged, &*text), (&kept, "idea.txt", "half an idea\n")] {
                create(world, name, &[])?;
                write_in(&Task::named(world, name)?.worktree(world)?, file, text)?;
                world.orange(&["task", "cancel", name, "--yes"])?;
            }
            write_in(&own, &merged, &text)?;
            world.git(&own, &["add", &merged])?;
            world.git(&own, &["commit", "--quiet", "-m", "The same, by hand"])?;
            world.git(&own, &["push", "--quiet", "origin", "main"])?;
            let deleted = format!("{branch}-deleted");
            create(world, &deleted, &["--no-spawn"])?;
            world.orange(&["task", "delete", &deleted, "--yes"])?;
            world.must_be_kept(branch, &["half an idea\n", &text])
        },
        act: Ask(&["gc", "--yes", "--older-than", "0"]),
        to: "cancelled",
    },
    Scene {
        name: "working → agent-review, asked by the agent whose session it ends",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            write(world, branch, "## Handoff\n\nDONE: all of it")
        },
        act: Agent { window: "worker", does: "orange task update --status agent-review; exit" },
        to: "agent-review",
    },
    Scene {
        name: "agent-review → working, a reviewer ended and a message to the worker",
        prepare: |world, branch| {
            create(world, branch, &["--workflow", "persistent"])?;
            write(world, branch, "## Plan\n\nAPPROACH: the simplest\nTOUCHING: little")?;
            ask(world, branch, "working")?;
            write(world, branch, "## Handoff\n\nDONE: it\nREMAINING: no\nDECISIONS: no\nUNCERTAIN: no")?;
            ask(world, branch, "agent-review")?;
            write(world, branch, "## Review\n\nVerdict: FAIL")
        },
        act: Ask(&["task", "update", "BRANCH", "--status", "working"]),
        to: "working",
    },
    Scene {
        name: "cancel, with work to be backed up",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            let worktree = Task::named(world, branch)?.worktree(world)?;
            fs::write(worktree.join("idea.txt"), "half an idea\n").map_err(|error| error.to_string())
        },
        act: Ask(&["task", "cancel", "BRANCH", "--yes"]),
        to: "cancelled",
    },
    Scene {
        name: "cancel, in a sparse checkout with work outside of it",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            let worktree = Task::named(world, branch)?.worktree(world)?;
            let git = |words: &[&str]| world.git(&worktree, words);
            git(&["config", "extensions.worktreeConfig", "true"])?;
            git(&["sparse-checkout", "set", "inside"])?;
            write_in(&worktree, "outside/staged.txt", "staged\n")?;
            git(&["add", "--sparse", "outside/staged.txt"])?;
            write_in(&worktree, "outside/staged.txt", "then edited\n")?;
            write_in(&worktree, "outside/new.txt", "new\n")?;
            world.must_be_kept(branch, &["staged\n", "then edited\n", "new\n"])
        },
        act: Ask(&["task", "cancel", "BRANCH", "--yes"]),
        to: "cancelled",
    },
    Scene {
        name: "cancel, where the list of the worktrees knows of none",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            let worktree = Task::named(world, branch)?.worktree(world)?;
            write_in(&worktree, "idea.txt", "half an idea\n")?;
            write_in(&world.path("orange/workspaces"), ".pool.json", "{\"slots\": []}\n")?;
            world.must_be_kept(branch, &["half an idea\n"])
        },
        act: Ask(&["task", "cancel", "BRANCH", "--yes"]),
        to: "cancelled",
    },
    Scene {
        name: "cancel, in the middle of a cherry-pick, with a required filter that fails",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            let worktree = Task::named(world, branch)?.worktree(world)?;
            let git = |words: &[&str]| world.git(&worktree, words);
            let side = format!("{branch}-side");
            git(&["switch", "--quiet", "--create", &side])?;
            for text in ["first\n", "second\n", "third\n"] {
                write_in(&worktree, "both.txt", &format!("{branch} {text}"))?;
                git(&["add", "both.txt"])?;
                git(&["commit", "--quiet", "-m", text])?;
            }
            git(&["switch", "--quiet", branch])?;
            write_in(&worktree, "both.txt", "mine\n")?;
            git(&["add", "both.txt"])?;
            git(&["commit", "--quiet", "-m", "Mine"])?;
            let picked = ["~2", "~1", ""].map(|from| format!("{side}{from}"));
            if git(&["cherry-pick", &picked[0], &picked[1], &picked[2]]).is_ok() {
                return Err("what conflicts was picked".to_owned());
            }
            git(&["branch", "--quiet", "-D", &side])?;
            git(&["config", "filter.broken.clean", "false"])?;
            git(&["config", "filter.broken.required", "true"])?;
            write_in(&worktree, ".gitattributes", "filtered.txt filter=broken\n")?;
            write_in(&worktree, "filtered.txt", "filtered\n")?;
            world.must_be_kept(branch, &[&format!("{branch} third\n"), "mine\n", "filtered\n"])
        },
        act: Ask(&["task", "cancel", "BRANCH", "--yes"]),
        to: "cancelled",
    },
    Scene {
        name: "cancel, while the agent writes",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            let task = Task::named(world, branch)?;
            let busy = "do: while :; do for n in 1 2 3 4 5; do echo work >busy-$n; done; done";
            world.type_at(&task.session(), "worker", busy)?;
            let worktree = task.worktree(world)?;
            world.until("it writes", || worktree.join("busy-5").exists())?;
            world.must_be_kept(branch, &["work\n"])
        },
        act: Ask(&["task", "cancel", "BRANCH", "--yes"]),
        to: "cancelled",
    },
    Scene {
        name: "gc of a worktree whose link led to the main checkout, and was repaired",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            let task = Task::named(world, branch)?;
            let (worktree, own) = (task.worktree(world)?, world.path(PROJECT));
            let state = || world.git(&own, &["status", "--porcelain", "--branch"]);
            write_in(&worktree, "idea.txt", "half an idea\n")?;
            world.must_be_kept(branch, &["half an idea\n"])?;
            let before = state()?;
            let link = fs::read_to_string(worktree.join(".git")).map_err(|error| error.to_string())?;
            write_in(&worktree, ".git", &format!("gitdir: {}\n", own.join(".git").display()))?;
            world.orange(&["task", "cancel", branch, "--yes"])?;
            if state()? != before {
                return Err("the main checkout was touched".to_owned());
            }
            write_in(&worktree, ".git", &link)
        },
        act: Ask(&["workspace", "gc"]),
        to: "cancelled",
    },
    Scene {
        name: "gc that removes a worktree with work in it",
        prepare: |world, branch| {
            world.orange(&["project", "update", PROJECT, "--pool-size", "2"])?;
            world.orange(&["workspace", "init"])?;
            create(world, branch, &["--no-spawn"])?;
            let worktree = world.path("orange/workspaces").join(format!("{PROJECT}--2"));
            write_in(&worktree, "forgotten.txt", &format!("{branch} forgot it\n"))?;
            world.must_be_kept(branch, &[&format!("{branch} forgot it\n")])?;
            world.orange(&["project", "update", PROJECT, "--pool-size", "1"]).map(drop)
        },
        act: Ask(&["workspace", "gc"]),
        to: "pending",
    },
    Scene {
        name: "a worker that ends without a word, reported by its wrapper",
        prepare: |world, branch| create(world, branch, &[]),
        act: Agent { window: "worker", does: "exit 3" },
        to: "working",
    },
    Scene {
        name: "a worker that ends with its work done, and is followed by a review",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            write(world, branch, "## Handoff\n\nDONE: all of it")
        },
        act: Agent { window: "worker", does: "exit 0" },
        to: "agent-review",
    },
    Scene {
        name: "a reviewer that ends without a word, and is started again",
        prepare: |world, branch| {
            create(world, branch, &["--workflow", "persistent"])?;
            write(world, branch, "## Plan\n\nAPPROACH: the simplest\nTOUCHING: little")?;
            ask(world, branch, "working")?;
            write(world, branch, "## Handoff\n\nDONE: it\nREMAINING: no\nDECISIONS: no\nUNCERTAIN: no")?;
            ask(world, branch, "agent-review")
        },
        act: Agent { window: "review-1", does: "exit 3" },
        to: "agent-review",
    },
    Scene {
        name: "a worker that comes back when its limit is over",
        prepare: patient,
        act: Agent { window: "worker", does: "exit 75" },
        to: "working",
    },
    Scene {
        name: "respawn, asked by a person",
        prepare: |world, branch| {
            patient(world, branch)?;
            let task = Task::named(world, branch)?;
            world.type_at(&task.session(), "worker", "do: exit 71")?;
            world.until("its end is recorded", || {
                Task::named(world, branch).is_ok_and(|task| task.has_crashed())
            })
        },
        act: Ask(&["task", "respawn", "BRANCH"]),
        to: "working",
    },
    Scene {
        name: "restart of an agent, asked by a person",
        prepare: |world, branch| create(world, branch, &[]),
        act: Ask(&["task", "restart", "BRANCH"]),
        to: "working",
    },
    Scene {
        name: "stop, asked by a person",
        prepare: |world, branch| create(world, branch, &[]),
        act: Ask(&["task", "stop", "BRANCH"]),
        to: "working",
    },
    Scene {
        name: "create-pr",
        prepare: |world, branch| {
            world.script(&world.path("agents/gh"), GITHUB)?;
            commit_on(world, branch)?;
            world.orange(&["task", "create", branch, "Mend it", "--status", "reviewing"]).map(drop)
        },
        act: Ask(&["task", "create-pr", "BRANCH"]),
        to: "reviewing",
    },
    Scene {
        name: "a look of the monitor, at red checks that a watch rule gives to an agent",
        prepare: |world, branch| {
            world.script(&world.path("agents/gh"), GITHUB)?;
            commit_on(world, branch)?;
            let created =
                ["task", "create", branch, "Mend it", "--status", "reviewing", "--workflow", "pull-request"];
            world.orange(&created)?;
            world.orange(&["task", "create-pr", branch])?;
            red_checks(world, branch)
        },
        act: Ask(&["monitor", "--once"]),
        to: "working",
    },
    Scene {
        name: "delete",
        prepare: |world, branch| {
            create(world, branch, &["--no-spawn"])?;
            world.orange(&["task", "cancel", branch, "--yes"]).map(drop)
        },
        act: Ask(&["task", "delete", "BRANCH", "--yes"]),
        to: "cancelled",
    },
    Scene {
        name: "restore",
        prepare: |world, branch| {
            create(world, branch, &["--no-spawn"])?;
            world.orange(&["task", "delete", branch, "--yes"]).map(drop)
        },
        act: Ask(&["task", "restore", "BRANCH"]),
        to: "pending",
    },
    Scene {
        name: "undo of a cancellation, with work that comes back",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            let worktree = Task::named(world, branch)?.worktree(world)?;
            write_in(&worktree, "idea.txt", "half an idea\n")?;
            world.must_be_kept(branch, &["half an idea\n"])?;
            world.orange(&["task", "cancel", branch, "--yes"]).map(drop)
        },
        act: Ask(&["task", "undo", "BRANCH"]),
        to: "working",
    },
    Scene {
        name: "migrate, to another workflow",
        prepare: |world, branch| create(world, branch, &[]),
        act: Ask(&["task", "migrate", "BRANCH", "--to", "reviewing", "--workflow", "minimal"]),
        to: "reviewing",
    },
    Scene {
        name: "triage: create, with its folder and agent",
        prepare: triage,
        act: Ask(&["task", "create", "BRANCH", "Sort it", "--workflow", "triage"]),
        to: "triage",
    },
    Scene {
        name: "triage: a worktree takes the place of its folder",
        prepare: noted,
        act: Ask(&["task", "update", "BRANCH", "--status", "working"]),
        to: "working",
    },
    Scene {
        name: "triage: cancel, with a note in its folder",
        prepare: noted,
        act: Ask(&["task", "cancel", "BRANCH", "--yes"]),
        to: "cancelled",
    },
];

/// Lets the checks of a branch's pull request be red on the scripted forge.
fn red_checks(world: &World, branch: &str) -> Result<()> {
    let folder = world.path("home/gh");
    let number = world.note(&format!("orange/tasks/{PROJECT}/{}/TASK.md", Task::named(world, branch)?.id));
    let number = number.lines().find_map(|line| line.strip_prefix("pr_url: ")?.rsplit('/').next());
    let number = number.ok_or_else(|| format!("{branch} has no pull request"))?.trim_matches('"').to_owned();
    let checks = r#"[{"name":"test","workflowName":"CI","status":"COMPLETED","conclusion":"FAILURE","startedAt":"2026-11-20T10:00:00Z"}]"#;
    fs::write(folder.join(format!("{number}.checks")), checks).map_err(|error| error.to_string())
}
