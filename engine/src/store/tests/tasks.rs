//! A task's life in the store: created, changed, disturbed, repaired.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::ErrorKind;
use crate::store::scalar::Value;
use crate::store::tests::{draft, home, task};
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemDir, create, edit, journal, list};

#[test]
fn a_new_task_is_whole() {
    let (_folder, home) = home();
    let locked = task(&home, "fix");
    let text = fs::read_to_string(locked.dir().task_md()).unwrap();
    let keys: Vec<&str> = text.lines().filter_map(|line| line.split_once(": ").map(|(key, _)| key)).collect();
    assert_eq!(
        keys.join(" "),
        "id project branch summary status harness review_harness workflow review_round crash_count workspace \
         tmux_session created_at updated_at"
    );
    assert!(text.ends_with("---\n\n## Context\n\nToo sour.\n"));
    assert!(locked.repairs().is_empty());
    assert_eq!(locked.task().status(), "pending");
    assert_eq!(locked.task().summary, "Grind finer");

    let dir = locked.dir().clone();
    drop(locked);
    let (read, journal) = WorkItem::read(&home, &dir).unwrap();
    assert_eq!(read.owned.definition, "d1");
    assert_eq!(journal.records.len(), 1);
}

#[test]
fn values_go_to_the_journal_and_the_frontmatter() {
    let (_folder, home) = home();
    let mut locked = task(&home, "fix");
    let set = Set::new().status("working").counter("review_round", 1).workspace(Some("coffee--1"));
    locked
        .append(
            Event::AutoAdvanced { from: "pending".into(), to: "working".into(), reason: "test".into() },
            set,
        )
        .unwrap();
    locked.edit(&[("summary", Value::Text("Grind\ncoarser")), ("attention", Value::Text("look"))]).unwrap();
    let text = fs::read_to_string(locked.dir().task_md()).unwrap();
    for line in ["status: working", "review_round: 1", "workspace: coffee--1", "summary: \"Grind\\ncoarser\""]
    {
        assert!(text.contains(&format!("\n{line}\n")), "{line} is missing in {text}");
    }
    assert_eq!(locked.task().summary, "Grind\ncoarser");
    assert_eq!(locked.edit(&[("status", Value::Text("done"))]).unwrap_err().kind, ErrorKind::Refused);

    let dir = locked.dir().clone();
    drop(locked);
    let history = fs::read_to_string(dir.history()).unwrap();
    let line: String =
        history.lines().nth(1).unwrap().chars().filter(|letter| !letter.is_ascii_digit()).collect();
    assert_eq!(
        line,
        r#"{"seq":,"timestamp":"--T::.Z","type":"auto.advanced","from":"pending","to":"working","reason":"test","set":{"review_round":,"status":"working","workspace":"coffee--"}}"#
    );
    let again = LockedWorkItem::lock(&home, &dir).unwrap();
    assert!(again.repairs().is_empty());
    assert_eq!(again.task().counter("review_round"), 1);
    assert_eq!(journal::read(&dir.history()).unwrap().records.len(), 2);
}

/// Disturbs the `TASK.md` of a task and says which fields were set right, as `field: found → kept`.
#[track_caller]
fn check_repairs(disturb: impl Fn(&str) -> String, expect: &[&str]) {
    let (_folder, home) = home();
    let mut locked = task(&home, "fix");
    locked
        .append(
            Event::Unknown,
            Set::new().status("working").counter("review_round", 1).workspace(Some("coffee--1")),
        )
        .unwrap();
    let dir = locked.dir().clone();
    drop(locked);
    let good = fs::read_to_string(dir.task_md()).unwrap();
    let disturbed = disturb(&good);
    fs::write(dir.task_md(), &disturbed).unwrap();

    assert_eq!(WorkItem::read(&home, &dir).unwrap().0.status(), "working");
    assert_eq!(fs::read_to_string(dir.task_md()).unwrap(), disturbed, "a reader changes nothing");

    let locked = LockedWorkItem::lock(&home, &dir).unwrap();
    let repairs: Vec<String> =
        locked.repairs().iter().map(|event| describe(event).replace(&dir.id, "ID")).collect();
    assert_eq!(repairs, expect);
    assert_eq!(locked.history().last_seq, 2 + u64::try_from(expect.len()).unwrap());
    let body = |text: &str| text.split_once("\n---\n").unwrap().1.to_owned();
    assert_eq!(locked.task().body, body(&disturbed));
    drop(locked);
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().repairs(), []);
}

