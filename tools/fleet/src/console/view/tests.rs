//! Pages of values: what they say of each state, and that no text of others is markup.

use maud::Markup;
use orange_core::mission::{Event, Mission, Pause, PauseReason, Report};
use orange_core::plan::{Execution, Intervene, Plan, Policy, StepId};
use orange_core::scheduler::{Crab, Scheduler};

use super::colonies::{ColoniesPage, CrabWork};
use super::forms::Seal;
use super::history::History;
use super::inbox::{Faulty, Inbox};
use super::mission::MissionPage;
use super::missions::{MissionsPage, MissionsQuery};
use super::start::{Filled, StartPage};
use super::step::StepPage;
use super::{ConsolePage, PageFrame, words, workflows};
use crate::host::{AttemptRow, Colony, ColonyState, HistoryRecord, MissionListRow, StoredMission};
use crate::plans::PLANS;
use crate::simulate::measure::APART;

const MARKUP: &str = "<script>alert('&\"')</script>";

fn dev_task() -> &'static Plan<'static> {
    PLANS.iter().copied().find(|it| it.name == "dev-task").unwrap()
}

/// A mission after these events, each for the current attempt of a step: `plan!` starts, `plan` completes, `plan=PASS` with a result,
/// `plan?` with a warning, `plan-` fails, `+` accepts a failure, `>` continues.
fn mission(events: &[&str], policy: Policy) -> StoredMission {
    let plan = dev_task();
    let mut mission = Mission::new(plan, policy);
    mission.apply(plan, Event::Begin).unwrap();
    for word in events {
        let answer = |accept_failure| Event::Continue {
            pause: None,
            accept_failure,
            execution: None,
            intervene: None,
        };
        let name = word.split(['!', '=', '?', '-']).next().unwrap();
        let step = || plan.step_named(name).unwrap();
        let attempt = |mission: &Mission| mission.step(step()).attempt();
        let report = |result: Option<&str>, warning: Option<&str>| Report {
            result: result.map(str::to_owned),
            summary: format!("{name} says {MARKUP}"),
            warning: warning.map(str::to_owned),
            ..Report::default()
        };
        let complete =
            |mission: &Mission, report| Event::Complete { step: step(), attempt: attempt(mission), report };
        let event = match word.trim_start_matches(name) {
            "" if name == "+" => answer(true),
            "" if name == ">" => answer(false),
            "" => complete(&mission, report(None, None)),
            "!" => Event::Start { step: step(), attempt: attempt(&mission) },
            "?" => complete(&mission, report(None, Some(MARKUP))),
            "-" => Event::Fail { step: step(), attempt: attempt(&mission), reason: MARKUP.to_owned() },
            result => complete(&mission, report(result.strip_prefix('='), None)),
        };
        mission.apply(plan, event).unwrap();
    }
    let row = MissionListRow {
        id: "m1".to_owned(),
        colony: "c1".to_owned(),
        workflow: plan.name.to_owned(),
        summary: format!("Fix {MARKUP}"),
        branch: format!("fix/{MARKUP}"),
        status: mission.status.as_str().to_owned(),
        step: None,
        pause: mission.pause().map(|it| it.number),
        asks: Vec::new(),
        version: 1,
        created: 1_770_000_000_000,
        updated: 1_770_000_060_000,
    };
    StoredMission { row, plan, mission, prompt: format!("Fix {MARKUP}\nnow"), runs: Vec::new() }
}

fn seal() -> Seal<'static> {
    Seal { csrf: "csrf", key: "key".to_owned() }
}

fn page_of(stored: &StoredMission) -> String {
    let page = MissionPage {
        stored,
        colony: None,
        crabs: &[],
        waits: None,
        said: None,
        person: "admin",
        seal: seal(),
        now: 1_770_000_120_000,
    };
    rendered(&page.page())
}

#[track_caller]
fn rendered(page: &ConsolePage<'_>) -> String {
    let frame = PageFrame { waiting: 2, alarms: 0, seq: 7, csrf: "csrf".to_owned(), has_machine: true };
    let text = page.render(&frame).into_string();
    assert!(!text.contains("<script>"), "{text}");
    assert!(!text.contains(" style=") && !text.contains(" onclick="), "{text}");
    assert_eq!(text.matches("<h1").count(), 1, "{text}");
    text
}

