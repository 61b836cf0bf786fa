//! Files that people and agents have written: Orange reports what it repairs, and leaves alone what it cannot read.

use std::fs;

use serde_json::json;

use crate::task::Task;
use crate::world::World;

fn idle<'w>(world: &'w World) -> Task<'w> {
    let task = world.create("fix", "Mend it [agents: hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task
}

fn forge(task: &Task<'_>) {
    let good = fs::read_to_string(task.file()).unwrap();
    fs::write(task.file(), good.replacen("status: working", "status: done", 1)).unwrap();
}

#[test]
fn a_command_reports_what_it_has_repaired() {
    let world = World::new();
    let task = idle(&world);
    // A living agent's companion puts right what it sees, too, and so does who takes note of its end.
    task.ok("stop", &[]);
    task.is_left();
    forge(&task);
    let refused = task.fails(1, "gate_failed", "update", &["--status", "agent-review"]);
    assert!(refused.contains("repaired: status had `done`, and has `working`"), "{refused}");
    forge(&task);
    let answer = task.ok("update", &["--summary", "Mend it well"]);
    assert_eq!(answer["repaired"], json!([{ "field": "status", "found": "done", "kept": "working" }]));
    forge(&task);
    let said = world.orange(&["task", "update", &task.id, "--summary", "Mend it"]).out;
    assert!(said.contains("repaired: status had `done`"), "{said}");
    let shown = world.orange(&["task", "show", &task.id]).out;
    assert_eq!(shown.matches("task.repaired  field=status found=done kept=working").count(), 3, "{shown}");
}

/// A file that is broken in this way: the task stays in the list, every command says where, and nothing is changed.
#[track_caller]
fn check_broken(world: &World, task: &Task<'_>, contents: &[u8], expect: &str) {
    let good = fs::read(task.file()).unwrap();
    fs::write(task.file(), contents).unwrap();
    let events = task.events();
    let listed = world.ok(&["task", "list"]);
    assert_eq!((&listed[0]["id"], &listed[0]["error"]["code"]), (&json!(task.id), &json!("corrupt")));
    for verb in ["show", "update"] {
        let more: &[&str] = if verb == "update" { &["--status", "stuck"] } else { &[] };
        let answer = task.fails(6, "corrupt", verb, more);
        assert!(answer.contains(expect) && answer.contains("nothing was changed"), "{answer}");
    }
    assert_eq!((task.events(), fs::read(task.file()).unwrap()), (events, contents.to_vec()));
    fs::write(task.file(), good).unwrap();
    assert_eq!(world.ok(&["task", "list"])[0]["status"], "working");
}

/// Number of bytes in a folder.
fn bytes_in(folder: &std::path::Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let sizes = entries.map(|entry| match entry.file_type().unwrap().is_dir() {
        true => bytes_in(&entry.path()),
        false => entry.metadata().unwrap().len(),
    });
    sizes.sum()
}

#[test]
fn a_text_that_is_too_long_is_refused_and_not_kept() {
    const MIB: usize = 1024 * 1024;
    let world = World::new();
    let task = idle(&world);
    // Nothing of Orange runs that could write the task in the same moment.
    task.ok("stop", &[]);
    task.is_left();
    let before = bytes_in(&task.folder());
    for file in [task.file(), task.copy()] {
        let good = fs::read(&file).unwrap();
        let long = [&good[..], &vec![b'x'; 50 * MIB]].concat();
        for summary in ["one", "two", "three"] {
            fs::write(&file, &long).unwrap();
            let answer = task.fails(6, "corrupt", "update", &["--summary", summary]);
            assert!(answer.contains("is longer than 4 MiB"), "{answer}");
        }
        assert_eq!(fs::read(&file).unwrap(), long, "it is left alone");
        fs::write(&file, good).unwrap();
    }
    // Each alone is short enough, and what they would be together is not.
    for (file, letter) in [(task.file(), 'a'), (task.copy(), 'b')] {
        let good = fs::read_to_string(&file).unwrap();
        let line = letter.to_string().repeat(3 * MIB);
        fs::write(&file, format!("{good}\n## Of {letter}\n\n{line}\n")).unwrap();
    }
    let answer = task.fails(1, "refused", "update", &["--summary", "both"]);
    assert!(answer.contains("would be longer than 4 MiB"), "{answer}");
    let after = bytes_in(&task.folder());
    assert!(after < before + 8 * MIB as u64, "{before} bytes have become {after}");

    let context = "x".repeat(5 * MIB);
    fs::write(world.path("context"), &context).unwrap();
    let mut create = world.command(world.program);
    create.args(["--json", "task", "create", "long", "Mend it", "--context", "-"]).current_dir(world.repo());
    create.stdin(fs::File::open(world.path("context")).unwrap());
    world.said(&mut create).fails(1, "refused");
    assert_eq!(world.ok(&["task", "list"]).as_array().unwrap().len(), 1);
}

