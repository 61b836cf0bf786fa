//! Settings of git that people have, all at once: a task reaches its end all the same.

use std::fs;

use serde_json::json;

use crate::world::{World, write_program};

/// Every setting here is somebody's, and has broken a program that calls git.
const HOSTILE: &str = r#"
[user]
	useConfigOnly = true
[init]
	defaultBranch = trunk
[core]
	hooksPath = HOOKS
	fsmonitor = HOOKS/fsmonitor
	untrackedCache = true
	splitIndex = true
	quotePath = false
	autocrlf = input
	safecrlf = warn
	logAllRefUpdates = always
	pager = false
	editor = false
	attributesFile = HOOKS/attributes
	excludesFile = HOOKS/ignored
	checkStat = minimal
	sshCommand = false
[index]
	skipHash = false
[feature]
	manyFiles = true
[sequence]
	editor = false
[commit]
	gpgSign = true
	template = /nowhere
	verbose = true
[tag]
	gpgSign = true
	sort = -version:refname
[gpg]
	program = HOOKS/gpg
[log]
	showSignature = true
	decorate = full
	follow = true
[format]
	pretty = fuller
[merge]
	verifySignatures = true
	ff = only
	autoStash = true
	renames = false
	conflictStyle = zdiff3
	log = true
[rebase]
	autoStash = true
	updateRefs = true
[pull]
	rebase = merges
[fetch]
	prune = true
	pruneTags = true
	recurseSubmodules = true
	output = compact
	writeCommitGraph = true
[push]
	default = nothing
	followTags = true
	recurseSubmodules = check
	autoSetupRemote = true
[remote]
	pushDefault = elsewhere
[branch]
	autoSetupMerge = inherit
	autoSetupRebase = always
	sort = -committerdate
[checkout]
	guess = false
	defaultRemote = elsewhere
	workers = 0
[clean]
	requireForce = true
[worktree]
	guessRemote = true
	useRelativePaths = true
[status]
	showUntrackedFiles = no
	relativePaths = true
	short = true
	branch = true
	showStash = true
	submoduleSummary = true
[diff]
	external = false
	ignoreSubmodules = all
	noprefix = true
	renames = copies
	mnemonicPrefix = true
[submodule]
	recurse = true
[column]
	ui = always
[color]
	ui = always
[advice]
	detachedHead = true
	statusHints = true
[gc]
	auto = 1
	autoDetach = false
[maintenance]
	auto = true
[rerere]
	enabled = true
	autoUpdate = true
[safe]
	bareRepository = explicit
[i18n]
	logOutputEncoding = ISO-8859-1
[help]
	autoCorrect = immediate
[alias]
	status = !false
	switch = !false
[transfer]
	fsckObjects = true
[protocol]
	version = 0
[trace2]
	normalTarget = HOOKS/trace
"#;

/// Signs whatever it is given, and finds every signature good.
const SIGNER: &str = r"#!/bin/sh
cat >/dev/null
case $* in
  *--verify*) printf '\n[GNUPG:] GOODSIG 0123456789ABCDEF Toy Maker\n[GNUPG:] TRUST_FULLY\n' ;;
  *)
    printf -- '-----BEGIN PGP SIGNATURE-----\n\nit is good\n-----END PGP SIGNATURE-----\n'
    printf '\n[GNUPG:] SIG_CREATED D\n' >&2
    ;;
esac
";

/// A world whose user has all of that.
fn hostile_world() -> World {
    let world = World::empty();
    let hooks = world.path("hooks");
    fs::create_dir(&hooks).unwrap();
    // None of these may keep git from what it does, whatever they end with.
    for hook in
        ["post-checkout", "post-merge", "post-commit", "post-rewrite", "post-index-change", "pre-auto-gc"]
    {
        write_program(&hooks.join(hook), "#!/bin/sh\necho \"nothing from $0\"\nexit 1\n");
    }
    write_program(&hooks.join("fsmonitor"), "#!/bin/sh\nexit 1\n");
    write_program(&hooks.join("gpg"), SIGNER);
    fs::write(hooks.join("ignored"), "*.log\n").unwrap();
    fs::write(hooks.join("attributes"), "*.txt text eol=crlf\n").unwrap();
    let settings = world.path("home/.gitconfig");
    let own = fs::read_to_string(&settings).unwrap();
    fs::write(settings, own + &HOSTILE.replace("HOOKS", &hooks.to_string_lossy())).unwrap();
    world.ok(&["project", "add", "--name", "toy", "--pool-size", "2"]);
    world
}

