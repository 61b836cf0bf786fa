//! Transcripts and diffs of runs.

use orange_fleet::serve::auth::Rights;

use crate::world::World;

const LONGEST: usize = 256 << 10;

#[test]
fn the_last_text_of_a_run_counts() {
    let world = World::new();
    let colony = world.colony("coffee");
    let crabs = world.crabs_of(&colony);
    crabs.register("atlas", &colony, "any");
    world.mission(&colony, "one");
    let run = crabs.run("atlas");
    let reader = world.with_rights(Rights::Reader);
    let path = format!("/v1/runs/{run}/diff");
    let (message, _) = reader.get(&path).refused(404, "no_text");
    assert_eq!(message, format!("the run `{run}` has no diff"));
    crabs.put_text(&run, "diff", "+ first").ok(204);
    let text = "+ <script>\u{1b}[31m\u{202e} añb\r\n";
    for _ in 0..2 {
        crabs.put_text(&run, "diff", text).ok(204);
    }
    let answer = reader.get(&path);
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.text, text);
    reader.get(&format!("/v1/runs/{run}/transcript")).refused(404, "no_text");
    let longest = "x".repeat(LONGEST);
    crabs.put_text(&run, "transcript", &longest).ok(204);
    assert_eq!(world.admin.get(&format!("/v1/runs/{run}/transcript")).text, longest);
    crabs.start("atlas", &run).ok(200);
    crabs.complete("atlas", &run, None).ok(200);
    crabs.put_text(&run, "diff", "+ late").ok(204);
    assert_eq!(reader.get(&path).text, "+ late");
}

#[test]
fn texts_that_are_none_are_refused() {
    let world = World::new();
    let colony = world.colony("coffee");
    let crabs = world.crabs_of(&colony);
    crabs.register("atlas", &colony, "any");
    let mission = world.mission(&colony, "one");
    let run = crabs.run("atlas");
    crabs.put_text(&run, "diff", &"x".repeat(LONGEST + 1)).refused(413, "text_too_long");
    crabs.put_text(&run, "diff", &"x".repeat((1 << 20) + 1)).refused(413, "body_too_large");
    crabs.put_text(&run, "diff", "a\0b").refused(400, "bad_text");
    let path = format!("/v1/runs/{run}/diff");
    crabs.call("PUT", &path, Some("{}")).refused(415, "not_text");
    crabs.undescribed("POST", &path, Some("{}")).refused(405, "method_not_allowed");
    let unknown =
        ["none.plan.1".to_owned(), format!("{mission}.nothing.1"), run.replace(".1", ".2"), "x".to_owned()];
    for unknown in unknown {
        crabs.put_text(&unknown, "diff", "+").refused(404, "unknown_run");
    }
    world.admin.get(&path).refused(404, "no_text");
}

#[test]
fn texts_are_for_those_whose_token_is_good_for_them() {
    let world = World::new();
    let (colony, other) = (world.colony("coffee"), world.colony("tea"));
    let crabs = world.crabs_of(&colony);
    crabs.register("atlas", &colony, "any");
    world.mission(&colony, "one");
    let run = crabs.run("atlas");
    let path = format!("/v1/runs/{run}/diff");
    world.crabs_of(&other).put_text(&run, "diff", "+").refused(404, "unknown_run");
    world.with_rights(Rights::Reader).put_text(&run, "diff", "+").refused(403, "forbidden");
    world.nobody().put_text(&run, "diff", "+").refused(401, "unauthorized");
    world.admin.put_text(&run, "diff", "+").ok(204);
    crabs.get(&path).refused(403, "forbidden");
    world.nobody().get(&path).refused(401, "unauthorized");
}
