//! Mistakes of people and agents: each is an error that says what to do, and nothing is half-done.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::world::{World, text};

/// Everything that `$(touch x)` and its like would leave behind, anywhere in this world.
fn planted(world: &World) -> Vec<String> {
    let found = world.command("find").args([".", "-name", "x", "-o", "-name", "x)"]).output().unwrap();
    text(&found.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn a_summary_is_data_whatever_it_says() {
    let world = World::new();
    let hostile =
        "-rf \"quoted\" 'too' $(touch x) `touch x` #(touch x) {branch} {{id}} ; touch x\n\n\t\\n ü 🍊\n";
    let summary = hostile.repeat(100_000 / hostile.len() + 1);
    let task = world.create("fix", &summary, &[]);
    task.reaches("reviewing");
    let prompt = task.agent(1).prompt();
    assert!(
        prompt.starts_with(&format!("# Task: {summary}\n\nProject: toy\nBranch: fix\n")),
        "{}",
        prompt.len()
    );
    assert_eq!(task.show()["summary"], summary);
    assert_eq!(planted(&world), [] as [&str; 0]);
    task.ok("update", &["--summary", "--status $(touch x)"]);
    assert_eq!(task.show()["summary"], "--status $(touch x)");
    task.ok("merge", &["--local"]);
    assert_eq!(planted(&world), [] as [&str; 0]);
}

#[test]
fn a_branch_is_data_too() {
    let world = World::new();
    let task = world.create("#(touch${IFS}x)", "Mend it", &[]);
    task.reaches("reviewing");
    assert_eq!(task.events_of("agent.spawned")[0]["session"], "toy/--touch--IFS-x-");
    task.ok("merge", &["--local"]);
    assert_eq!(planted(&world), [] as [&str; 0]);
}

#[track_caller]
fn check_branch(branch: &str, status: i32, code: &str) {
    let world = World::new();
    let message = world.fails(status, code, &["task", "create", "--", branch, "Mend it"]);
    assert!(message.contains("branch"), "{message}");
    assert_nothing_was_made(&world);
}

#[track_caller]
fn assert_nothing_was_made(world: &World) {
    assert_eq!(world.ok(&["task", "list", "--all"]), json!([]));
    assert_eq!(world.ok(&["workspace", "list", "--all"]), json!([]));
    assert_eq!(world.panes(), [] as [&str; 0]);
    assert_eq!(world.git(&world.repo(), &["branch", "--format=%(refname:short)"]), "main");
}

#[test]
fn what_cannot_be_a_branch_is_refused_before_anything_is_made() {
    for branch in ["../../x", "#(touch x)", "-x", "a..b", "HEAD", "fix.lock", "a\nb"] {
        check_branch(branch, 2, "usage");
    }
    check_branch("main", 1, "refused");
    check_branch("refs/heads/q", 2, "usage");
    // Git cannot have a branch and a folder of branches of one name.
    check_branch("main/q", 1, "refused");
    let world = World::new();
    world.git(&world.repo(), &["branch", "a/b/c"]);
    for (branch, taken) in [("a/b", "a/b/c"), ("a", "a/b/c"), ("a/b/c/d", "a/b/c")] {
        let refused = world.fails(1, "refused", &["task", "create", branch, "Mend it"]);
        assert!(refused.contains(&format!("beside the branch `{taken}`")), "{refused}");
    }
    world.ok(&["task", "create", "a/b/d", "Mend it", "--no-spawn"]);
}

#[test]
fn an_empty_summary_is_refused() {
    let world = World::new();
    for summary in ["", " \n"] {
        let refused = world.fails(2, "usage", &["task", "create", "fix", summary, "--no-spawn"]);
        assert!(refused.contains("leave it out"), "{refused}");
    }
    assert_nothing_was_made(&world);
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    task.fails(2, "usage", "update", &["--summary", ""]);
    assert_eq!(task.show()["summary"], "Mend it");
}

#[test]
fn a_status_that_is_misspelled_has_its_nearest_one() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    let unknown = task.fails(3, "not_found", "update", &["--status", "WORNG"]);
    assert!(unknown.contains("did you mean `working`? it has: pending,"), "{unknown}");
}

#[test]
fn a_repository_without_a_commit_is_no_project_yet() {
    let world = World::empty();
    let fresh = world.path("fresh");
    world.git(&world.path(""), &["init", "--quiet", "fresh"]);
    let refused = world.fails(3, "not_found", &["project", "add", &fresh.to_string_lossy()]);
    assert!(refused.contains("git commit --allow-empty"), "{refused}");
    world.git(&fresh, &["commit", "--quiet", "--allow-empty", "--message", "Begin"]);
    world.ok(&["project", "add", &fresh.to_string_lossy()]);
}

#[test]
fn a_project_s_name_stands_in_paths_and_names() {
    let world = World::new();
    for name in ["a:b.c", "../x", "", ".", "x/y", "-x", "#(touch x)"] {
        let message = world.fails(2, "usage", &["project", "add", &format!("--name={name}")]);
        assert!(message.contains("--name "), "{message}");
    }
    let odd = world.path("a:b.c");
    world.git(Path::new("/"), &["init", "--quiet", &odd.to_string_lossy()]);
    world.git(&odd, &["commit", "--quiet", "--allow-empty", "--message", "Begin"]);
    let message = world.orange_in(&odd, &["project", "add", "--json"]).fails(2, "usage");
    assert!(message.contains("--name a-b-c"), "{message}");
    world.orange_in(&odd, &["project", "add", "--name", "a-b-c", "--json"]).ok();
    world.ok(&["setup", "--yes", "--harness", "claude"]);
    let task = world.orange_in(&odd, &["task", "create", "fix", "Mend it [agents: hang]", "--json"]).ok();
    assert_eq!(task["tmux_session"], "a-b-c/fix");
    assert_eq!(planted(&world), [] as [&str; 0]);
}

#[track_caller]
fn check_task_file(damage: impl Fn(&str) -> Option<Vec<u8>>, expect: &str) {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task.write("## Handoff\n\nDONE: all of it");
    task.gets_its_copy();
    let good = fs::read_to_string(task.file()).unwrap();
    let damaged = damage(&good);
    match &damaged {
        Some(bytes) => fs::write(task.file(), bytes).unwrap(),
        None => fs::remove_file(task.file()).unwrap(),
    }
    let before = (task.events(), fs::read(task.file()).ok(), world.panes());
    for words in
        [&["update", "--status", "agent-review"] as &[&str], &["show"], &["next"], &["cancel", "--yes"]]
    {
        let message = task.fails(6, "corrupt", words[0], &words[1..]);
        assert!(message.contains("TASK.md") && message.contains(expect), "{message}");
        assert!(message.contains("nothing was changed"), "{message}");
    }
    assert_eq!(world.ok(&["task", "list"])[0]["error"]["code"], "corrupt", "one bad task hides no list");
    assert_eq!(before, (task.events(), fs::read(task.file()).ok(), world.panes()));

    fs::write(task.file(), good).unwrap();
    task.ok("update", &["--status", "agent-review"]);
}

#[test]
fn a_task_file_that_cannot_be_understood_is_left_alone() {
    check_task_file(|_| None, "is missing");
    check_task_file(|_| Some(Vec::new()), "empty");
    check_task_file(|good| Some(good.as_bytes()[..good.len() / 4].to_vec()), "---");
    check_task_file(|good| Some(good.replacen("branch:", "<<<<<<< ours\nbranch:", 1).into()), "conflict");
    check_task_file(|_| Some(vec![0xff, 0xfe, 0, 1, 2]), "UTF-8");
}

#[test]
fn a_status_that_was_written_by_hand_is_put_right() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let good = fs::read_to_string(task.file()).unwrap();
    let forged =
        good.replacen("status: working", "status: done", 1).replacen("---\n", "---\n# mine\nmood: good\n", 1);
    assert_ne!(good, forged);
    fs::write(task.file(), forged).unwrap();
    assert_eq!(task.show()["status"], "working");
    task.fails(1, "gate_failed", "update", &["--status", "agent-review"]);
    let repaired = &task.events_of("task.repaired")[0];
    assert_eq!(
        (&repaired["field"], &repaired["found"], &repaired["kept"]),
        (&json!("status"), &json!("done"), &json!("working"))
    );
    let now = fs::read_to_string(task.file()).unwrap();
    assert!(now.starts_with("---\n# mine\nmood: good\n") && now.contains("status: working"), "{now}");
}

