//! Private repositories of agents in walls, and what comes out of them. The mounts are stood in for by variables and links.

use std::os::unix::fs::symlink;

use super::*;
use crate::drive::wall::{Import, ImportRules, PrivateRepository};

const RULES: ImportRules<'static> =
    ImportRules { default_branch: "main", descends_from: None, most_packed: 1 << 20, at_end: false };

/// A task on the branch `task` in the first worktree, and its private repository.
struct WallLab {
    lab: RepositoryLab,
    worktree: PathBuf,
    wall: PathBuf,
}

impl WallLab {
    fn new() -> WallLab {
        WallLab::of(RepositoryLab::new())
    }

    fn of(lab: RepositoryLab) -> WallLab {
        lab.acquire(1, "task").unwrap();
        let (worktree, wall) = (lab.pooled(1), fs::canonicalize(lab.path("")).unwrap().join("T1/wall"));
        let it = WallLab { lab, worktree, wall };
        it.begin();
        it
    }

    /// A repository that is made with these options of `git init`, if this git has them.
    fn with_format(options: &[&str]) -> Option<WallLab> {
        let folder = tempfile::tempdir().unwrap();
        let git = isolated(&folder, &folder.path().join("repo"));
        let lab = RepositoryLab { folder, git };
        fs::create_dir(lab.repo()).unwrap();
        let call = lab.git.call_in(&lab.repo()).args(["init", "--quiet", "--initial-branch=main"]);
        if !call.args(options).run().unwrap().success() {
            return None;
        }
        lab.write(&lab.repo().join(".gitignore"), "ignored\n");
        lab.commit(&lab.repo(), "readme", "first\n");
        Some(WallLab::of(lab))
    }

    fn private(&self) -> PrivateRepository<'_> {
        PrivateRepository { git: &self.lab.git, worktree: &self.worktree, branch: "task", wall: &self.wall }
    }

    /// The work of a wrapper before an agent, and that of the mounts.
    fn begin(&self) {
        self.private().begin(RULES).unwrap();
        let own = self.wall.join("git");
        let objects = self.lab.repo().join(".git/objects");
        fs::write(own.join("objects/info/alternates"), format!("{}\n", objects.display())).unwrap();
        let modules = self.part().join("modules");
        let outside = self.lab.repo().join(".git/worktrees").join(self.part().file_name().unwrap());
        if modules.is_dir() {
            fs::remove_dir(&modules).unwrap();
            symlink(outside.join("modules"), modules).unwrap();
        }
    }

    fn part(&self) -> PathBuf {
        let mut parts = fs::read_dir(self.wall.join("git/worktrees")).unwrap();
        parts.next().unwrap().unwrap().path()
    }

    fn call(&self, args: &[&str]) -> orange_system::exec::ProgramCall {
        let git = self.lab.git.clone().env("GIT_DIR", self.part()).env("GIT_WORK_TREE", &self.worktree);
        git.call_in(&self.worktree).env("GIT_EDITOR", "true").args(args)
    }

    /// The output of the agent's git.
    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        self.call(args).text().unwrap()
    }

    #[track_caller]
    fn commit(&self, file: &str, text: &str) -> String {
        fs::write(self.worktree.join(file), text).unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", file]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn import(&self) -> Result<Import> {
        self.private().import(RULES)
    }

    fn outside(&self) -> String {
        self.lab.commit_of("refs/heads/task")
    }

    /// Imports, and compares what both sides see.
    #[track_caller]
    fn check_same(&self) {
        self.import().unwrap();
        let tip = self.git(&["rev-parse", "refs/heads/task"]);
        assert_eq!(self.outside(), tip);
        assert_eq!(
            self.lab.run(&self.worktree, &["status", "--porcelain"]),
            self.git(&["status", "--porcelain"])
        );
        let fsck = self.lab.git.call_in(&self.lab.repo()).args(["fsck", "--strict", "--connectivity-only"]);
        assert!(fsck.run().unwrap().success());
        assert_eq!(self.import().unwrap(), Import::Nothing);
    }
}

