//! The template of a repository's pull requests is where GitHub finds it.

use super::*;

#[track_caller]
fn check(files: &[&str], expect: Option<(&str, usize)>) {
    let lab = RepositoryLab::new();
    for file in files {
        fs::create_dir_all(lab.repo().join(file).parent().unwrap()).unwrap();
        lab.commit(&lab.repo(), file, &format!("This is {file}.\n"));
    }
    lab.git.push(REMOTE, "main").unwrap();
    let found = lab.git.pull_request_template("main").unwrap();
    let found = found.as_ref().map(|it| (it.path.as_str(), it.text.clone(), it.others.len()));
    assert_eq!(found, expect.map(|(path, others)| (path, format!("This is {path}.\n"), others)));
}

#[test]
fn the_first_place_that_has_one_counts() {
    check(&["src/pull_request_template.md", "docs/pull_request.md"], None);
    check(&["docs/pull_request_template.md"], Some(("docs/pull_request_template.md", 0)));
    check(
        &["docs/pull_request_template.md", "PULL_REQUEST_TEMPLATE.md"],
        Some(("PULL_REQUEST_TEMPLATE.md", 0)),
    );
    check(
        &["Pull_Request_Template.txt", ".github/pull_request_template.md"],
        Some((".github/pull_request_template.md", 0)),
    );
}

#[test]
fn of_a_folder_the_first_by_name_is_taken() {
    let folder = [".github/PULL_REQUEST_TEMPLATE/feature.md", ".github/PULL_REQUEST_TEMPLATE/bug.md"];
    check(&folder, Some((".github/PULL_REQUEST_TEMPLATE/bug.md", 1)));
    let both = [".github/PULL_REQUEST_TEMPLATE/bug.md", ".github/pull_request_template.md"];
    check(&both, Some((".github/pull_request_template.md", 0)));
    check(&["docs/pull_request_template/notes.rst"], None);
}
