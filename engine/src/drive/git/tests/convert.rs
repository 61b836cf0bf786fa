//! Files that git converts: every road back gives them the bytes that they had, and none takes them for unchanged that have other ones.
//!
//! `ORANGE_FUZZ_SEED` runs one seed of the attack again, `ORANGE_FUZZ_ROUNDS` says how many to try.

use std::collections::BTreeMap;

use orange_testkit::Random;

use super::*;

/// Number of random worktrees in the attack: they take a few seconds.
const ROUNDS: u64 = 8;

/// The bytes of every file of a worktree.
type WorktreeFiles = BTreeMap<PathBuf, Vec<u8>>;

fn files(top: &Path) -> WorktreeFiles {
    let is_wanted = |path: &Path| !path.ends_with(".git");
    let entries = fs::read_dir(top).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| is_wanted(path)).map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

/// Another task uses the worktree meanwhile.
fn use_by_another(lab: &RepositoryLab) {
    lab.acquire(1, "other").unwrap();
    lab.write(&lab.pooled(1).join("a.txt"), "another's\n");
    lab.run(&lab.pooled(1), &["add", "--all"]);
    lab.release(1);
}

fn fix() -> RepositoryLab {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    lab
}

/// Reclaims the worktree, and restores its work.
fn reclaim(lab: &RepositoryLab) {
    let folder = lab.pooled(1);
    let head = lab.run(&folder, &["rev-parse", "HEAD"]);
    let backup = lab.release(1);
    use_by_another(lab);
    lab.acquire(1, "fix").unwrap();
    if let Some(backup) = backup {
        lab.git.restore_backup(&folder, &head, &backup.commit).unwrap();
    }
}

/// Cancels the task of the worktree, and takes that back.
fn cancel(lab: &RepositoryLab) {
    let folder = lab.pooled(1);
    let backup = lab.release(1);
    lab.kept(|git, context| git.remove(&folder, context)).unwrap();
    lab.acquire(1, "fix").unwrap();
    if let Some(backup) = backup.filter(|backup| lab.git.work_in(&backup.commit).unwrap().1) {
        lab.git.restore_work(&folder, &backup.commit).unwrap();
        // A kill after it has the work restored again.
        lab.git.restore_work(&folder, &backup.commit).unwrap();
    }
}

/// The files come back with their bytes, on every road.
#[track_caller]
fn comes_back(lab: &RepositoryLab) {
    for road in [reclaim, cancel] {
        let before = files(&lab.pooled(1));
        road(lab);
        assert_eq!(files(&lab.pooled(1)), before);
    }
}

fn settings(lab: &RepositoryLab, settings: &[(&str, &str)]) {
    settings.iter().for_each(|(key, value)| drop(lab.run(&lab.repo(), &["config", key, value])));
}

/// Writes attributes of all files that end in `.txt`, and commits them.
fn attributes(lab: &RepositoryLab, words: &str) {
    lab.commit(&lab.pooled(1), ".gitattributes", &format!("*.txt {words}\n"));
}

/// Stages a file, and has git look at it until it takes it for unchanged.
fn stage(lab: &RepositoryLab, name: &str, bytes: &[u8]) {
    let folder = lab.pooled(1);
    fs::write(folder.join(name), bytes).unwrap();
    lab.run(&folder, &["add", "--", name]);
    refresh(lab);
}

fn refresh(lab: &RepositoryLab) {
    lab.git.call_in(&lab.pooled(1)).args(["update-index", "-q", "--refresh"]).run().unwrap();
}

fn blob(lab: &RepositoryLab, revision: &str, file: &str) -> Vec<u8> {
    lab.git.call().args(["cat-file", "blob", &format!("{revision}:{file}")]).run().unwrap().stdout
}

#[test]
fn a_filter_that_drops_bytes_takes_none_from_staged_work() {
    let lab = fix();
    attributes(&lab, "filter=lossy");
    settings(&lab, &[("filter.lossy.clean", "head -c 1")]);
    stage(&lab, "a.txt", b"all of it\n");
    comes_back(&lab);
    let backup = lab.release(1).unwrap();
    assert_eq!(blob(&lab, &backup.commit, "a.txt"), b"all of it\n");
    assert_eq!(lab.git.branch_at("fix-backup-1", &backup.commit).unwrap(), "fix-backup-1");
    lab.run(
        &lab.repo(),
        &["worktree", "add", "--quiet", lab.path("by-hand").to_str().unwrap(), "fix-backup-1"],
    );
    assert_eq!(fs::read(lab.path("by-hand/a.txt")).unwrap(), b"all of it\n");
}