#[test]
fn a_broken_file_is_reported_and_left_alone() {
    let world = World::new();
    let task = idle(&world);
    task.write("## Plan\n\nThe simplest one.");
    let good = fs::read_to_string(task.copy()).unwrap();
    task.gets_its_copy();
    let body = good.split_once("\n---\n").unwrap().1;
    check_broken(&world, &task, b"", "it is empty");
    check_broken(&world, &task, &good.as_bytes()[..good.len() / 4], "the frontmatter is not closed");
    check_broken(&world, &task, body.as_bytes(), "does not begin in the first line");
    check_broken(&world, &task, good.replacen("---\n", "---js\n", 1).as_bytes(), "opens with `---js`");
    check_broken(&world, &task, &[good.as_bytes(), b"\xff\n"].concat(), "not UTF-8");
    check_broken(
        &world,
        &task,
        format!("{good}<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n").as_bytes(),
        "conflict",
    );
    check_broken(
        &world,
        &task,
        good.replacen("summary:", "branch: x\nsummary:", 1).as_bytes(),
        "a second time",
    );
}

#[test]
fn an_odd_file_is_read_as_it_is_meant() {
    let world = World::new();
    let task = idle(&world);
    let good = fs::read_to_string(task.file()).unwrap();
    let twice = format!("{good}\n## Handoff\n\n\n## Handoff\n\nDONE: all\n");
    let odd = format!("\u{feff}{}", twice.replace('\n', "\r\n"));
    fs::write(task.file(), &odd).unwrap();
    assert_eq!(task.ok("update", &["--status", "agent-review"])["to"], "agent-review");
    let now = fs::read_to_string(task.file()).unwrap();
    let body = |text: &str| text.split_once("\r\n---\r\n").unwrap().1.to_owned();
    assert_eq!(body(&now), body(&odd));
    assert!(now.starts_with("\u{feff}---\r\n"));
}

#[test]
fn what_a_rewritten_file_lacks_comes_from_the_journal() {
    let world = World::new();
    let task = idle(&world);
    let created = task.show()["created_at"].clone();
    fs::write(task.file(), "---\nbranch: fix\n---\n\n## Plan\n\nAgain.\n").unwrap();
    let answer = task.ok("update", &["--summary", "Mend it"]);
    assert!(answer["repaired"].as_array().unwrap().len() >= 4, "{answer}");
    let show = task.show();
    assert_eq!(
        (&show["created_at"], &show["status"], &show["sections"]["## Plan"]),
        (&created, &json!("working"), &json!("Again."))
    );
}

#[test]
fn what_both_sides_change_at_once_is_merged() {
    let world = World::new();
    let task = idle(&world);
    let store = fs::read_to_string(task.file()).unwrap();
    fs::write(task.file(), format!("{store}\n## Feedback\n\nBe brief.\n")).unwrap();
    task.write("## Plan\n\nThe simplest one.");
    let sections = task.show()["sections"].clone();
    assert_eq!(
        (&sections["## Plan"], &sections["## Feedback"]),
        (&json!("The simplest one."), &json!("Be brief."))
    );
    let answer = task.ok("update", &["--summary", "Mend it well"]);
    assert_eq!(answer["repaired"], json!(null));
    task.gets_its_copy();
    assert!(fs::read_to_string(task.copy()).unwrap().contains("Be brief."));
}

#[test]
fn a_text_that_the_worktree_replaces_is_kept_and_reported() {
    let world = World::new();
    let task = idle(&world);
    task.write("## Plan\n\nThe simplest one.");
    task.ok("update", &["--summary", "Mend it well"]);
    for (file, plan) in [(task.file(), "The best one."), (task.copy(), "The shortest one.")] {
        let text = fs::read_to_string(&file).unwrap();
        fs::write(file, text.replace("The simplest one.", plan)).unwrap();
    }
    task.ok("update", &["--summary", "Mend it"]);
    let repaired = task.events_of("task.repaired");
    let kept = repaired[0]["kept"].as_str().unwrap();
    assert!(fs::read_to_string(kept).unwrap().contains("The best one."));
    let show = task.show();
    assert_eq!(show["sections"]["## Plan"], "The shortest one.");
    assert!(show["attention"].as_str().unwrap().contains(kept), "{show}");
    assert_eq!(repaired.len(), 1);
}

#[test]
fn a_reviewer_reads_what_a_person_wrote_into_the_store() {
    let world = World::new();
    let task = idle(&world);
    task.write("## Handoff\n\nDONE: all of it");
    let store = fs::read_to_string(task.file()).unwrap();
    fs::write(task.file(), format!("{store}\n## Feedback\n\nBe brief.\n")).unwrap();
    task.ok("update", &["--status", "agent-review"]);
    task.agent(2).begun();
    let text = fs::read_to_string(task.copy()).unwrap();
    assert!(text.contains("status: agent-review") && text.contains("Be brief."), "{text}");
    assert!(text.contains("review_round: 1"), "{text}");
}