fn describe(event: &Event) -> String {
    let Event::TaskRepaired { field, found, kept } = event else { panic!("{event:?}") };
    let show = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
    format!("{field}: {} → {}", show(found), show(kept))
}

#[test]
fn the_journal_wins_over_the_frontmatter() {
    check_repairs(str::to_owned, &[]);
    check_repairs(|good| good.replace("status: working", "status: done"), &["status: done → working"]);
    check_repairs(|good| good.replace("review_round: 1\n", ""), &["review_round: nothing → 1"]);
    check_repairs(|good| good.replace("crash_count: 0\n", ""), &[]);
    check_repairs(
        |good| good.replace("workspace: coffee--1", "workspace:"),
        &["workspace: nothing → coffee--1"],
    );
    check_repairs(
        |good| good.replace("tmux_session: null", "tmux_session: x"),
        &["tmux_session: x → nothing"],
    );
    check_repairs(|good| good.replace("project: coffee", "project: tea"), &["project: tea → coffee"]);
    check_repairs(|good| good.replace("Too sour.", "Too bitter."), &[]);
    check_repairs(|good| good.replace("status: working", "status: \"open"), &["status: nothing → working"]);
    check_repairs(
        |good| format!("---\n---\n{}", good.split_once("\n---\n").unwrap().1),
        &[
            "id: nothing → ID",
            "project: nothing → coffee",
            "status: nothing → working",
            "workflow: nothing → default",
            "review_round: nothing → 1",
            "workspace: nothing → coffee--1",
        ],
    );
}

/// Breaks a file of a task and says what every command answers; the attempt may change nothing.
#[track_caller]
fn check_corrupt(break_it: impl Fn(&WorkItemDir), message: &str, help: &str) {
    let (_folder, home) = home();
    let dir = task(&home, "fix").dir().clone();
    break_it(&dir);
    let files = || [dir.task_md(), dir.history()].map(|path| fs::read(path).ok());
    let before = files();
    let errors = [LockedWorkItem::lock(&home, &dir).map(drop), WorkItem::read(&home, &dir).map(drop)]
        .map(Result::unwrap_err);
    for error in errors {
        assert_eq!(error.kind, ErrorKind::Corrupt);
        let shown = error.message.replace(&format!("{}/", dir.path.display()), "");
        assert_eq!(shown, message);
        assert!(error.help.contains(help), "{}", error.help);
    }
    assert_eq!(files(), before);
    let listed = list(&home, None).unwrap();
    assert!(listed[0].task.is_err() && listed[0].dir == dir);
}

#[test]
fn broken_tasks_say_how_to_mend_them() {
    let write = |text: &'static [u8]| move |dir: &WorkItemDir| fs::write(dir.task_md(), text).unwrap();
    let help = "with the three lines `---`, `branch: fix`, `---` and the text below them; the engine fills in what it \
                knows (status pending, workflow default)";
    check_corrupt(|dir| fs::remove_file(dir.task_md()).unwrap(), "TASK.md is missing", help);
    check_corrupt(write(b""), "TASK.md: it is empty", help);
    check_corrupt(write(b"---\nid: x\n"), "TASK.md:2: the frontmatter is not closed", "nothing was changed");
    check_corrupt(
        write(b"---\n---\n<<<<<<< HEAD\n"),
        "TASK.md:3: a merge conflict is not resolved",
        "`=======`",
    );
    check_corrupt(
        write(b"---\nsummary: 'a\n---\n"),
        "TASK.md:2: the value of `summary` cannot be understood: the quote ' is not closed",
        "double quotes",
    );
    check_corrupt(
        |dir| fs::remove_file(dir.history()).unwrap(),
        "history.jsonl is missing",
        "restore it from a backup",
    );
    check_corrupt(
        |dir| fs::write(dir.history(), "").unwrap(),
        "history.jsonl does not say the task's status",
        "begin a new one",
    );
    check_corrupt(
        |dir| fs::write(dir.history(), "x\n{}\n").unwrap(),
        "history.jsonl:1: not a history event: expected value at line 1 column 1",
        "mend that line",
    );
}

