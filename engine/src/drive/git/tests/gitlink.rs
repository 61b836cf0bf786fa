//! Repositories inside a worktree that its branch names, and worktrees on other branches.

use super::*;

/// A lab whose worktree 1 is on `fix` and has committed a scaffold with a repository of its own.
fn with_scaffold() -> RepositoryLab {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let nested = lab.pooled(1).join("front end");
    fs::create_dir(&nested).unwrap();
    lab.run(&nested, &["init", "--quiet"]);
    lab.commit(&nested, "page", "one\n");
    lab.run(&lab.pooled(1), &["-c", "advice.addEmbeddedRepo=false", "add", "--all"]);
    lab.run(&lab.pooled(1), &["commit", "--quiet", "-m", "scaffold"]);
    lab
}

fn checked(lab: &RepositoryLab) -> Result<()> {
    lab.git.check_no_gitlink(&lab.commit_of("fix"), "fix", "main")
}

#[test]
fn a_repository_without_its_files_is_refused() {
    let lab = with_scaffold();
    assert!(may_have_repository(&lab.pooled(1)));
    let error = checked(&lab).unwrap_err();
    assert!(error.message.contains("`front end`"), "{error:?}");
    let planned = lab.git.plan_merge("fix", "main", Strategy::FastForward, Some(&lab.pooled(1)));
    assert_eq!(planned.unwrap_err().error.message, error.message);
    assert_eq!(lab.git.check_has_work("fix", "main").unwrap_err().message, error.message);
    for worktree in [Some(lab.pooled(1)), None] {
        let found = lab.git.mergeable("fix", "main", worktree.as_deref(), None, None).unwrap();
        let Mergeable::No { error: found, is_conflict: false } = found else { panic!("{found:?}") };
        assert_eq!(found.message, error.message);
    }
    // The help can be pasted.
    let help = &error.help;
    let script = help.split('`').nth(1).unwrap();
    let mended = ProgramCall::new("sh").args(["-c", script]).folder(&lab.pooled(1)).run().unwrap();
    assert!(mended.success(), "{script}: {}", mended.complaint());
    lab.run(&lab.pooled(1), &["commit", "--quiet", "-m", "its files"]);
    checked(&lab).unwrap();
    let found = lab.git.mergeable("fix", "main", Some(&lab.pooled(1)), None, None).unwrap();
    assert!(matches!(found, Mergeable::FastForward), "{found:?}");
    assert!(lab.files_in("fix").contains(&"front end/page".to_owned()));
}

#[test]
fn declared_and_older_repositories_pass() {
    let lab = with_scaffold();
    let declared = "[submodule \"x\"]\n\tpath = front end\n\turl = ../x\n";
    lab.commit(&lab.pooled(1), ".gitmodules", declared);
    checked(&lab).unwrap();
    lab.run(&lab.pooled(1), &["rm", "--quiet", "--cached", ".gitmodules"]);
    lab.run(&lab.pooled(1), &["commit", "--quiet", "-m", "undeclared"]);
    checked(&lab).unwrap_err();
    lab.run(&lab.repo(), &["push", "--quiet", "origin", "fix:main"]);
    lab.run(&lab.repo(), &["fetch", "--quiet"]);
    checked(&lab).unwrap();
}

#[test]
fn a_worktree_on_another_branch_is_refused() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    lab.git.check_on_branch(&folder, "fix").unwrap();
    lab.run(&folder, &["switch", "--quiet", "--create", "elsewhere"]);
    let error = lab.git.check_on_branch(&folder, "fix").unwrap_err();
    assert!(error.message.contains("branch `elsewhere`, not on `fix`"), "{error:?}");
    lab.run(&folder, &["switch", "--quiet", "--detach"]);
    assert!(lab.git.check_on_branch(&folder, "fix").unwrap_err().message.contains("no branch"));
}

#[test]
fn changes_in_a_submodule_are_seen_without_its_filters() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    let origin = lab.path("origin.git");
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin.to_str().unwrap(), "sub"];
    lab.run(&folder, &add);
    lab.run(&folder, &["commit", "--quiet", "-m", "a submodule"]);
    assert_eq!(lab.git.changes(&folder).unwrap(), []);
    let ran = lab.path("ran");
    lab.run(&folder.join("sub"), &["config", "filter.x.clean", &format!("touch {}; cat", ran.display())]);
    lab.write(&folder.join("sub/.gitattributes"), "* filter=x\n");
    lab.write(&folder.join("sub/readme"), "changed\n");
    let changes = lab.git.changes(&folder).unwrap();
    assert_eq!(changes.iter().map(|change| change.path.to_str()).collect::<Vec<_>>(), [Some("sub")]);
    assert!(!ran.exists());
}
