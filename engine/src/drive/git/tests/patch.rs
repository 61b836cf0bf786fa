//! The hash of a patch: it belongs to the changes, and not to the commits that they are made of or stand on.

use super::*;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n";

struct PatchLab {
    lab: RepositoryLab,
    before: String,
}

impl PatchLab {
    /// A branch that changes line 2 of a text on the default branch, and has a binary file.
    fn new() -> PatchLab {
        let lab = RepositoryLab::without_remote();
        lab.commit(&lab.repo(), "text", LINES);
        lab.run(&lab.repo(), &["switch", "--quiet", "--create", "fix"]);
        lab.commit(&lab.repo(), "text", &LINES.replace("2\n3", "two\n3"));
        let mut it = PatchLab { lab, before: String::new() };
        it.write("binary", "a\0b");
        it.before = it.hash();
        it
    }

    fn write(&self, file: &str, text: &str) {
        self.lab.commit(&self.lab.repo(), file, text);
    }

    /// Changes the default branch, and lets the branch take that in.
    fn sync(&self, text: &str, how: &[&str]) {
        let lab = &self.lab;
        lab.run(&lab.repo(), &["switch", "--quiet", "main"]);
        self.write("text", text);
        lab.run(&lab.repo(), &["switch", "--quiet", "fix"]);
        lab.run(&lab.repo(), how);
    }

    fn hash(&self) -> String {
        let tip = self.lab.commit_of("fix");
        self.lab.git.compare_commit(&tip, "main", None).unwrap().patch_hash().unwrap()
    }

    #[track_caller]
    fn check_is_same(&self, expect: bool) {
        assert_eq!(self.hash() == self.before, expect);
    }
}

#[test]
fn a_clean_sync_keeps_the_hash_of_a_patch() {
    for how in [&["merge", "--quiet", "--no-edit", "main"][..], &["rebase", "--quiet", "main"]] {
        let lab = PatchLab::new();
        lab.sync(&LINES.replace("15\n", "15\nmore\n").replace("16\n", "sixteen\n"), how);
        lab.check_is_same(true);
        // Lines above move those of the patch.
        lab.sync(&format!("0\n0\n0\n0\n0\n{LINES}"), &["status"]);
        lab.check_is_same(true);
    }
}

#[test]
fn commits_that_are_joined_keep_the_hash_of_a_patch() {
    let lab = PatchLab::new();
    lab.lab.run(&lab.lab.repo(), &["reset", "--quiet", "--soft", "main"]);
    lab.lab.run(&lab.lab.repo(), &["commit", "--quiet", "-m", "joined"]);
    lab.check_is_same(true);
}

#[test]
fn other_changes_have_another_hash() {
    let own = LINES.replace("2\n3", "two\n3");
    for (file, text) in
        [("new", "x\n"), ("text", &*own.replace('9', " 9")), ("binary", "a\0c"), ("text", LINES)]
    {
        let lab = PatchLab::new();
        lab.write(file, text);
        lab.check_is_same(false);
    }
}

#[test]
fn a_change_of_the_base_beside_a_patch_changes_its_hash() {
    let lab = PatchLab::new();
    lab.sync(&LINES.replace("5\n", "five\n"), &["merge", "--quiet", "--no-edit", "main"]);
    lab.check_is_same(false);
}

#[test]
fn commits_since_an_earlier_one_are_counted() {
    let lab = PatchLab::new();
    let (git, tip) = (&lab.lab.git, lab.lab.commit_of("fix"));
    lab.write("more", "x\n");
    lab.write("more", "y\n");
    let now = lab.lab.commit_of("fix");
    assert_eq!(git.commits_since(&tip, &now).unwrap(), Some(2));
    assert_eq!(git.commits_since(&now, &tip).unwrap(), None);
    assert_eq!(git.commits_since(&"1".repeat(40), &tip).unwrap(), None);
}
