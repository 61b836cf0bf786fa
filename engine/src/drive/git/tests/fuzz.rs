//! Whatever users and agents do between our commands, what was in a worktree when one ran can be brought back.
//!
//! `ORANGE_FUZZ_SEED` runs one seed again, `ORANGE_FUZZ_ROUNDS` says how many to try.

use std::collections::{BTreeMap, BTreeSet};

use orange_testkit::Random;

use super::*;

/// As many as take a few seconds.
const ROUNDS: u64 = 6;
const STEPS: usize = 40;

/// The blob of an empty file.
const NOTHING: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

#[test]
fn nothing_that_was_there_is_ever_lost() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("ORANGE_FUZZ_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..1 + number("ORANGE_FUZZ_ROUNDS").unwrap_or(ROUNDS),
    };
    for seed in seeds {
        PoolLife::new(seed).live();
    }
}

/// A repository with a pool of two, and everything that must never be lost of it.
struct PoolLife {
    lab: RepositoryLab,
    seed: u64,
    random: Random,
    count: u32,
    done: Vec<String>,
    /// The blobs that were in a worktree when it was given back, and what they were.
    secured: BTreeMap<String, String>,
}

impl PoolLife {
    fn new(seed: u64) -> PoolLife {
        let lab = RepositoryLab::new();
        let life = PoolLife {
            lab,
            seed,
            random: Random::new(seed),
            count: 0,
            done: Vec::new(),
            secured: BTreeMap::new(),
        };
        let repo = life.lab.repo();
        life.lab.write(&repo.join(".gitignore"), "*.tmp\n");
        life.lab.write(&repo.join(".gitattributes"), "*.txt text=auto\n");
        life.lab.commit(&repo, "b.txt", "base\n");
        life.lab.run(&repo, &["push", "--quiet", "origin", "main"]);
        life
    }

    fn live(mut self) {
        for (n, branch) in [(1, "fix"), (2, "other")] {
            self.lab.acquire(n, branch).unwrap();
        }
        for _ in 0..STEPS {
            let n = self.random.below(2) as u32 + 1;
            if self.random.below(4) == 0 { self.command(n) } else { self.action(n) }
        }
        for n in [1, 2] {
            self.give_back(n, |git, folder, context| git.release(folder, context));
        }
    }

    fn command(&mut self, n: u32) {
        match self.random.below(8) {
            0..=2 => {
                let branch = self.branch();
                let folder = self.lab.pooled(n);
                let before = self.visible(&folder);
                let outcome = self.lab.acquire(n, &branch).map(|_| ());
                self.tell(&format!("acquire {n} {branch}: {}", said(&outcome)));
                let now = self.visible(&folder);
                let now_known = self.reachable("--all");
                for (blob, what) in before {
                    let kept = now.contains_key(&blob) || now_known.contains(&blob);
                    assert!(kept, "acquire lost {what} ({blob})\n{}", self.story());
                }
            }
            3..=4 => self.give_back(n, |git, folder, context| git.release(folder, context)),
            5 => self.give_back(n, |git, folder, context| git.remove(folder, context)),
            6 => {
                let branch = self.branch();
                let folder = self.lab.pooled(n);
                let before = self.visible(&folder);
                let plan = self.lab.git.plan_merge(&branch, "main", Strategy::Merge, Some(&folder));
                let merged =
                    plan.map_err(|flaw| flaw.error).and_then(|plan| self.lab.git.merge(&plan, "main"));
                self.tell(&format!("merge {branch} {n}: {}", said(&merged)));
                assert_eq!(before, self.visible(&folder), "merging changed the worktree\n{}", self.story());
            }
            _ => {
                let backups = self.lab.git.backups("T1").unwrap();
                if let Some(backup) = backups.last() {
                    let name = self.lab.git.branch_at("restored", &backup.commit).unwrap();
                    self.tell(&format!("restore {name}"));
                    assert_eq!(self.lab.commit_of(&name), backup.commit);
                }
            }
        }
        self.check();
    }