#[test]
fn a_task_is_begun_again_as_the_help_says() {
    let (_folder, home) = home();
    let dir = task(&home, "fix").dir().clone();
    fs::write(dir.task_md(), "---\nbranch: fix\n---\nPlan.\n").unwrap();
    let locked = LockedWorkItem::lock(&home, &dir).unwrap();
    assert_eq!(
        (locked.task().branch.as_str(), locked.task().status(), locked.task().body.as_str()),
        ("fix", "pending", "Plan.\n")
    );
    assert!(fs::read_to_string(dir.task_md()).unwrap().contains(&format!("\nid: {}\n", dir.id)));
}

#[test]
fn a_torn_journal_is_cut_and_reported() {
    let (_folder, home) = home();
    let dir = task(&home, "fix").dir().clone();
    let whole = fs::read_to_string(dir.history()).unwrap();
    fs::write(dir.history(), format!("{whole}{{\"seq\":2,\"times")).unwrap();
    let locked = LockedWorkItem::lock(&home, &dir).unwrap();
    assert_eq!(
        locked.repairs().iter().map(describe).collect::<Vec<_>>(),
        ["history.jsonl: {\"seq\":2,\"times → nothing"]
    );
    assert!(fs::read_to_string(dir.history()).unwrap().starts_with(&whole));
    assert_eq!(journal::read(&dir.history()).unwrap().records.len(), 2);
}

#[test]
fn what_people_wrote_survives_the_engine() {
    let (_folder, home) = home();
    let mut locked = task(&home, "fix");
    let path = locked.dir().task_md();
    let text = fs::read_to_string(&path)
        .unwrap()
        .replace("status: pending", "# mine\nstatus: pending # soon\ntags:\n- a");
    let text = format!("\u{FEFF}{}", text.replace('\n', "\r\n"));
    fs::write(&path, &text).unwrap();
    locked.append(Event::Unknown, Set::new().status("working")).unwrap();
    let written = fs::read_to_string(&path).unwrap();
    let without_time = |text: &str| -> Vec<String> {
        text.split_inclusive('\n')
            .filter(|line| !line.starts_with("updated_at: "))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(without_time(&written), without_time(&text.replace("status: pending", "status: working")));
}

#[test]
fn a_write_takes_what_an_agent_wrote_meanwhile() {
    let (_folder, home) = home();
    let mut locked = task(&home, "fix");
    let path = locked.dir().task_md();
    let attempts = std::cell::Cell::new(0);
    edit::edit(locked.dir(), locked.history(), |_, document| {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 1 {
            let before = fs::read(&path).unwrap();
            fs::write(&path, [&before, b"\n## Handoff\n".as_slice()].concat()).unwrap();
        }
        document.set_body(&format!("{}DONE: it\n", document.body()));
        Ok(())
    })
    .unwrap();
    locked.append(Event::Unknown, Set::new().status("working")).unwrap();
    assert_eq!(attempts.get(), 2);
    assert!(locked.task().body.ends_with("\n## Handoff\nDONE: it\n"));
}

#[test]
fn any_summary_is_data() {
    let (_folder, home) = home();
    let summary = "-x $(touch x) `id` \"q\" 'q' {branch} ---\n---\n\u{2028}\r\n".repeat(3000);
    let mut new = draft("fix");
    new.summary.clone_from(&summary);
    let locked = create(&home, &new, |_| Ok(())).unwrap();
    assert_eq!(locked.task().summary, summary);
    let mut new = draft("conflict");
    new.body = "<<<<<<< HEAD\n".to_owned();
    drop(locked);
    assert_eq!(create(&home, &new, |_| Ok(())).unwrap_err().kind, ErrorKind::Usage);
    assert_eq!(list(&home, None).unwrap().len(), 1);
}

#[test]
fn files_keep_their_mode_and_no_link_is_written_through() {
    let (folder, home) = home();
    let mut locked = task(&home, "fix");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(home.root()), 0o700);
    assert_eq!(mode(&locked.dir().task_md()), 0o600);
    fs::set_permissions(locked.dir().task_md(), fs::Permissions::from_mode(0o640)).unwrap();
    locked.append(Event::Unknown, Set::new().status("working")).unwrap();
    assert_eq!(mode(&locked.dir().task_md()), 0o640);

    let elsewhere = folder.path().join("elsewhere.md");
    fs::rename(locked.dir().task_md(), &elsewhere).unwrap();
    symlink(&elsewhere, locked.dir().task_md()).unwrap();
    let before = fs::read_to_string(&elsewhere).unwrap();
    let error = locked.append(Event::Unknown, Set::new().status("done")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Corrupt, "{error}");
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), before);
}