/// Everything that an agent does with git, each followed by an import.
#[track_caller]
fn works(it: &WallLab) {
    it.commit("one", "1\n");
    it.check_same();
    it.commit("two", "2\n");
    it.git(&["commit", "--quiet", "--amend", "-m", "two, again"]);
    it.check_same();
    it.commit("three", "3\n");
    let sequence = "sed -i.bak '2s/^pick/fixup/'";
    it.call(&["rebase", "--quiet", "-i", "HEAD~2"]).env("GIT_SEQUENCE_EDITOR", sequence).text().unwrap();
    it.check_same();
    it.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    it.check_same();
    fs::write(it.worktree.join("one"), "stashed\n").unwrap();
    it.git(&["stash", "--quiet"]);
    it.check_same();
    it.git(&["stash", "pop", "--quiet"]);
    it.git(&["commit", "--quiet", "-am", "popped"]);
    it.git(&["checkout", "--quiet", "-b", "own", "main"]);
    assert!(matches!(it.import(), Ok(Import::Unfinished(why)) if why.contains("`own`")));
    it.commit("own", "own\n");
    it.git(&["checkout", "--quiet", "task"]);
    it.git(&["tag", "-a", "-m", "tag", "v1"]);
    it.git(&["rebase", "--quiet", "own"]);
    it.check_same();
    it.git(&["branch", "--quiet", "-d", "own"]);
    it.git(&["merge", "--quiet", "--no-edit", "main"]);
    it.check_same();
    let refs =
        it.lab.run(&it.lab.repo(), &["for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags"]);
    assert_eq!(refs, "refs/heads/main\nrefs/heads/task");
}

#[test]
fn agents_work_in_each_format() {
    let formats: [&[&str]; 3] = [&[], &["--object-format=sha256"], &["--ref-format=reftable"]];
    for format in formats {
        if let Some(it) = WallLab::with_format(format) {
            works(&it);
        }
    }
}

#[test]
fn agents_work_in_a_sparse_checkout() {
    let lab = RepositoryLab::new();
    for folder in ["in", "out"] {
        fs::create_dir(lab.repo().join(folder)).unwrap();
        lab.commit(&lab.repo(), &format!("{folder}/file"), "text\n");
    }
    lab.run(&lab.repo(), &["push", "--quiet", "origin", "main"]);
    lab.acquire(1, "task").unwrap();
    lab.run(&lab.pooled(1), &["sparse-checkout", "set", "in"]);
    let it = WallLab::of(lab);
    works(&it);
    assert!(!it.worktree.join("out").exists());
    assert_eq!(it.lab.files_in("task"), [".gitignore", "in/file", "one", "out/file", "own", "readme"]);
}

#[test]
fn agents_work_with_filters_and_submodules() {
    let lab = RepositoryLab::new();
    for (verb, from, to) in [("clean", "a-y", "b-z"), ("smudge", "b-z", "a-y")] {
        lab.run(&lab.repo(), &["config", &format!("filter.turn.{verb}"), &format!("tr {from} {to}")]);
    }
    lab.write(&lab.repo().join(".gitattributes"), "*.turn filter=turn\n");
    let inner = RepositoryLab::without_remote();
    let from = inner.repo();
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from.to_str().unwrap(), "sub"];
    lab.run(&lab.repo(), &add);
    lab.commit(&lab.repo(), "file.turn", "abc\n");
    lab.run(&lab.repo(), &["push", "--quiet", "origin", "main"]);
    lab.acquire(1, "task").unwrap();
    lab.run(
        &lab.pooled(1),
        &["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"],
    );
    let it = WallLab::of(lab);
    works(&it);
    let tip = it.commit("other.turn", "abc\n");
    it.check_same();
    assert_eq!(it.lab.text_in(&tip, "other.turn"), "bcd");
    assert_eq!(it.git(&["status", "--porcelain"]), "");
}

#[test]
fn the_next_agent_has_branches_and_stashes_of_the_last_one() {
    let it = WallLab::new();
    it.commit("one", "1\n");
    it.git(&["branch", "own"]);
    fs::write(it.worktree.join("one"), "stashed\n").unwrap();
    it.git(&["stash", "--quiet"]);
    it.lab.commit(&it.lab.repo(), "new", "on main\n");
    let main = it.lab.commit_of("main");
    it.begin();
    assert_eq!(it.git(&["rev-parse", "main"]), main);
    assert_eq!(it.git(&["rev-parse", "own"]), it.outside());
    it.git(&["stash", "pop", "--quiet"]);
    assert_eq!(fs::read_to_string(it.worktree.join("one")).unwrap(), "stashed\n");
    it.git(&["rebase", "--quiet", "--autostash", "main"]);
    it.check_same();
}