#[test]
fn an_editor_that_saves_by_renaming_loses_nothing() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: editor fail editor pass]", &[]);
    task.reaches("reviewing");
    assert_eq!(task.arrows().len(), 5);
    let body = fs::read_to_string(task.file()).unwrap();
    assert_eq!(body.matches("## Handoff").count(), 2, "{body}");
    task.gets_its_copy();
    assert_eq!(world.git(&task.worktree(), &["status", "--porcelain"]), "");
}

#[test]
fn line_ends_and_marks_of_other_systems_are_kept() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task.write("## Handoff\n\nDONE: all of it");
    let text = format!("\u{feff}{}", fs::read_to_string(task.copy()).unwrap()).replace('\n', "\r\n");
    fs::write(task.copy(), &text).unwrap();
    task.ok("update", &["--status", "agent-review"]);
    let now = fs::read_to_string(task.file()).unwrap();
    assert!(now.starts_with("\u{feff}---\r\n") && now.ends_with("DONE: all of it\r\n"), "{now:?}");
    assert_eq!(now.matches('\n').count(), now.matches("\r\n").count());
}

#[track_caller]
fn check_missing(programs: &[&str], missing: &str) {
    let world = World::new();
    let create = ["--json", "task", "create", "fix", "Mend it [agents: hang]"];
    let message = world.said(world.with_only(programs).args(create)).fails(5, "environment");
    assert!(message.contains(&format!("`{missing}`")) && message.contains("install"), "{message}");
    assert_nothing_was_made(&world);
    world.ok(&create[1..]);
}

