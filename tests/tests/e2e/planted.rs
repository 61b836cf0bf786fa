//! Programs that an agent leaves for git to run: filters, hooks, monitors, external programs, in each place in which an agent
//! writes. No command of ours makes git run any of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::task::Task;
use crate::world::{World, write_program};

/// Every hook that git knows and that could run in a worktree or at the end of a task.
const HOOKS: [&str; 20] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "prepare-commit-msg",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// A program that notes that it has run, and passes its input on, as a filter does.
struct Marker {
    program: PathBuf,
    runs: PathBuf,
}

impl Marker {
    fn new(world: &World) -> Marker {
        let marker = Marker { program: world.path("marker"), runs: world.path("runs") };
        let script = format!("#!/bin/sh\necho \"$0 $*\" >>{}\nexec cat\n", marker.runs.display());
        write_program(&marker.program, &script);
        marker
    }

    /// Hooks in this folder.
    fn hooks(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        for hook in HOOKS {
            fs::copy(&self.program, folder.join(hook)).unwrap();
            fs::set_permissions(folder.join(hook), fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    /// Settings that name the marker wherever a setting can name a program.
    fn settings(&self, folder: &Path) -> String {
        let included = folder.join("included");
        let program = self.program.display();
        let more =
            format!("[filter \"included\"]\n\tclean = {program} included\n[log]\n\tshowSignature = true\n");
        fs::write(&included, more).unwrap();
        format!(
            "[core]\n\tfsmonitor = {program} fsmonitor\n\teditor = {program} editor\n\tpager = {program} pager\n\
             \tsshCommand = {program} ssh\n\taskPass = {program} askpass\n\thooksPath = {hooks}\n\
             [filter \"x\"]\n\tclean = {program} clean\n\tsmudge = {program} smudge\n\trequired = true\n\
             [filter \"y\"]\n\tprocess = {program} process\n\
             [diff]\n\texternal = {program} external\n[diff \"x\"]\n\ttextconv = {program} textconv\n\tcommand = {program} command\n\
             [difftool \"x\"]\n\tcmd = {program} difftool\n[merge \"x\"]\n\tdriver = {program} driver\n\
             [credential]\n\thelper = {program} credential\n[gpg]\n\tprogram = {program} gpg\n[commit]\n\tgpgSign = true\n\
             [sequence]\n\teditor = {program} sequence\n[interactive]\n\tdiffFilter = {program} interactive\n\
             [uploadpack]\n\tpackObjectsHook = {program} upload\n[alias]\n\tstatus = !{program} alias\n\
             [include]\n\tpath = {included}\n",
            hooks = folder.join("hooks").display(),
            included = included.display(),
        )
    }

    /// Names of the programs that have run; they are forgotten.
    fn taken(&self) -> String {
        let text = fs::read_to_string(&self.runs).unwrap_or_default();
        fs::remove_file(&self.runs).unwrap_or_default();
        text
    }

    #[track_caller]
    fn has_not_run(&self, after: &str) {
        assert_eq!(self.taken(), "", "after {after}");
    }
}

const ATTRIBUTES: &str = "* filter=x diff=x merge=x\n*.inc filter=included\n*.proc filter=y\n";

/// A task at work in its worktree.
fn at_work(world: &World) -> Task<'_> {
    let task = world.create("fix", "Mend it [agents: hang hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task
}

/// Runs every command that looks at a task or at its worktree.
#[track_caller]
fn look(world: &World, task: &Task<'_>, marker: &Marker) {
    let id = task.id.as_str();
    let commands: [&[&str]; 20] = [
        &["task", "diff", id],
        &["task", "diff", id, "--stat"],
        &["task", "show", id],
        &["task", "list", "--all"],
        &["task", "next", id],
        &["task", "logs", id],
        &["task", "pane", id],
        &["task", "update", id, "--summary", "Mend that [agents: hang hang hang]"],
        &["task", "update", id, "--status", "agent-review", "--dry-run"],
        &["task", "update", id, "--status", "agent-review"],
        &["task", "merge", id, "--local", "--dry-run"],
        &["task", "create-pr", id, "--dry-run"],
        &["task", "refresh", id],
        &["task", "restart", id],
        &["workspace", "list", "--all"],
        &["workspace", "gc", "--dry-run"],
        &["workspace", "gc"],
        &["monitor", "--once"],
        &["doctor"],
        &["project", "show"],
    ];
    for words in commands {
        world.json(words);
        marker.has_not_run(&words.join(" "));
    }
    // For a person, too.
    for words in [&["task", "diff", id][..], &["task", "diff", id, "--stat"]] {
        world.orange(words);
        marker.has_not_run(&words.join(" "));
    }
}

/// Ends the task, by every command that may.
#[track_caller]
fn end(world: &World, task: &Task<'_>, marker: &Marker) {
    let id = task.id.as_str();
    for words in [
        &["task", "stop", id][..],
        &["task", "merge", id, "--local", "--force", "--strategy", "merge", "--yes"],
        &["task", "cancel", id, "--yes"],
        &["task", "restore", id, "--backup", "1"],
        &["workspace", "gc"],
        &["task", "delete", id, "--yes"],
        &["task", "restore", id],
    ] {
        world.json(words);
        marker.has_not_run(&words.join(" "));
    }
}

#[test]
fn nothing_of_a_nested_repository_runs() {
    let world = World::new();
    let (task, marker) = (at_work(&world), Marker::new(&world));
    let worktree = task.worktree();
    let nested = worktree.join("frontend");
    fs::create_dir(&nested).unwrap();
    world.git(&nested, &["init", "--quiet"]);
    fs::write(nested.join("page"), "one\n").unwrap();
    world.git(&nested, &["add", "page"]);
    world.git(&nested, &["commit", "--quiet", "--message", "Scaffold"]);
    // It is in the index, so that git looks at it.
    world.git(&worktree, &["-c", "advice.addEmbeddedRepo=false", "add", "frontend"]);
    world.git(&worktree, &["commit", "--quiet", "--message", "A scaffold"]);
    fs::write(nested.join("page"), "two\n").unwrap();
    fs::write(nested.join(".gitattributes"), ATTRIBUTES).unwrap();
    let own = nested.join(".git");
    let settings = fs::read_to_string(own.join("config")).unwrap() + &marker.settings(&own);
    fs::write(own.join("config"), settings).unwrap();
    marker.hooks(&own.join("hooks"));
    world.git(&worktree, &["diff"]);
    assert!(marker.taken().contains("clean"), "git itself runs the filter");
    look(&world, &task, &marker);
    end(&world, &task, &marker);
}

#[test]
fn nothing_of_a_rewritten_common_folder_runs() {
    for is_merged in [true, false] {
        let world = World::new();
        let (task, marker) = (at_work(&world), Marker::new(&world));
        let worktree = task.worktree();
        fs::write(worktree.join("work"), "done\n").unwrap();
        world.git(&worktree, &["add", "work"]);
        world.git(&worktree, &["commit", "--quiet", "--message", "Work"]);
        fs::write(worktree.join("README.md"), "changed\n").unwrap();
        fs::write(worktree.join(".gitattributes"), ATTRIBUTES).unwrap();
        let own = PathBuf::from(world.git(&worktree, &["rev-parse", "--absolute-git-dir"]));
        let common = world.path("common");
        let copied = world.command("cp").arg("-r").arg(world.repo().join(".git")).arg(&common).status();
        assert!(copied.unwrap().success());
        let settings = fs::read_to_string(common.join("config")).unwrap() + &marker.settings(&common);
        fs::write(common.join("config"), settings).unwrap();
        marker.hooks(&common.join("hooks"));
        fs::write(own.join("commondir"), format!("{}\n", common.display())).unwrap();
        world.git(&worktree, &["diff"]);
        assert!(marker.taken().contains("fsmonitor"), "git itself runs what that folder names");
        look(&world, &task, &marker);
        if is_merged {
            fs::remove_file(worktree.join(".gitattributes")).unwrap();
            fs::write(worktree.join("README.md"), "A toy.\n").unwrap();
        }
        end(&world, &task, &marker);
    }
}

#[test]
fn no_hook_that_a_worktree_has_runs() {
    let world = World::new();
    world.git(&world.repo(), &["config", "core.hooksPath", ".husky"]);
    let (task, marker) = (at_work(&world), Marker::new(&world));
    let worktree = task.worktree();
    marker.hooks(&worktree.join(".husky"));
    // It is not committed: what a person has merged may run in the main checkout.
    fs::write(world.repo().join(".git/info/exclude"), ".husky\n").unwrap();
    fs::write(worktree.join("work"), "done\n").unwrap();
    world.git(&worktree, &["add", "work"]);
    assert!(marker.taken().contains("post-index-change"), "git itself runs the hook");
    world.git(&worktree, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", "Work"]);
    look(&world, &task, &marker);
    end(&world, &task, &marker);
}

#[test]
fn settings_of_one_worktree_that_name_programs_are_refused() {
    let world = World::new();
    world.git(&world.repo(), &["config", "extensions.worktreeConfig", "true"]);
    let (task, marker) = (at_work(&world), Marker::new(&world));
    let worktree = task.worktree();
    let own = PathBuf::from(world.git(&worktree, &["rev-parse", "--absolute-git-dir"]));
    fs::write(own.join("config.worktree"), "[core]\n\tsparseCheckout = false\n").unwrap();
    task.ok("diff", &[]);
    fs::write(own.join("config.worktree"), marker.settings(&own)).unwrap();
    fs::write(worktree.join("README.md"), "changed\n").unwrap();
    world.git(&worktree, &["diff"]);
    assert!(marker.taken().contains("fsmonitor"), "git itself runs what that file names");
    let refused = task.fails(1, "refused", "diff", &[]);
    assert!(refused.contains("config.worktree"), "{refused}");
    look(&world, &task, &marker);
    end(&world, &task, &marker);
    fs::remove_file(own.join("config.worktree")).unwrap();
    task.ok("cancel", &["--yes"]);
    assert!(world.kept_texts().contains("changed"));
}

#[test]
fn the_hooks_of_the_main_checkout_run_for_a_push() {
    let world = World::new();
    let (task, marker) = (at_work(&world), Marker::new(&world));
    let worktree = task.worktree();
    fs::write(worktree.join("work"), "done\n").unwrap();
    world.git(&worktree, &["add", "work"]);
    world.git(&worktree, &["commit", "--quiet", "--message", "Work"]);
    marker.hooks(&world.repo().join(".git/hooks"));
    task.ok("merge", &["--force", "--yes"]);
    let runs = marker.taken();
    let of_pushes = ["hooks/pre-push", "hooks/reference-transaction"];
    let is_of_push = |line: &str| of_pushes.iter().any(|hook| line.contains(hook));
    assert!(runs.contains(of_pushes[0]) && runs.lines().all(is_of_push), "{runs}");
}