    fn give_back(&mut self, n: u32, act: fn(&Git, &Path, &mut BackupContext<'_>) -> Result<()>) {
        let folder = self.lab.pooled(n);
        let seen = self.visible(&folder);
        self.secured.extend(seen);
        let outcome = self.lab.kept(|git, context| act(git, &folder, context));
        self.tell(&format!("give back {n}: {}", said(&outcome.as_ref().map(|_| ()).map_err(Clone::clone))));
        match outcome {
            Ok(_) if folder.join(".git").exists() => {
                let changes = self.lab.git.changes(&folder).unwrap();
                assert_eq!(changes, [], "it is not clean\n{}", self.story());
                assert_eq!(self.lab.git.current_branch(&folder).unwrap(), None);
            }
            Ok(_) => {}
            Err(error) => panic!("it cannot be given back: {error}\n{}", self.story()),
        }
        self.check();
    }

    /// Something that an agent or a user does; whether it works is git's to say.
    fn action(&mut self, n: u32) {
        let folder = self.lab.pooled(n);
        if !folder.join(".git").exists() {
            return;
        }
        let (file, other, branch) = (self.file(), self.file(), self.branch());
        let inner = format!("inner{}", self.random.below(2));
        match self.random.below(36) {
            0..=5 => self.edit(&folder, &file),
            6..=7 => self.git(&folder, &["add", "--", &file]),
            8 => self.git(&folder, &["add", "--all"]),
            9..=10 => self.git(&folder, &["commit", "--quiet", "--all", "-m", "work"]),
            11 => self.git(&folder, &["commit", "--quiet", "--amend", "--all", "-m", "again"]),
            12 => self.git(&folder, &["reset", "--quiet", "--soft", "HEAD~1"]),
            13 => self.git(&folder, &["reset", "--quiet", "--mixed", "HEAD~1"]),
            14 => self.git(&folder, &["reset", "--quiet", "--hard", "HEAD~1"]),
            15 => self.git(&folder, &["checkout", "--quiet", "--detach"]),
            16 => self.git(&folder, &["checkout", "--quiet", &branch]),
            17 => self.git(&folder, &["checkout", "--quiet", "-b", &branch]),
            18 => self.git(&folder, &["rebase", "--quiet", "--autostash", &branch]),
            19 => self.git(&folder, &["stash", "push", "--quiet", "--include-untracked"]),
            20 => self.git(&folder, &["stash", "pop", "--quiet"]),
            21 => self.git(&folder, &["branch", "-m", &branch]),
            22 => self.git(&folder, &["branch", "-D", &branch]),
            23 => self.git(&folder, &["clean", "--quiet", "--force", "-d"]),
            24 => self.git(&folder, &["rm", "--quiet", "--cached", "--", &other]),
            25 => self.git(&folder, &["merge", "--quiet", "--autostash", &branch]),
            26 => self.git(&folder, &["cherry-pick", &branch]),
            27 => self.git(&folder, &["tag", &format!("t{}", self.count)]),
            28 => {
                self.git(&folder, &["worktree", "add", "--quiet", "--detach", &inner]);
                self.edit(&folder.join(&inner), &file);
            }
            29 => {
                self.git(&folder, &["init", "--quiet", &inner]);
                self.edit(&folder.join(&inner), &file);
                self.git(&folder.join(&inner), &["add", "--all"]);
                self.git(&folder.join(&inner), &["commit", "--quiet", "-m", "inner"]);
            }
            30 => self.git(&folder, &["update-index", "--assume-unchanged", "--", &file]),
            31 => {
                let mode = ["--cone", "--no-cone"][self.random.below(2)];
                self.git(&folder, &["sparse-checkout", "set", mode, "dir"]);
            }
            32 => self.git(&folder, &["add", "--sparse", "--intent-to-add", "--", &file]),
            33 => self.git(&folder, &["add", "--sparse", "--", &file]),
            34 => self.git(&folder, &["cherry-pick", "--no-commit", &format!("{branch}~1"), &branch]),
            _ => match self.random.below(4) {
                0 => self.edit(&folder, ".gitignore"),
                1 => {
                    self.tell(&format!("rm -r {n}"));
                    fs::remove_dir_all(&folder).unwrap();
                }
                2 => {
                    let origin = self.lab.path("origin.git");
                    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"];
                    self.git(&folder, &[&add[..], &["--force", origin.to_str().unwrap(), "module"]].concat());
                    self.edit(&folder.join("module"), &file);
                }
                _ => self.git(&folder, &["update-index", "--skip-worktree", "--", &file]),
            },
        }
    }

    fn edit(&mut self, folder: &Path, file: &str) {
        self.count += 1;
        let path = folder.join(file);
        let text = match self.random.below(5) {
            0 => return fs::remove_file(&path).unwrap_or_default(),
            1 => format!("{:06}\r\n", self.count),
            2 => format!("{:06}\0", self.count),
            _ => format!("{:06}\n", self.count),
        };
        self.tell(&format!("write {} {text:?}", path.display()));
        if path.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok()) {
            // There may be a folder of this name by now.
            fs::write(path, text).unwrap_or_default();
        }
    }