#[test]
fn what_is_not_installed_is_named_before_anything_is_made() {
    check_missing(&["git", "claude"], "tmux");
    check_missing(&["tmux", "claude"], "git");
    check_missing(&["tmux", "git"], "claude");
}

#[test]
fn a_missing_reviewer_is_noticed_before_the_status_changes() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang]", &["--review-harness", "codex"]);
    let agent = task.agent(1).begun();
    task.reaches("working");
    task.write("## Handoff\n\nDONE: all of it");
    let mut command = world.with_only(&["tmux", "git", "claude"]);
    let asked = world.said(command.args(["--json", "task", "update", &task.id, "--status", "agent-review"]));
    let message = asked.fails(5, "environment");
    assert!(message.contains("`codex`") && message.contains("install"), "{message}");
    assert_eq!((task.status(), crate::task::is_alive(agent)), ("working".to_owned(), true));
    world.fails(3, "not_found", &["task", "create", "x", "y", "--harness", "cloud"]);
}

#[test]
fn a_missing_name_for_git_is_reported_first() {
    let world = World::new();
    fs::write(world.path("home/.gitconfig"), "").unwrap();
    let message = world.fails(5, "environment", &["task", "create", "fix", "Mend it"]);
    assert!(message.contains("git config --global user.name"), "{message}");
    assert_nothing_was_made(&world);
}

#[test]
fn a_list_of_projects_that_is_no_list_is_not_overwritten() {
    let world = World::new();
    let file = world.home().join("projects.json");
    fs::write(&file, "[{]\n").unwrap();
    for args in
        [&["project", "list"] as &[&str], &["project", "add", "--name", "y"], &["task", "create", "fix", "x"]]
    {
        let message = world.fails(6, "corrupt", args);
        assert!(message.contains("projects.json:1"), "{message}");
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "[{]\n");
}