#[test]
fn a_home_that_cannot_be_made_says_what_to_do() {
    let (folder, home) = home();
    fs::write(home.root(), "in the way").unwrap();
    let error = create(&home, &draft("fix"), |_| Ok(())).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Environment);
    assert!(error.help.contains("ORANGE_HOME"), "{}", error.help);
    drop(folder);
}

#[test]
fn prompts_are_kept() {
    let (_folder, home) = home();
    let locked = task(&home, "fix");
    locked.write_prompt(1, "# Task: {x}\n").unwrap();
    assert_eq!(fs::read_to_string(locked.dir().prompt(1)).unwrap(), "# Task: {x}\n");
}

#[test]
fn a_bad_task_hides_no_other() {
    let (_folder, home) = home();
    let bad = task(&home, "bad").dir().clone();
    let good: BTreeSet<String> = (0..70).map(|n| task(&home, &format!("fix-{n}")).dir().id.clone()).collect();
    fs::write(bad.task_md(), "").unwrap();
    fs::create_dir(home.tasks().join("coffee/.new/unfinished")).unwrap();
    fs::write(home.tasks().join("stray"), "").unwrap();
    let mut listed = list(&home, Some("coffee")).unwrap();
    assert_eq!(listed.pop().unwrap().dir, bad, "the broken one is the last");
    assert!(listed.is_sorted_by_key(|listed| listed.task.as_ref().unwrap().created_at.clone()));
    assert_eq!(listed.into_iter().map(|listed| listed.dir.id).collect::<BTreeSet<_>>(), good);
    assert_eq!(list(&home, Some("tea")).unwrap().len(), 0);
    assert_eq!(list(&home, None).unwrap().len(), 71);
}

/// Checks the number of tasks of this branch, with this line in the place of the one that names a task's branch.
#[track_caller]
fn check_branch(line: &str, branch: &str, expect: Result<usize, ErrorKind>) {
    let (_folder, home) = home();
    let dir = task(&home, "fix").dir().clone();
    task(&home, "another");
    let text = fs::read_to_string(dir.task_md()).unwrap().replace("branch: fix", line);
    fs::write(dir.task_md(), text).unwrap();
    let found = list::of_branch(&home, "coffee", branch, &|_, _| false);
    assert_eq!(found.map(|found| found.len()).map_err(|error| error.kind), expect, "{line}");
}

#[test]
fn a_task_has_the_branch_of_its_file_or_of_its_creation() {
    check_branch("branch: fix", "fix", Ok(1));
    check_branch("branch: fix", "fix-2", Ok(0));
    check_branch("branch: fix-2 # renamed", "fix-2", Ok(1));
    check_branch("branch: fix", "fix/login", Ok(1));
    check_branch("branch: fix/login", "fix", Ok(1));
    check_branch("branch: fix/login", "fix/logout", Ok(0));
    check_branch("branch: fix-2", "fix", Ok(0));
    check_branch("\"branch\" : \"f\\u0069x-2\"", "fix-2", Ok(1));
    check_branch("note: branch", "fix", Ok(1));
    check_branch("branch:", "fix", Ok(1));
    check_branch("no key", "fix", Err(ErrorKind::Corrupt));
    check_branch("no key", "fix-2", Ok(0));
}

#[test]
fn what_a_killed_creator_left_is_removed_by_the_next() {
    let (_folder, home) = home();
    let left = home.tasks().join("coffee/.new/left");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("TASK.md"), "half").unwrap();
    let dir = task(&home, "fix").dir().clone();
    assert!(!left.exists() && dir.path.is_dir());
}
