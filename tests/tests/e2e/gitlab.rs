//! A task on GitLab: its merge request from the first push to the merge, and the failures of GitLab in between.

use std::fs;

use serde_json::json;

use crate::world::World;

const URL: &str = "https://gitlab.com/toys/parts/toy/-/merge_requests/1";

#[test]
fn a_merge_request_is_opened_checked_and_merged_on_gitlab() {
    let world = World::new().with_gitlab();
    let put = |file: &str, text: &str| fs::write(world.path("home/glab").join(file), text).unwrap();
    fs::create_dir(world.path("home/glab")).unwrap();
    let task = world.create("fix", "Mend it", &["--context", "/merge\nSince Monday."]);
    task.reaches("reviewing");
    put("fault", "moved");
    let moved = task.fails(5, "environment", "create-pr", &[]);
    assert!(moved.contains("HTTP 405") && moved.contains("git remote set-url"), "{moved}");
    put("fault", "");
    let opened = task.ok("create-pr", &[]);
    assert_eq!((&opened["pr_url"], &opened["created"]), (&json!(URL), &json!(true)));
    let body = fs::read_to_string(world.path("home/glab/1.body")).unwrap();
    let expect = r#"{"source_branch":"fix","target_branch":"main","title":"Mend it","description":"Mend it\n\n\\/merge\nSince Monday."}"#;
    assert_eq!(body, expect);
    assert_eq!(
        world.git(&world.path("toy.git"), &["log", "-1", "--format=%s", "fix"]),
        "Agent 3 did its part"
    );
    assert_eq!(task.ok("create-pr", &[])["created"], json!(false));

    for (pipeline, said) in [
        ("running", "pending"),
        ("failed", "red"),
        ("success", "green"),
        ("success 0ddba11", "pending"),
        ("a_new_word", "red (`a_new_word` is a word that this version does not know)"),
        ("success", "green"),
    ] {
        put("1.pipeline", pipeline);
        let checked = task.ok("refresh", &[]);
        assert_eq!(checked["news"], "checked", "{pipeline}: {checked}");
        assert!(checked["done"].as_str().is_some_and(|it| it.ends_with(said)), "{pipeline}: {checked}");
        assert_eq!(task.ok("refresh", &[])["news"], "unchanged", "{pipeline}");
    }

    for (fault, said) in [
        ("rate-limit", "HTTP 429"),
        ("server-error", "HTTP 502"),
        ("no-login", "GITLAB_TOKEN"),
        ("half", "not understood"),
    ] {
        put("fault", fault);
        let failed = task.fails(5, "environment", "refresh", &[]);
        assert!(failed.contains(said), "{fault}: {failed}");
    }
    assert_eq!(task.events_of("pr.checks").last().map(|it| it["state"].clone()), Some(json!("green")));
    put("fault", "");
    let open = task.fails(1, "refused", "merge", &[]);
    assert!(open.contains("have GitLab merge it with --by-forge"), "{open}");

    // Its project has moved, and the old address leads to the new one.
    put("fault", "moved");
    put("1.mr", "fix\nmerged\n");
    let merged = task.ok("refresh", &[]);
    assert_eq!((&merged["news"], &merged["status"]), (&json!("merged"), &json!("done")));
    assert_eq!(task.events_of("pr.merged")[0]["url"], URL);
    assert_eq!(task.events_of("task.merged")[0]["commit"], "c0ffee");
}