#[test]
fn a_home_that_cannot_be_is_an_error_of_the_environment() {
    let world = World::empty();
    fs::write(world.home(), "a file in the way").unwrap();
    let message = world.fails(5, "environment", &["project", "add", "--name", "y"]);
    assert!(message.contains("ORANGE_HOME"), "{message}");
}

#[test]
fn a_torn_last_line_of_the_journal_is_cut_off() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let journal = task.folder().join("history.jsonl");
    let whole = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, format!("{whole}{{\"seq\":99,\"type\":\"status.cha")).unwrap();
    assert_eq!(task.ok("update", &["--status", "clarification"])["to"], "clarification");
    let repaired = &task.events_of("task.repaired")[0];
    assert_eq!(repaired["field"], "history.jsonl");
}

#[test]
fn a_branch_that_the_remote_cannot_have_is_refused() {
    let world = World::new();
    let repo = world.repo();
    world.git(&repo, &["push", "--quiet", "origin", "main:refs/heads/release/x", "main:refs/heads/fix"]);
    world.git(&repo, &["fetch", "--quiet"]);
    for (branch, taken) in [("release", "release/x"), ("fix/login", "fix"), ("release/x/y", "release/x")] {
        let refused = world.fails(1, "refused", &["task", "create", branch, "Mend it", "--no-spawn"]);
        assert!(refused.contains(&format!("beside its branch `{taken}`")), "{refused}");
        assert!(refused.contains("git fetch --prune origin"), "{refused}");
    }
    for branch in ["release/x", "release/y", "fix2"] {
        world.create(branch, "Mend it", &["--no-spawn"]);
    }
}

#[test]
fn a_missing_filter_is_named_before_anything_begins() {
    let world = World::new();
    let repo = world.repo();
    world.commit_on("big", "one");
    world.git(&repo, &["switch", "--quiet", "big"]);
    fs::create_dir(repo.join("deep")).unwrap();
    fs::write(repo.join("deep/.gitattributes"), "*.bin filter=lfs diff=lfs merge=lfs -text\n").unwrap();
    world.git(&repo, &["add", "deep"]);
    world.git(&repo, &["commit", "--quiet", "--message", "Attributes"]);
    world.git(&repo, &["switch", "--quiet", "main"]);
    let refused = |branch: &str, part: &str| {
        let create = ["task", "create", branch, "Mend it [agents: hang]"];
        let refused = world.fails(5, "environment", &create);
        assert!(refused.contains("the filter `lfs`") && refused.contains(part), "{refused}");
        assert!(refused.contains("git lfs install"), "{refused}");
        let listed = world.ok(&["task", "list"]);
        let known = listed.as_array().unwrap().iter().find(|task| task["branch"] == branch).unwrap();
        let task = world.task(known);
        assert_eq!((task.status().as_str(), task.owned("workspace")), ("pending", serde_json::json!(null)));
    };
    refused("big", "git has no settings for it");
    world.git(&repo, &["config", "filter.lfs.process", "git-lfs-of-nobody filter-process"]);
    world.git(&repo, &["config", "filter.lfs.required", "true"]);
    world.git(&repo, &["branch", "bigger", "big"]);
    refused("bigger", "`git-lfs-of-nobody` is not installed");
    world.create("small", "Mend that [agents: hang]", &[]).agent(1).begun();
}

#[test]
fn a_bare_repository_is_refused_with_one_of_its_worktrees() {
    let world = World::new();
    let bare = world.path("bare.git");
    world.git(&world.repo(), &["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let add = ["project", "add", bare.to_str().unwrap(), "--name", "bare"];
    let refused = world.fails(1, "refused", &add);
    assert!(refused.contains("is a bare repository") && refused.contains("worktree add"), "{refused}");
    let tree = world.path("tree");
    world.git(&bare, &["worktree", "add", "--quiet", tree.to_str().unwrap(), "main"]);
    let refused = world.fails(1, "refused", &add);
    assert!(refused.contains(&format!("name one of its worktrees: {}", tree.display())), "{refused}");
    world.ok(&["project", "add", tree.to_str().unwrap(), "--name", "bare"]);
}