#[test]
fn a_filter_that_drops_bytes_takes_none_from_committed_work() {
    for smudge in ["", "tr a-z A-Z"] {
        let lab = fix();
        attributes(&lab, "filter=lossy");
        settings(&lab, &[("filter.lossy.clean", "tr A-Z a-z"), ("filter.lossy.smudge", smudge)]);
        stage(&lab, "a.txt", b"As It Is\n");
        lab.run(&lab.pooled(1), &["commit", "--quiet", "-m", "work"]);
        refresh(&lab);
        assert_eq!(lab.git.changes(&lab.pooled(1)).unwrap(), []);
        comes_back(&lab);
    }
}

#[test]
fn mixed_line_ends_come_back() {
    for words in ["eol=crlf", "text=auto", "text eol=lf"] {
        let lab = fix();
        attributes(&lab, words);
        stage(&lab, "a.txt", b"one\r\ntwo\nthree\r\n");
        comes_back(&lab);
        lab.run(&lab.pooled(1), &["add", "--all"]);
        lab.run(&lab.pooled(1), &["commit", "--quiet", "-m", "work"]);
        refresh(&lab);
        comes_back(&lab);
    }
}

#[test]
fn line_ends_by_settings_come_back() {
    let lab = fix();
    settings(&lab, &[("core.autocrlf", "true")]);
    stage(&lab, "crlf.txt", b"one\r\ntwo\r\n");
    stage(&lab, "lf.txt", b"one\ntwo\n");
    lab.run(&lab.pooled(1), &["commit", "--quiet", "-m", "work"]);
    stage(&lab, "staged.txt", b"one\r\ntwo\n");
    fs::write(lab.pooled(1).join("new.txt"), b"one\r\ntwo\n").unwrap();
    comes_back(&lab);
}

#[test]
fn keywords_come_back() {
    let lab = fix();
    attributes(&lab, "ident");
    stage(&lab, "a.txt", b"$Id: what somebody has written $\n");
    comes_back(&lab);
    lab.run(&lab.pooled(1), &["add", "--all"]);
    lab.run(&lab.pooled(1), &["commit", "--quiet", "-m", "work"]);
    refresh(&lab);
    comes_back(&lab);
}

#[test]
fn encodings_come_back() {
    let lab = fix();
    attributes(&lab, "working-tree-encoding=UTF-16");
    let little: Vec<u8> = [0xfeff_u16, 0x61, 0xe4, 0x0a].iter().flat_map(|unit| unit.to_le_bytes()).collect();
    stage(&lab, "a.txt", &little);
    comes_back(&lab);
    lab.run(&lab.pooled(1), &["add", "--all"]);
    lab.run(&lab.pooled(1), &["commit", "--quiet", "-m", "work"]);
    refresh(&lab);
    comes_back(&lab);
}

#[test]
fn what_a_checkout_gives_is_no_work() {
    let lab = fix();
    attributes(&lab, "eol=crlf filter=up ident");
    settings(&lab, &[("filter.up.clean", "tr A-Z a-z"), ("filter.up.smudge", "tr a-z A-Z")]);
    lab.commit(&lab.pooled(1), "a.txt", "one\r\n");
    lab.run(&lab.pooled(1), &["push", "--quiet", "origin", "fix"]);
    fs::remove_file(lab.pooled(1).join("a.txt")).unwrap();
    lab.run(&lab.pooled(1), &["checkout", "--", "a.txt"]);
    let before = files(&lab.pooled(1));
    assert_eq!(before[&lab.pooled(1).join("a.txt")], b"ONE\r\n");
    assert_eq!(lab.git.work(&lab.pooled(1)).unwrap().changes, "");
    assert_eq!(lab.release(1), None);
    lab.acquire(1, "fix").unwrap();
    assert_eq!(files(&lab.pooled(1)), before);
}

#[test]
fn bytes_that_git_passes_over_count_as_a_change() {
    let lab = fix();
    attributes(&lab, "text=auto");
    stage(&lab, "a.txt", b"one\n");
    lab.run(&lab.pooled(1), &["commit", "--quiet", "-m", "work"]);
    let before = lab.git.work(&lab.pooled(1)).unwrap();
    fs::write(lab.pooled(1).join("a.txt"), "one\r\n").unwrap();
    lab.run(&lab.pooled(1), &["add", "--all"]);
    assert_eq!(lab.git.changes(&lab.pooled(1)).unwrap(), []);
    assert_ne!(lab.git.work(&lab.pooled(1)).unwrap(), before);
}