    fn git(&mut self, folder: &Path, args: &[&str]) {
        let call = self.lab.git.call_in(folder).env("GIT_EDITOR", "true");
        let outcome = call.args(args).run().map(|output| output.success());
        self.tell(&format!("{}: git {args:?}: {outcome:?}", folder.display()));
    }

    fn tell(&mut self, what: &str) {
        self.done.push(what.to_owned());
    }

    fn story(&self) -> String {
        format!("with ORANGE_FUZZ_SEED={}:\n  {}", self.seed, self.done.join("\n  "))
    }

    /// Every blob that git or the files have in a worktree: files that are not ignored, the index, what its commit
    /// stands on; the same of repositories inside it.
    fn visible(&self, folder: &Path) -> BTreeMap<String, String> {
        let mut blobs = BTreeMap::new();
        if !folder.join(".git").exists() {
            return blobs;
        }
        let staged = self.lab.run(folder, &["ls-files", "-z", "--stage"]);
        // What is only intended to be added stands there as an empty file.
        let is_staged = |line: &&str| line.starts_with("100") && !line.contains(NOTHING);
        for line in staged.split('\0').filter(is_staged) {
            let blob = line.split(' ').nth(1).unwrap();
            blobs.insert(blob.to_owned(), format!("staged in {}: {line}", folder.display()));
        }
        let listed = self.lab.run(folder, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        for file in listed.split('\0').filter(|file| !file.is_empty() && *file != TASK_FILE) {
            let path = folder.join(file);
            if path.is_file() && !path.is_symlink() {
                // What differs in line endings only, git takes for the same.
                let as_git_has_it = self.lab.run(folder, &["hash-object", "--", file]);
                if !blobs.contains_key(&as_git_has_it) {
                    let blob = self.lab.run(folder, &["hash-object", "--no-filters", "--", file]);
                    blobs.insert(blob, format!("{}", path.display()));
                }
            } else if path.join(".git").exists() {
                blobs.extend(self.visible(&path));
            }
        }
        let known = self.lab.git.call_in(folder).args(["rev-list", "--objects", "HEAD"]).run().unwrap();
        for line in known.text().lines().filter(|line| line.contains(' ')) {
            let (object, name) = line.split_once(' ').unwrap();
            blobs
                .entry(object.to_owned())
                .or_insert_with(|| format!("committed in {}: {name}", folder.display()));
        }
        blobs
    }

    fn reachable(&self, from: &str) -> BTreeSet<String> {
        let args = ["rev-list", "--objects", "--remotes", "main", from];
        let listed = self.lab.run(&self.lab.repo(), &args);
        listed.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    }

    /// Everything that was secured is under a backup, on a remote, on the default branch, or set aside.
    fn check(&self) {
        let known = self.reachable("--glob=refs/orange/backup/*");
        let mut aside = BTreeMap::new();
        for folder in fs::read_dir(self.lab.path("aside")).into_iter().flatten().flatten() {
            for repository in fs::read_dir(folder.path()).unwrap().flatten() {
                aside.extend(self.visible(&repository.path()));
            }
        }
        for (blob, what) in &self.secured {
            let kept = known.contains(blob) || aside.contains_key(blob);
            assert!(kept, "lost {what} ({blob})\n{}", self.story());
        }
    }

    fn file(&mut self) -> String {
        let names = ["a", "b.txt", "readme", "dir/c.txt", "dir/ü\n", "-d", "dir", "x.tmp", "e.txt"];
        names[self.random.below(names.len())].to_owned()
    }

    fn branch(&mut self) -> String {
        ["main", "fix", "feature/x", "other", "HEAD~1"][self.random.below(4)].to_owned()
    }
}

fn said(outcome: &Result<()>) -> String {
    outcome.as_ref().map_or_else(|error| error.one_line(), |()| "done".to_owned())
}