#[test]
fn a_task_goes_from_creation_to_merge_under_any_git_config() {
    let world = hostile_world();
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    let merge = ["--local", "--strategy", "merge"];
    // The remote is on this machine, and its hooks are where all of them are.
    let hook = world.path("hooks/pre-receive");
    write_program(&hook, "#!/bin/sh\nexit 1\n");
    let refused = task.fails(5, "environment", "merge", &merge);
    assert!(refused.contains("rejected") && !refused.contains('\u{1b}'), "{refused:?}");
    fs::remove_file(hook).unwrap();
    let merged = task.ok("merge", &merge);
    assert_eq!((&merged["hook_errors"], &merged["pushed"]), (&json!([]), &json!(true)), "{merged}");
    let parents = world.git(&world.repo(), &["rev-list", "--parents", "-n", "1", "origin/main"]);
    assert_eq!(parents.split(' ').count(), 3, "{parents}");
    assert!(world.git(&world.repo(), &["cat-file", "commit", "main"]).contains("gpgsig"));
    let work = format!("work-{}.txt", task.id);
    let lines = world
        .git(&world.path("toy.git"), &["-c", "safe.bareRepository=all", "show", &format!("main:{work}")]);
    assert_eq!(lines, "agent 1 was here\nagent 3 was here");
    assert!(world.repo().join(work).exists());
}

#[test]
fn uncommitted_work_is_kept_and_restored_under_any_git_config() {
    let world = hostile_world();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let worktree = task.worktree();
    // It says that nothing changes, and git believes it from here on.
    write_program(&world.path("hooks/fsmonitor"), "#!/bin/sh\nprintf 'now\\0'\n");
    world.git(&worktree, &["status"]);
    fs::write(worktree.join("README.md"), "half an idea\n").unwrap();
    fs::write(worktree.join("staged.txt"), "another\n").unwrap();
    fs::write(worktree.join("new.txt"), "line\r\nend\n").unwrap();
    world.git(&worktree, &["add", "staged.txt"]);
    let cancelled = task.ok("cancel", &["--yes"]);
    assert_eq!(cancelled["hook_errors"], json!([]), "{cancelled}");
    assert_eq!(world.git(&worktree, &["status", "--porcelain", "--untracked-files=all"]), "");

    let branch = task.ok("restore", &["--backup", "1"])["branch"].as_str().unwrap().to_owned();
    let text = |file: &str| world.git(&world.repo(), &["cat-file", "blob", &format!("{branch}:{file}")]);
    assert_eq!(
        [text("README.md"), text("staged.txt"), text("new.txt")],
        ["half an idea", "another", "line\r\nend"]
    );
    task.ok("delete", &["--yes"]);
    assert_eq!(task.ok("restore", &[])["status"], "cancelled");
}

#[test]
fn with_signatures_required_no_unsigned_branch_is_merged() {
    let world = World::new();
    world.git(&world.repo(), &["config", "merge.verifySignatures", "true"]);
    world.commit_on("fix", "new.txt");
    let before = world.git(&world.repo(), &["rev-parse", "main"]);
    let task = world.create("fix", "Mend it", &["--status", "reviewing"]);
    for strategy in ["ff", "merge"] {
        let refused = task.fails(1, "refused", "merge", &["--local", "--strategy", strategy]);
        assert!(
            refused.contains("`merge.verifySignatures`") && refused.contains("git verify-commit"),
            "{refused}"
        );
    }
    assert_eq!(
        (task.status(), world.git(&world.repo(), &["rev-parse", "main"])),
        ("reviewing".to_owned(), before)
    );
}

#[test]
fn a_merge_that_cannot_be_signed_says_so() {
    let world = World::new();
    world.commit_on("fix", "new.txt");
    let task = world.create("fix", "Mend it", &["--status", "reviewing"]);
    world.git(&world.repo(), &["config", "commit.gpgSign", "true"]);
    world.git(&world.repo(), &["config", "gpg.program", "false"]);
    let failed = task.fails(5, "environment", "merge", &["--local", "--strategy", "merge"]);
    assert!(failed.contains("commit.gpgSign") && failed.contains("--strategy ff"), "{failed}");
    task.ok("merge", &["--local", "--strategy", "ff"]);
}