#[test]
fn an_agent_goes_on_with_a_rebase_of_the_last_one() {
    let it = WallLab::new();
    let before = it.commit("readme", "ours\n");
    it.import().unwrap();
    it.lab.commit(&it.lab.repo(), "readme", "theirs\n");
    it.begin();
    assert!(!it.call(&["rebase", "main"]).run().unwrap().success());
    let found = it.import().unwrap();
    assert!(matches!(&found, Import::Unfinished(why) if why.contains("a rebase is in progress")));
    assert_eq!(found.finished().unwrap_err().kind, ErrorKind::Refused);
    assert_eq!(it.outside(), before);
    it.begin();
    fs::write(it.worktree.join("readme"), "both\n").unwrap();
    it.git(&["add", "--all"]);
    it.git(&["rebase", "--continue"]);
    it.check_same();
    assert_eq!(it.lab.text_in("task", "readme"), "both");
}

#[test]
fn an_agent_may_rename_its_branch() {
    let it = WallLab::new();
    it.git(&["branch", "-m", "named"]);
    let tip = it.commit("one", "1\n");
    assert_eq!(it.private().checked_out().unwrap().as_deref(), Some("named"));
    assert!(
        matches!(it.import(), Ok(Import::Unfinished(why)) if why.contains("on branch `named`, not on `task`"))
    );
    it.lab.git.rename_branch("task", "named").unwrap();
    let renamed = PrivateRepository { branch: "named", ..it.private() };
    assert_eq!(renamed.import(RULES).unwrap(), Import::Imported(tip.clone()));
    assert_eq!(it.lab.commit_of("named"), tip);
    renamed.begin(RULES).unwrap();
    assert_eq!(renamed.checked_out().unwrap().as_deref(), Some("named"));
}

#[test]
fn a_kill_at_any_part_of_an_import_changes_nothing() {
    let it = WallLab::new();
    for round in 0..2 {
        for parts in 0.. {
            let tip = it.commit("one", &format!("{round} {parts}\n"));
            let left = std::cell::Cell::new(parts);
            let stopped = it.private().import_in_parts(RULES, &|_| match left.replace(left.get() - 1) {
                0 => Err(refused("killed".to_owned())),
                _ => Ok(()),
            });
            if round == 1 {
                // The agent goes on before anything is repeated.
                it.commit("two", &format!("{parts}\n"));
            }
            it.check_same();
            let has = it.lab.git.call_in(&it.lab.repo()).args(["merge-base", "--is-ancestor", &tip, "task"]);
            assert!(has.run().unwrap().success());
            assert!(!it.wall.join("importing").exists() && !it.wall.join("incoming").exists());
            if stopped.is_ok() {
                assert!(parts > 6, "{parts}");
                break;
            }
        }
    }
}

#[test]
fn a_kill_while_the_repository_is_made_again_loses_nothing() {
    let it = WallLab::new();
    it.commit("one", "1\n");
    it.git(&["branch", "own"]);
    fs::rename(it.wall.join("git"), it.wall.join("git.old")).unwrap();
    fs::create_dir(it.wall.join("git.new")).unwrap();
    it.begin();
    assert_eq!(it.git(&["log", "-1", "--format=%s", "own"]), "one");
}

/// Breaks a private repository whose branch has this tip.
type Break = fn(&WallLab, &str);

#[test]
fn a_broken_repository_takes_nothing_with_it() {
    let breaks: [(&str, Break); 5] = [
        ("no objects", |it, _| fs::remove_dir_all(it.wall.join("git/objects")).unwrap()),
        ("another byte", |it, tip| {
            let (folder, file) = tip.split_at(2);
            let path = it.wall.join("git/objects").join(folder).join(file);
            fs::remove_file(&path).unwrap();
            fs::write(path, "no object").unwrap();
        }),
        ("no tree", |it, _| {
            let tree = it.git(&["rev-parse", "task^{tree}"]);
            let (folder, file) = tree.split_at(2);
            fs::remove_file(it.wall.join("git/objects").join(folder).join(file)).unwrap();
        }),
        ("a link", |it, tip| {
            let path = it.wall.join("git/refs/heads/task");
            fs::remove_file(&path).unwrap();
            let secret = it.lab.path("secret");
            fs::write(&secret, tip).unwrap();
            symlink(secret, path).unwrap();
        }),
        ("no head", |it, _| fs::remove_file(it.part().join("HEAD")).unwrap()),
    ];
    for (what, break_it) in breaks {
        let it = WallLab::new();
        let before = it.outside();
        let tip = it.commit("one", "1\n");
        break_it(&it, &tip);
        let failed = it.import().unwrap_err();
        assert_eq!(failed.kind, ErrorKind::Corrupt, "{what}: {failed:?}");
        assert!(!failed.help.is_empty(), "{what}");
        assert_eq!(it.outside(), before, "{what}");
        assert_eq!(fs::read_to_string(it.worktree.join("one")).unwrap(), "1\n");
        assert!(!it.lab.git.has_commit(&tip).unwrap(), "{what}");
        let fsck = it.lab.git.call_in(&it.lab.repo()).args(["fsck", "--strict"]).run().unwrap();
        assert!(fsck.success(), "{what}");
    }
}