#[test]
fn attributes_of_another_branch_leave_nothing_behind() {
    let lab = fix();
    lab.commit(&lab.pooled(1), "old.txt", "one\n");
    lab.run(&lab.pooled(1), &["push", "--quiet", "origin", "fix:main"]);
    lab.run(&lab.repo(), &["fetch", "--quiet"]);
    attributes(&lab, "eol=crlf");
    lab.run(&lab.pooled(1), &["push", "--quiet", "origin", "fix"]);
    fs::remove_file(lab.pooled(1).join("old.txt")).unwrap();
    lab.run(&lab.pooled(1), &["checkout", "--", "old.txt"]);
    let read = || fs::read(lab.pooled(1).join("old.txt")).unwrap();
    for _ in 0..2 {
        assert_eq!(read(), b"one\r\n");
        assert_eq!(lab.release(1), None);
        assert_eq!(read(), b"one\n");
        lab.acquire(1, "fix").unwrap();
    }
}

#[test]
fn a_file_behind_a_filter_is_released_at_once() {
    let lab = fix();
    attributes(&lab, "filter=up");
    settings(&lab, &[("filter.up.clean", "tr A-Z a-z"), ("filter.up.smudge", "tr a-z A-Z")]);
    lab.commit(&lab.pooled(1), "a.txt", "ONE\n");
    lab.run(&lab.pooled(1), &["push", "--quiet", "origin", "fix:main"]);
    lab.run(&lab.repo(), &["fetch", "--quiet"]);
    fs::write(lab.pooled(1).join("a.txt"), "TWO\n").unwrap();
    // What the release checks out is no new work, though git filters it in the instant in which it was written.
    let backup = lab.release(1).unwrap();
    assert_eq!(blob(&lab, &backup.commit, "a.txt"), b"TWO\n");
    assert_eq!(lab.git.backups("T1").unwrap(), [backup]);
    assert_eq!(fs::read(lab.pooled(1).join("a.txt")).unwrap(), b"ONE\n");
}

/// Source of random changes to a worktree.
struct Stir(Random);

impl Stir {
    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.0.below(all.len())]
    }

    fn bytes(&mut self) -> Vec<u8> {
        let parts: [&[u8]; 9] =
            [b"\r", b"\n", b"\r\n", b"\0", b"$Id$", b"$Id: x $", b"Aa ", &[0xff, 0xfe], &[0xc3, 0xa4]];
        let length = self.0.below(8);
        let mut bytes = |_| *self.0.pick(&parts);
        (0..length).map(&mut bytes).collect::<Vec<_>>().concat()
    }

    fn attributes(&mut self) -> String {
        let words = [
            "text",
            "-text",
            "text=auto",
            "eol=crlf",
            "eol=lf",
            "ident",
            "filter=lossy",
            "filter=fold",
            "filter=none",
            "working-tree-encoding=UTF-16",
            "working-tree-encoding=ISO-8859-1",
        ];
        let mut line =
            |_| format!("{} {} {}\n", self.of(&["*", "*.txt", "b*"]), self.of(&words), self.of(&words));
        (0..2).map(&mut line).collect()
    }

    /// Changes a worktree, its settings and git's view of it.
    fn worktree(&mut self, lab: &RepositoryLab) {
        let folder = lab.pooled(1);
        let git = |args: &[&str]| lab.git.call_in(&folder).args(args).run().unwrap();
        for _ in 0..4 + self.0.below(12) {
            let file = self.of(&["a.txt", "b.txt", "b", "c"]);
            match self.0.below(14) {
                0..=4 => fs::write(folder.join(file), self.bytes()).unwrap(),
                5 => fs::write(folder.join(".gitattributes"), self.attributes()).unwrap(),
                6..=7 => drop(git(&["add", "--all"])),
                8..=9 => drop(git(&["commit", "--quiet", "--all", "-m", "work"])),
                10 => drop(git(&["status"])),
                11 => drop(git(&["checkout", "--", file])),
                12 => drop(git(&["rm", "--quiet", "--cached", "--", file])),
                _ => drop(fs::remove_file(folder.join(file))),
            }
            if self.0.below(3) == 0 {
                git(&["update-index", "-q", "--refresh"]);
            }
        }
    }
}

#[test]
fn no_attribute_and_no_state_of_git_takes_a_byte() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("ORANGE_FUZZ_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..1 + number("ORANGE_FUZZ_ROUNDS").unwrap_or(ROUNDS),
    };
    for seed in seeds {
        let mut stir = Stir(Random::new(seed));
        let lab = fix();
        settings(
            &lab,
            &[("filter.lossy.clean", "tr -d A"), ("core.autocrlf", stir.of(&["false", "true", "input"]))],
        );
        settings(&lab, &[("filter.fold.clean", "tr A a"), ("filter.fold.smudge", "tr a A")]);
        for turn in 0..2 {
            stir.worktree(&lab);
            for (name, road) in [("reclaim", reclaim as fn(&RepositoryLab)), ("cancel", cancel)] {
                let before = files(&lab.pooled(1));
                road(&lab);
                let after = files(&lab.pooled(1));
                assert_eq!(after, before, "{name} in turn {turn} with ORANGE_FUZZ_SEED={seed}");
            }
        }
    }
}
