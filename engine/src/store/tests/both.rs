//! Both copies of a `TASK.md` are edited at random, and the engine is killed at random: no line is lost.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use orange_testkit::Random;

use crate::store::tests::TestProcess;
use crate::store::tests::editors::in_a_worktree;
use crate::store::tests::processes::only_task;
use crate::store::{LockedWorkItem, WorkItem, WorkItemDir};

const ROUNDS: u32 = 40;

/// Lines that people have written, without those that people have removed.
#[derive(Default)]
struct WrittenLines(BTreeSet<String>);

impl WrittenLines {
    /// Changes a file as one of several editors does.
    fn edit(&mut self, path: &Path, who: &str, random: &mut Random) {
        let text = fs::read_to_string(path).unwrap();
        let head = text.find("\n---\n").unwrap() + 5;
        let mut lines: Vec<String> = text[head..].lines().map(str::to_owned).collect();
        let new = format!("by {who} {}", random.below(1 << 30));
        let place = random.below(lines.len() + 1);
        match random.below(8) {
            0 => lines.push(new.clone()),
            1 | 2 => lines.insert(place, new.clone()),
            _ if place < lines.len() => {
                self.0.remove(&lines[place]);
                lines[place].clone_from(&new);
            }
            _ => lines.push(new.clone()),
        }
        self.0.insert(new);
        let text = format!("{}{}\n", &text[..head], lines.join("\n"));
        if random.below(2) == 0 {
            fs::write(path, text).unwrap();
        } else {
            let new = path.with_extension("new");
            fs::write(&new, text).unwrap();
            fs::rename(new, path).unwrap();
        }
    }

    /// Every line is in the task's text, or in a file that the journal names.
    fn check(&self, dir: &WorkItemDir, body: &str, seed: u64) {
        let journal = fs::read_to_string(dir.history()).unwrap();
        let kept = fs::read_dir(dir.kept()).into_iter().flatten().map(|entry| entry.unwrap().path());
        let named = kept.filter(|path| journal.contains(path.to_str().unwrap()));
        let kept: Vec<String> = named.map(|path| fs::read_to_string(path).unwrap()).collect();
        for line in &self.0 {
            let is_in = |text: &str| text.lines().any(|found| found == line);
            assert!(
                is_in(body) || kept.iter().any(|text| is_in(text)),
                "`{line}` is lost, seed {seed}:\n{body}"
            );
        }
    }
}

#[test]
fn no_line_of_either_side_is_lost_by_a_kill() {
    let seed = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().subsec_nanos().into();
    let mut random = Random::new(seed);
    let (_folder, home, copy) = in_a_worktree();
    let dir = only_task(&home);
    let mut written = WrittenLines::default();
    for _ in 0..ROUNDS {
        for _ in 0..random.below(3) {
            written.edit(&dir.task_md(), "a person", &mut random);
        }
        for _ in 0..random.below(3) {
            // A kill may have come before the first text was there.
            if copy.exists() {
                written.edit(&copy, "an agent", &mut random);
            }
        }
        // A reader stores nothing: the lines that a merge is going to replace are still in the store.
        let read = WorkItem::read(&home, &dir).unwrap().0.body + &fs::read_to_string(dir.task_md()).unwrap();
        written.check(&dir, &read, seed);
        let mut engine = TestProcess::start("append", &home);
        if random.below(4) == 0 {
            engine.wait_for("1");
        }
        std::thread::sleep(Duration::from_micros(random.below(60_000).try_into().unwrap()));
        engine.kill();
    }
    let locked = LockedWorkItem::lock(&home, &dir).unwrap();
    written.check(&dir, &locked.task().body, seed);
    drop(locked);
    // A copy that differs only in the time of the last change is not written again.
    let without_time = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        text.lines().filter(|line| !line.starts_with("updated_at: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without_time(&copy), without_time(&dir.task_md()));
}