#[test]
fn some_tips_stay_inside() {
    let it = WallLab::new();
    let before = it.outside();
    let refuses = |rules, expect: &str| {
        let failed = it.private().import(rules).unwrap_err();
        assert_eq!(failed.kind, ErrorKind::Refused);
        assert!(failed.message.contains(expect), "{}", failed.message);
        assert_eq!(it.outside(), before);
    };
    let blob = it.git(&["rev-parse", "HEAD:readme"]);
    fs::write(it.wall.join("git/refs/heads/task"), format!("{blob}\n")).unwrap();
    refuses(RULES, "is a blob, not a commit");
    fs::remove_file(it.wall.join("git/refs/heads/task")).unwrap();

    it.git(&["checkout", "--quiet", "--orphan", "new"]);
    it.commit("one", "1\n");
    it.git(&["branch", "--quiet", "-f", "task"]);
    it.git(&["checkout", "--quiet", "task"]);
    refuses(ImportRules { descends_from: Some(&before), ..RULES }, "forbids to rewrite it");
    it.git(&["reset", "--quiet", "--hard", &before]);

    let nested = it.worktree.join("nested");
    fs::create_dir(&nested).unwrap();
    it.lab.run(&nested, &["init", "--quiet"]);
    it.lab.commit(&nested, "file", "text\n");
    it.commit("two", "2\n");
    refuses(RULES, "`nested` on `task` is a repository of its own");
    it.git(&["rm", "--quiet", "--cached", "nested"]);
    fs::remove_dir_all(&nested).unwrap();
    it.git(&["commit", "--quiet", "--amend", "-m", "two"]);
    it.check_same();
}