/// Words of a page without its markup, in one line.
fn words_of(page: &str) -> String {
    let mut text = String::new();
    for part in page.split('<') {
        let (tag, rest) = part.split_once('>').unwrap_or(("", part));
        let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
        if !["a", "bdi", "code", "span", "strong", "time"].contains(&name) {
            text.push(' ');
        }
        text.push_str(rest);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(events: &[&str], policy: Policy, expect: &[&str], not: &[&str]) {
    let stored = mission(events, policy);
    let text = words_of(&page_of(&stored));
    for it in expect {
        assert!(text.contains(it), "{it:?} is not in {text}");
    }
    for it in not {
        assert!(!text.contains(it), "{it:?} is in {text}");
    }
}

const AUTO: Policy = Policy::DEFAULT;
const NEVER: Policy = Policy { execution: Execution::Auto, intervene: Intervene::Never };

#[test]
fn a_mission_that_runs_asks_nothing() {
    check(
        &["plan!"],
        AUTO,
        &["plan is running, attempt 1.", "Cancel this mission"],
        &["Pause 1", "Run it again"],
    );
    check(&[], AUTO, &["plan waits for a crab, attempt 1."], &["Pause 1"]);
    let mut apart = Mission::new(&APART, AUTO);
    apart.apply(&APART, Event::Begin).unwrap();
    assert_eq!(words::doing(&APART, &apart, None), "a, b wait for a crab.");
    let held = words::doing(&APART, &apart, Some((StepId(1), "Sage")));
    assert_eq!(held, "Sage has b, attempt 1, and has not started its agent.");
}

#[test]
fn a_pause_offers_its_answers() {
    check(
        &["plan-"],
        AUTO,
        &[
            "Pause 1: A step has failed",
            "Try plan again",
            "Accept the failure",
            "What depends on plan does not run.",
        ],
        &[],
    );
    let stepwise = Policy { execution: Execution::Step, intervene: Intervene::OnError };
    check(&["plan"], stepwise, &["Pause 1: Go on?", "plan has ended", "Go on"], &["Accept the failure"]);
    let warned = Policy { execution: Execution::Auto, intervene: Intervene::OnWarning };
    check(
        &["plan?"],
        warned,
        &["Pause 1: A step has a warning", "completed with a warning: &lt;script&gt;"],
        &["Accept"],
    );
    let rounds = [
        "plan",
        "implement",
        "review=FAIL",
        "fix",
        "review=FAIL",
        "fix",
        "review=FAIL",
        "fix",
        "review=FAIL",
    ];
    check(
        &rounds,
        AUTO,
        &[
            "Pause 1: A loop is exhausted",
            "One more round",
            "hand-over runs next, which handles failures of fix.",
        ],
        &[],
    );
}

#[test]
fn a_mission_that_has_failed_offers_another_run() {
    check(
        &["plan-"],
        NEVER,
        &["It has failed", "plan failed: &lt;script&gt;", "Run it again from where it failed"],
        &["Pause 1"],
    );
    check(&["plan-", "+"], AUTO, &["It has failed", "implement Implement the plan not run"], &["Pause 1"]);
}

#[test]
fn a_mission_that_has_ended_offers_nothing() {
    check(
        &["plan", "implement", "review=PASS", "pr"],
        AUTO,
        &["The mission has completed."],
        &["Cancel this", "Run it again", "Pause 1"],
    );
}

#[test]
fn every_open_pause_has_its_form() {
    let mut stored = mission(&["plan-"], AUTO);
    let reason = PauseReason::Obstacle("the push was refused".to_owned());
    stored.mission.questions.push(Pause { number: 2, reason, is_pointless: false });
    let page = page_of(&stored);
    for part in [
        "data-question=\"1 2\"",
        "name=\"pause\" value=\"1\"",
        "name=\"pause\" value=\"2\"",
        "id=\"ask-title-2\"",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert_eq!(page.matches("id=\"policy\"").count(), 1);
    let words = words_of(&page);
    assert!(words.contains("2 questions are open") && words.contains("the push was refused"), "{words}");
}

#[test]
fn forms_carry_their_pause_and_their_seal() {
    let page = page_of(&mission(&["plan-"], AUTO));
    let form = page.split("<form").find(|it| it.contains("/continue")).unwrap();
    for field in ["name=\"csrf\" value=\"csrf\"", "name=\"key\" value=\"key\"", "name=\"pause\" value=\"1\""]
    {
        assert!(form.contains(field), "{form}");
    }
    assert!(
        page.contains("data-mission=\"m1\" data-after=\"7\" data-stream=\"/console/news.js?v="),
        "{page}"
    );
}

#[test]
fn the_picture_has_each_step_with_its_status() {
    let page = page_of(&mission(&["plan", "implement", "review=FAIL", "fix!"], AUTO));
    let picture = page.split("<svg").nth(1).unwrap().split("</svg>").next().unwrap();
    for part in [
        "class=\"step good completed\"",
        "class=\"step busy running\"",
        "class=\"step calm blocked\"",
        "class=\"line taken\"",
        "class=\"line dashed\"",
        "again, up to 3 times",
        "result == 'PASS'",
        "aria-label=\"The plan dev-task: plan completed, implement completed, review completed, fix running, pr blocked, hand-over blocked\"",
    ] {
        assert!(picture.contains(part), "{part} is not in {picture}");
    }
    assert!(!picture.contains("<style") && !picture.contains("style="), "{picture}");
}

#[test]
fn a_step_that_the_last_round_skips_has_completed() {
    let events = ["plan", "implement", "review=FAIL", "fix=PASS", "review=PASS"];
    let stored = mission(&events, AUTO);
    let fix = stored.plan.step_named("fix").unwrap();
    assert_eq!(stored.mission.step(fix).status.as_str(), "skipped");
    let page = page_of(&stored);
    assert!(page.contains("review completed, fix completed, pr "), "{page}");
}

#[test]
fn an_attempt_says_who_had_it_and_for_how_long() {
    let mut stored = mission(&["plan"], AUTO);
    let at = stored.row.created;
    let run = AttemptRow {
        step: "plan".to_owned(),
        attempt: 1,
        crab: Some("sage-id".to_owned()),
        queued: at,
        offered: Some(at + 2_000),
        started: Some(at + 5_000),
        ended: Some(at + 70_000),
        commit: Some("4f1c2d9e8b7a6051".to_owned()),
        ..AttemptRow::default()
    };
    stored.runs = vec![run];
    let crabs = [("sage-id".to_owned(), "Sage".to_owned())];
    let page = MissionPage {
        stored: &stored,
        colony: None,
        crabs: &crabs,
        waits: Some(format!("nobody {MARKUP}")),
        said: Some("Done."),
        person: "admin",
        seal: seal(),
        now: at + 130_000,
    };
    let text = words_of(&rendered(&page.page()));
    assert!(
        text.contains(
            "plan #1 completed 1 min 5 s by Sage · started 2026-02-02 02:40:05 UTC (2 min ago), waited 5 s, ran for 1 min 5 s"
        ),
        "{text}"
    );
    assert!(text.contains("It waits since nobody &lt;script&gt;"), "{text}");
    assert!(text.contains("Commit 4f1c2d9e8b7a plan says") || text.contains("Commit 4f1c2d9e8b7a"), "{text}");
}

/// A run of a step of the first mission, these milliseconds after its start.
fn run(step: &str, [queued, offered, ended]: [Option<i64>; 3]) -> AttemptRow {
    let at = |it: i64| 1_770_000_000_000 + it;
    AttemptRow {
        step: step.to_owned(),
        attempt: 1,
        crab: offered.map(|_| "sage-id".to_owned()),
        queued: queued.map_or(0, at),
        offered: offered.map(at),
        ended: ended.map(at),
        ..AttemptRow::default()
    }
}

#[test]
fn a_step_that_a_crab_has_is_assigned_to_it() {
    let mut stored = mission(&["plan"], AUTO);
    stored.runs = vec![
        run("plan", [Some(0), Some(0), Some(1_000)]),
        run("implement", [Some(1_000), Some(2_000), None]),
    ];
    let page = page_of(&stored);
    assert!(page.contains("class=\"step busy assigned\""), "{page}");
    let text = words_of(&page);
    assert!(text.contains("implement Implement the plan assigned crab sage-id worker"), "{text}");
    assert!(text.contains("sage-id has implement, attempt 1, and has not started its agent."), "{text}");
    stored.runs.truncate(1);
    assert!(words_of(&page_of(&stored)).contains("implement Implement the plan queued worker"));
}

#[test]
fn attempts_are_bars_on_one_timeline() {
    let mut stored = mission(&["plan", "implement"], AUTO);
    stored.runs = vec![
        AttemptRow { diff: Some(0), ..run("plan", [Some(0), Some(30_000), Some(60_000)]) },
        AttemptRow { diff: Some(7), ..run("implement", [Some(60_000), Some(60_000), Some(120_000)]) },
    ];
    stored.runs.push(run("review", [Some(120_000), None, None]));
    let page = page_of(&stored);
    for part in [
        "<rect class=\"waited\" x=\"0\" width=\"250\"",
        "<rect class=\"ran good\" x=\"250\" width=\"250\"",
        "<rect class=\"ran good\" x=\"500\" width=\"500\"",
        "<li class=\"card\" id=\"a-implement-1\"><details open>",
        "<li class=\"card\" id=\"a-plan-1\"><details>",
        "<li class=\"card\" id=\"a-review-1\"><details>",
        "/steps/implement/1#diff",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(!page.contains("/steps/plan/1#diff") && page.contains("It has changed nothing."), "{page}");
}

#[test]
fn a_history_names_crabs() {
    let stored = mission(&["plan"], AUTO);
    let record = |seq: u64, crab: &str| HistoryRecord {
        seq,
        time: stored.row.created,
        kind: "run.offered".to_owned(),
        colony: "c1".to_owned(),
        mission: None,
        data: serde_json::json!({ "crab": crab, "step": "plan" }),
    };
    let records = [record(1, "sage-id"), record(2, "gone-id")];
    let crabs = [("sage-id".to_owned(), "Sage".to_owned())];
    let now = stored.row.created + 180_000;
    let history = History { row: &stored.row, records: &records, has_more: false, crabs: &crabs, now };
    let text = words_of(&rendered(&history.page()));
    for part in ["02:40:00 UTC (3 min ago) run.offered crab: Sage, step: plan", "crab: gone-id"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

#[test]
fn a_step_shows_its_prompt_and_its_context() {
    let stored = mission(&["plan", "implement", "review=FAIL", "fix!"], AUTO);
    let step = stored.plan.step_named("fix").unwrap();
    let context = stored.mission.context(stored.plan, step);
    let page =
        StepPage { stored: &stored, step, prompt: MARKUP.to_owned(), context, crabs: &[], now: 0, skip: 0 };
    let text = words_of(&rendered(&page.page()));
    for part in [
        "If review.result == 'FAIL'",
        "Runs again review, at most 3 times",
        "If it fails hand-over",
        "## review review says",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

#[test]
fn the_inbox_has_what_waits_before_what_has_failed() {
    let (counts, under_way) = ((21, 0, 1), (3, 0));
    let inbox = Inbox {
        waiting: vec![(mission(&["plan-"], AUTO), seal())],
        asking: Vec::new(),
        failed: vec![(mission(&["plan-"], NEVER), seal())],
        counts,
        under_way,
        steps: 2,
        crabs: [4, 1, 2, 1],
        faulty: vec![Faulty { name: "Sage".to_owned(), colony: "c1".to_owned(), fault: MARKUP.to_owned() }],
    };
    let text = words_of(&rendered(&inbox.page()));
    let parts = [
        "Waiting for you (21)",
        "Try plan again",
        "All 21 missions that are paused",
        "Failed (1)",
        "Run it again",
        "Crabs with a fault",
        "Sage &lt;script&gt;",
    ];
    let places: Vec<usize> =
        parts.iter().map(|it| text.find(it).unwrap_or_else(|| panic!("{it:?} is not in {text}"))).collect();
    assert!(places.is_sorted(), "{text}");
    assert!(
        text.contains("3 missions run, 2 steps wait for a crab. 4 crabs: 2 at work, 1 free, 1 with a fault."),
        "{text}"
    );
    let empty = Inbox { waiting: Vec::new(), failed: Vec::new(), crabs: [0; 4], faulty: Vec::new(), ..inbox };
    let text = words_of(&rendered(&empty.page()));
    assert!(
        text.contains("No mission waits for an answer.") && !text.contains("Crabs with a fault"),
        "{text}"
    );
}

#[test]
fn a_list_leads_to_its_next_page_with_its_filter() {
    let asked = MissionsQuery {
        status: Some("failed".to_owned()),
        text: Some("a&b c".to_owned()),
        ..MissionsQuery::default()
    };
    let rows = vec![mission(&[], AUTO).row];
    let list = MissionsPage {
        asked,
        rows,
        has_more: true,
        colonies: Vec::new(),
        counts: vec![("failed".to_owned(), 9)],
    };
    let page = rendered(&list.page());
    assert!(
        page.contains("href=\"/console/missions?status=failed&amp;q=a%26b%20c&amp;before=m1\""),
        "{page}"
    );
    assert!(page.contains("<option value=\"failed\" selected>failed (9)</option>"), "{page}");
    let none = MissionsPage {
        asked: MissionsQuery::default(),
        rows: Vec::new(),
        has_more: false,
        colonies: Vec::new(),
        counts: Vec::new(),
    };
    assert!(words_of(&rendered(&none.page())).contains("No mission is like that."));
}

fn colony() -> Colony {
    Colony {
        id: "c1".to_owned(),
        name: format!("dev {MARKUP}"),
        repository: "/srv/git".to_owned(),
        base: None,
        created: 0,
    }
}

#[test]
fn a_colony_says_what_each_crab_does() {
    let mut scheduler = Scheduler::default();
    let crab = |role: &str| Crab { roles: vec![role.to_owned()], ..Crab::default() };
    scheduler.crabs.insert("a".to_owned(), Crab { is_parked: true, ..crab("planner") });
    scheduler.crabs.insert("b".to_owned(), Crab { mission: Some("m1".to_owned()), ..crab("worker") });
    scheduler.crabs.insert("c".to_owned(), Crab { fault: Some(MARKUP.to_owned()), ..crab("any") });
    let state = ColonyState {
        colony: colony(),
        scheduler,
        crabs: vec![
            ("a".to_owned(), "Sage".to_owned(), 0),
            ("b".to_owned(), "Atlas".to_owned(), 600_000),
            ("c".to_owned(), "Coral".to_owned(), 0),
        ],
        waiting: vec![("reviewer".to_owned(), 2)],
    };
    let work = CrabWork {
        crab: "b".to_owned(),
        mission: "m1".to_owned(),
        summary: MARKUP.to_owned(),
        step: "fix".to_owned(),
        attempt: 2,
        is_accepted: true,
        since: Some(300_000),
    };
    let colonies = [(state, vec![work])];
    let page = ColoniesPage { colonies: &colonies, is_one: true, now: 601_000 };
    let text = words_of(&rendered(&page.page()));
    for part in [
        "2 steps wait: 2 for reviewer",
        "Sage a planner no walls free",
        "silent for 10 min 1 s",
        "at work fix #2",
        "at fault fault: &lt;script&gt;",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert_eq!(
        text.matches("silent for").count(),
        1,
        "neither who has just been heard of nor who is free: {text}"
    );
}

#[test]
fn a_form_that_was_refused_keeps_what_was_written() {
    let filled = Filled {
        colony: "c1".to_owned(),
        workflow: "dev-task".to_owned(),
        prompt: MARKUP.to_owned(),
        intervene: "always".to_owned(),
        ..Filled::default()
    };
    let colonies = [colony()];
    let start = StartPage {
        colonies: &colonies,
        plans: PLANS,
        filled: &filled,
        refused: Some((MARKUP, "Do this.")),
        seal: seal(),
    };
    let page = rendered(&start.page());
    assert!(
        page.contains("role=\"alert\"") && page.contains("Do this.") && page.contains("&lt;script&gt;"),
        "{page}"
    );
    assert!(
        page.contains("<option value=\"always\" selected>") && page.contains("<details id=\"policy\" open>"),
        "{page}"
    );
    let without =
        StartPage { colonies: &[], plans: PLANS, filled: &Filled::default(), refused: None, seal: seal() };
    assert!(words_of(&rendered(&without.page())).contains("There is no colony yet."));
}

#[test]
fn a_workflow_comes_with_its_proof() {
    let proof = orange_analysis::plan_proof::of_plan(dev_task());
    let text = words_of(&rendered(&workflows::page(dev_task(), &proof)));
    for part in [
        "proved every mission ends, or waits for a person",
        "at most 13 attempts",
        "completed: plan, implement, review and pr have run",
        "What this rests on",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert!(words_of(&rendered(&workflows::list(PLANS))).contains("dev-task 1.0.0"));
}

#[test]
fn a_plan_that_is_too_large_has_no_picture() {
    let plan = dev_task();
    let steps: Vec<_> = (0..40).flat_map(|_| plan.steps.iter().copied()).collect();
    let large = Plan { steps: &steps, ..*plan };
    let shown: Markup = super::picture::picture(&large, None);
    assert!(shown.into_string().contains("too many for a picture"));
    assert!(words::retriable(plan, &mission(&["plan-"], NEVER).mission) == ["plan"]);
}