#[test]
fn a_pack_that_is_too_large_stays_inside() {
    let it = WallLab::new();
    let before = it.outside();
    let noise: String =
        (0_u64..400_000).map(|it| format!("{:x}", it.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let tip = it.commit("large", &noise);
    for most_packed in [0, 1 << 10, 1 << 20] {
        let failed = it.private().import(ImportRules { most_packed, ..RULES }).unwrap_err();
        assert_eq!(failed.kind, ErrorKind::Refused);
        assert!(
            failed.message.contains("of the agent have more than") && failed.help.contains("rebase"),
            "{failed}"
        );
        assert_eq!(it.outside(), before);
        assert!(!it.lab.git.has_commit(&tip).unwrap());
        assert!(!it.wall.join("incoming").exists() && !it.wall.join("importing").exists());
    }
    // The agent takes the file out of its commit.
    it.git(&["rm", "--quiet", "--cached", "large"]);
    it.git(&["commit", "--quiet", "--amend", "--allow-empty", "-m", "small"]);
    fs::remove_file(it.worktree.join("large")).unwrap();
    it.check_same();
}

#[test]
fn a_branch_that_moved_on_both_sides_is_left_alone() {
    let it = WallLab::new();
    it.lab.run(&it.worktree, &["commit", "--quiet", "--allow-empty", "-m", "by a person"]);
    let outside = it.outside();
    assert_eq!(it.import().unwrap(), Import::Nothing);
    let tip = it.commit("one", "1\n");
    let failed = it.import().unwrap_err();
    assert!(failed.help.contains(&tip), "{failed:?}");
    assert_eq!(it.outside(), outside);
    // The help names a command that works.
    it.lab.run(&it.worktree, &["clean", "--quiet", "-f"]);
    it.lab.run(&it.worktree, &["merge", "--quiet", "--no-edit", &tip]);
    assert_eq!(it.import().unwrap(), Import::Nothing);
    it.begin();
    assert_eq!(it.git(&["rev-parse", "HEAD"]), it.outside());
    it.commit("two", "2\n");
    it.check_same();
}

#[test]
fn nothing_of_the_private_repository_is_executed() {
    let it = WallLab::new();
    let marker = it.lab.path("executed");
    let evil = it.lab.path("evil");
    fs::write(&evil, format!("#!/bin/sh\ntouch '{}'\ncat\n", marker.display())).unwrap();
    fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let tip = it.commit("one", "1\n");
    let own = it.wall.join("git");
    let shown = evil.display();
    let config = format!(
        "[core]\nfsmonitor = {shown}\nhooksPath = {}\nsshCommand = {shown}\npager = {shown}\n[filter \"x\"]\nclean = {shown}\n\
         required = true\n[diff]\nexternal = {shown}\n[uploadpack]\npackObjectsHook = {shown}\n",
        own.join("hooks").display()
    );
    for place in [own.join("config"), it.part().join("config.worktree")] {
        fs::write(place, &config).unwrap();
    }
    fs::write(own.join("info/attributes"), "* filter=x diff=x\n").unwrap();
    for hook in ["reference-transaction", "post-index-change", "pre-commit", "post-update", "update"] {
        fs::copy(&evil, own.join("hooks").join(hook)).unwrap();
    }
    // Objects of others are not taken over by an alternate.
    let other = RepositoryLab::without_remote();
    let foreign = other.commit(&other.repo(), "foreign", "text\n");
    fs::write(
        own.join("objects/info/alternates"),
        format!("{}\n", other.repo().join(".git/objects").display()),
    )
    .unwrap();
    assert_eq!(it.import().unwrap(), Import::Imported(tip.clone()));
    assert!(!marker.exists());
    fs::write(own.join("refs/heads/task"), format!("{foreign}\n")).unwrap();
    assert_eq!(it.import().unwrap_err().kind, ErrorKind::Corrupt);
    assert_eq!(it.outside(), tip);
    fs::write(own.join("refs/heads/task"), format!("{tip}\n")).unwrap();
    it.begin();
    assert!(!marker.exists());
    it.commit("two", "2\n");
    assert!(!marker.exists());
    it.check_same();
}

#[test]
fn large_files_come_out_by_their_bytes() {
    let mut lab = RepositoryLab::new();
    let tools = lab.path("tools");
    fs::create_dir(&tools).unwrap();
    let taken = lab.path("taken");
    let lfs = format!(
        "#!/bin/sh\n[ \"$1\" = clean ] || exit 1\nbytes=$(cat)\nprintf %s \"$bytes\" >> '{}'\n\
         printf 'oid sha256:%s\\n' \"$(printf %s \"$bytes\" | sha256sum | cut -d ' ' -f 1)\"\n",
        taken.display()
    );
    orange_testkit::write_program(&tools.join("git-lfs"), &lfs);
    let path = std::env::join_paths(
        [tools].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    lab.git = lab.git.env("PATH", path);
    let it = WallLab::of(lab);
    it.commit("one", "1\n");
    let folder = it.wall.join("git/lfs/objects/aa/bb");
    fs::create_dir_all(&folder).unwrap();
    let large = "d35c416a85b807e9b5384915d6ebb4a9f7352713efd89857b45a242f473728a9";
    fs::write(folder.join(large), "large").unwrap();
    fs::write(folder.join("odd"), "odd").unwrap();
    fs::write(it.wall.join("git/lfs/objects/odd"), "odd").unwrap();
    fs::write(it.lab.path("secret"), "secret").unwrap();
    let known = it.lab.repo().join(".git/lfs/objects/aa/bb");
    fs::create_dir_all(&known).unwrap();
    fs::write(known.join("c".repeat(64)), "").unwrap();
    fs::write(folder.join("c".repeat(64)), "another").unwrap();
    // Those that cannot be taken over are named, and the branch waits for them.
    let (before, wrong) = (it.outside(), folder.join("b".repeat(64)));
    let refuses = |expect: &str| {
        let failed = it.import().unwrap_err();
        assert_eq!(failed.kind, ErrorKind::Refused);
        let name = wrong.display().to_string();
        assert!(failed.message.contains(&name) && failed.message.contains(expect), "{failed:?}");
        assert!(failed.help.contains("add the file again"), "{failed:?}");
        assert_eq!(it.outside(), before);
        assert!(!fs::read_to_string(&taken).unwrap_or_default().contains("secret"));
    };
    symlink(it.lab.path("secret"), &wrong).unwrap();
    refuses("cannot be opened");
    fs::remove_file(&wrong).unwrap();
    fs::create_dir(&wrong).unwrap();
    refuses("cannot be opened");
    fs::remove_dir(&wrong).unwrap();
    fs::write(&wrong, "other bytes").unwrap();
    refuses("has the bytes of");
    fs::remove_file(&wrong).unwrap();
    symlink(it.lab.path("secret"), it.wall.join("git/lfs/objects/cc")).unwrap();
    assert!(it.import().unwrap_err().message.contains("cannot be opened"));
    fs::remove_file(it.wall.join("git/lfs/objects/cc")).unwrap();
    fs::write(&taken, "").unwrap();
    it.check_same();
    assert_eq!(fs::read_to_string(taken).unwrap(), "large");
}
