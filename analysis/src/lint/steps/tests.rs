//! Cases that the `docs/lints` pages of this group do not show.

use std::collections::BTreeMap;

use crate::every_finding;
use orange_codegen::PromptFiles;
use orange_codegen::source::Source;

/// The codes that are found, each with what it stands at.
fn found(source: &Source) -> Vec<String> {
    of_codes(source, |code| code.starts_with('B') || code == "A10")
}

fn of_codes(source: &Source, has: impl Fn(&str) -> bool) -> Vec<String> {
    let compilation = every_finding(source);
    assert!(compilation.checked.is_some(), "{:#?}", compilation.diagnostics);
    let found = compilation.diagnostics.iter().filter(|it| has(it.code()));
    found.map(|it| format!("{} {}", it.code(), &source.text[it.span.range()])).collect()
}

/// Compares the findings of one check, without its code.
#[track_caller]
fn check_one(code: &str, steps: &str, expect: &[&str]) {
    let source = Source::new("flow.toml", format!("[workflow]\nname = \"flow\"\n{steps}"));
    let found = of_codes(&source, |it| it == code);
    let found: Vec<&str> = found.iter().filter_map(|it| it.split_once(' ')).map(|(_, place)| place).collect();
    assert_eq!(found, expect);
}

#[track_caller]
fn check(steps: &str, expect: &[&str]) {
    let text = format!("[workflow]\nname = \"flow\"\n{steps}");
    assert_eq!(found(&Source::new("flow.toml", text)), expect);
}

fn step(id: &str, rest: &str) -> String {
    format!("[[steps]]\nid = \"{id}\"\nprompt = \"{id} {{{{context}}}}\"\n{rest}\n")
}

/// The fixture with prompts: one for `implement` and `fix`, and only `review` reads its context.
fn dev_task(text: &str) -> Source {
    let files =
        [("plan", "Plan."), ("implement", "Implement."), ("review", "Review. {{context}}"), ("pr", "Ship.")];
    let files = files.map(|(name, text)| (format!("do/{name}.md"), text.to_owned()));
    Source::new("dev-task.toml", text).with_files(PromptFiles::Given(BTreeMap::from(files)))
}

const DEV_TASK: &str = include_str!("../../../../tests/fixtures/dev-task.toml");

#[test]
fn what_is_wrong_with_dev_task_is_found() {
    let expect = [
        "B20 \"do/implement.md\"",
        "B20 \"do/implement.md\"",
        "B24 \"do/implement.md\"",
        "B15 3",
        "B20 \"do/pr.md\"",
    ];
    assert_eq!(found(&dev_task(DEV_TASK)), expect);
    let without_files = every_finding(
        &Source::new("dev-task.toml", DEV_TASK).with_files(PromptFiles::Given(BTreeMap::new())),
    );
    let missing = without_files.diagnostics.iter().filter(|it| it.code() == "B18");
    assert_eq!(missing.count(), 5);
}

#[test]
fn a_field_or_an_item_says_what_a_dependency_reports() {
    let plan = "[[steps]]\nid = \"plan\"\nprompt = \"Plan it.\"\noutputs = { parts = { type = \"list\" } }\n";
    let check_prompt = |prompt: &str, rest: &str, expect: &[&str]| {
        let step = format!("[[steps]]\nid = \"a\"\nprompt = \"{prompt}\"\ndepends_on = [\"plan\"]\n{rest}\n");
        check_one("B20", &format!("{plan}{step}"), expect);
    };
    let each = "for_each = \"plan.parts\"";
    check_prompt("Do {{item}}.", each, &[]);
    check_prompt("Do {{plan.parts}}.", "", &[]);
    check_prompt("Do {{plan.summary}}. {{context}}", "", &[]);
    check_prompt("Do {{item}}.", "for_each = [\"x\", \"y\"]", &["\"Do {{item}}.\""]);
    check_prompt("Do it.", each, &["\"Do it.\""]);
    check_prompt("Do it.", "", &["\"Do it.\""]);
}

#[test]
fn an_undeclared_word_is_left_over() {
    let found = found(&dev_task(&DEV_TASK.replace("'PASS'", "'DONE'")));
    assert!(found.contains(&"B09 \"review.result == 'FAIL'\"".to_owned()), "{found:#?}");
}

#[test]
fn a_loop_whose_condition_never_turns_is_found() {
    let steps = [
        step("docs", "").replace(" {{context}}", ""),
        step("review", "depends_on = [\"docs\"]\nresults = [\"PASS\", \"FAIL\"]"),
        step(
            "fix",
            "depends_on = [\"review\", \"tests\"]\ncondition = \"review.result == 'FAIL'\"\nmax_retries = 2\nrequeue = [\"tests\"]\non_fail = \"rescue\"",
        ),
        step("tests", "depends_on = [\"docs\"]\nindependent = true"),
        step("rescue", ""),
    ];
    check(&steps.concat(), &["B14 \"tests\""]);
}

#[test]
fn a_reader_that_looks_on_may_stand_in_a_loop() {
    let panel = |judge: &str| {
        [
            step("implement", ""),
            step(
                "panel",
                "depends_on = [\"implement\"]\nread_only = true\nfor_each = [\"speed\", \"tests\"]\noutputs = { verdict = { words = [\"good\", \"bad\"] } }",
            )
            .replace("{{context}}", "{{context}} {{item}}"),
            step(
                "judge",
                &format!("depends_on = [\"panel\"]\ncondition = \"any panel.verdict == 'bad' && panel.rounds >= 3\"\n{judge}"),
            ),
            step(
                "fix",
                "depends_on = [\"panel\", \"judge\"]\ncondition = \"any panel.verdict == 'bad'\"\nmax_retries = 5\nrequeue = [\"panel\"]",
            ),
            step("pr", "depends_on = [\"panel\"]\ncondition = \"all panel.verdict != 'bad'\""),
        ]
        .concat()
    };
    check_one("B14", &panel("read_only = true"), &[]);
    check_one("B22", &panel("read_only = true"), &[]);
    check_one("B14", &panel(""), &["\"panel\""]);
}

#[test]
fn a_loop_of_no_rounds_loses_its_branch() {
    let steps = [
        "[[steps]]\nid = \"review\"\nprompt = \"Review.\"\nresults = [\"PASS\", \"FAIL\"]\n".to_owned(),
        step("fix", "depends_on = [\"review\"]\ncondition = \"review.result == 'FAIL'\"\nmax_retries = 0"),
        step("pr", "depends_on = [\"review\"]\ncondition = \"review.result == 'PASS'\"\n"),
    ];
    check(&steps.concat(), &["B14 0"]);
}

#[test]
fn a_dead_step_is_found_once() {
    let steps = [
        step("review", "results = [\"PASS\", \"FAIL\"]"),
        step("fix", "depends_on = [\"review\"]\ncondition = \"review.result == 'FAIL'\"\nmax_retries = 2"),
        step("audit", "depends_on = [\"fix\"]\ncondition = \"review.result == 'FAIL'\""),
        step("sign", "depends_on = [\"audit\"]\ncondition = \"audit.result == 'PASS'\""),
    ];
    check(&steps.concat(), &["B15 2", "B11 \"audit\""]);
}

#[test]
fn a_placeholder_of_a_skipped_step_is_empty() {
    let steps = |condition: &str, field: &str| {
        [
            "[[steps]]\nid = \"plan\"\nprompt = \"Plan.\"\nresults = [\"A\", \"B\"]\n".to_owned(),
            step("judge", "depends_on = [\"plan\"]\ncondition = \"plan.result == 'A'\""),
            step("build", &format!("depends_on = [\"judge\"]\n{condition}")).replace(
                "{{context}}",
                &format!("{{{{context}}}} {{{{plan.result}}}} {{{{judge.{field}}}}}"),
            ),
        ]
        .concat()
    };
    check_one("B30", &steps("", "summary"), &["{{judge.summary}}"]);
    check_one("B30", &steps("", "rounds"), &[]);
    check_one("B30", &steps("condition = \"judge.ran\"", "summary"), &[]);
}

#[test]
fn a_loop_that_had_nothing_to_do_is_no_skipped_dependency() {
    let steps = [
        step("review", "results = [\"PASS\", \"FAIL\"]"),
        step(
            "fix",
            "depends_on = [\"review\"]\ncondition = \"review.result == 'FAIL'\"\nmax_retries = 2\non_fail = \"rescue\"",
        ),
        step("pr", "depends_on = [\"fix\"]"),
        step("rescue", ""),
    ];
    check(&steps.concat(), &[]);
}

#[test]
fn steps_below_different_branches_exclude_each_other() {
    let steps = [
        step("plan", "results = [\"A\", \"B\"]").replace(" {{context}}", ""),
        step("a", "depends_on = [\"plan\"]\ncondition = \"plan.result == 'A'\""),
        step("b", "depends_on = [\"plan\"]\ncondition = \"plan.result == 'B'\""),
        step("a2", "depends_on = [\"a\"]\ncondition = \"plan.result == 'A'\""),
    ];
    check(&steps.concat(), &[]);
}

#[test]
fn too_many_runs_are_reported() {
    let fan = |id: usize| {
        step(&format!("s{id}"), "results = [\"PASS\", \"FAIL\"]\nindependent = true")
            .replace(" {{context}}", "")
    };
    let after = |id: usize| {
        let rest =
            format!("depends_on = [\"s{id}\"]\ncondition = \"s{id}.result == 'PASS'\"\nindependent = true");
        step(&format!("t{id}"), &rest)
    };
    let steps: String = (0..18).map(fan).chain((0..18).map(after)).collect();
    check(&steps, &["A10 \"flow\""]);
}

/// A review with a step after each result, and what else the step after FAIL has.
fn two_ends(fix: &str, more: &str) -> String {
    let review = "[[steps]]\nid = \"review\"\nprompt = \"Review.\"\nresults = [\"PASS\", \"FAIL\"]\n";
    let fix =
        step("fix", &format!("depends_on = [\"review\"]\ncondition = \"review.result == 'FAIL'\"\n{fix}"));
    let ship = step("ship", "depends_on = [\"review\"]\ncondition = \"review.result == 'PASS'\"");
    [review, &fix, &ship, more].concat()
}

#[test]
fn b29_a_fix_that_nobody_judges_is_found() {
    check_one("B29", &two_ends("", ""), &["\"review.result == 'FAIL'\""]);
    check_one("B29", &two_ends("", "").replace("FAIL", "CHANGES"), &["\"review.result == 'CHANGES'\""]);
    let notes = step("notes", "depends_on = [\"fix\", \"ship\"]");
    check_one("B29", &two_ends("", &notes), &["\"review.result == 'FAIL'\""]);
}

#[test]
fn b29_a_fix_that_something_follows_is_left_alone() {
    check_one("B29", &two_ends("permissions = \"reduced\"", ""), &[]);
    check_one("B29", &two_ends("max_retries = 2\non_fail = \"rescue\"", &step("rescue", "")), &[]);
    for more in
        ["\"fix\"]", "\"fix\"]\nresults = [\"A\", \"B\"]", "\"fix\", \"ship\"]\nresults = [\"A\", \"B\"]"]
    {
        check_one("B29", &two_ends("", &step("again", &format!("depends_on = [{more}"))), &[]);
    }
    check_one("B29", &two_ends("", "").replace("FAIL", "SMALL").replace("PASS", "LARGE"), &[]);
}

#[test]
fn b29_a_loop_behind_the_fix_judges_it() {
    let again = "depends_on = [\"fix\"]\ncondition = \"review.result == 'FAIL'\"\nmax_retries = 2\nrequeue = [\"review\"]\non_fail = \"rescue\"";
    check_one("B29", &two_ends("", &[step("again", again), step("rescue", "")].concat()), &[]);
}

const VERDICTS: &str = "results = [\"PASS\", \"FAIL\"]";

#[test]
fn c6c_a_step_that_reviews_has_reduced_permissions() {
    let reviewer = step("look", "role = \"reviewer\"");
    check_one("C6C", &reviewer, &["\"look\""]);
    check_one("C6C", &step("code-review", VERDICTS), &["\"code-review\""]);
    check_one("C6C", &step("review", &format!("{VERDICTS}\npermissions = \"reduced\"")), &[]);
    check_one("C6C", &step("test", &format!("role = \"worker\"\n{VERDICTS}")), &[]);
    check_one("C6C", &step("review", "results = [\"SMALL\", \"LARGE\"]"), &[]);
}

#[test]
fn c6d_a_step_that_works_has_full_permissions() {
    let reduced = "permissions = \"reduced\"";
    let review =
        step("review", "role = \"reviewer\"\ndepends_on = [\"work\"]\nresults = [\"PASS\", \"FAIL\"]");
    let work = |role: &str| step("work", &format!("role = \"{role}\"\n{reduced}"));
    check_one("C6D", &(work("worker") + &review), &["\"work\""]);
    check_one("C6D", &(work("planner") + &review), &[]);
    check_one("C6D", &work("worker"), &[]);
    let looped = format!(
        "role = \"worker\"\n{reduced}\ndepends_on = [\"review\"]\ncondition = \"review.result == 'FAIL'\""
    );
    let fix = step("fix", &format!("{looped}\nmax_retries = 2\non_fail = \"rescue\""));
    let rescue = step("rescue", &format!("role = \"worker\"\n{reduced}"));
    check_one("C6D", &[step("work", ""), review, fix, rescue].concat(), &["\"fix\""]);
}

#[test]
fn c87_a_prompt_asks_for_results_that_its_step_has() {
    let review = |prompt: &str, results: &str| {
        format!("[[steps]]\nid = \"review\"\nprompt = \"{prompt}\"\n{results}\n")
    };
    let fix = step("fix", "depends_on = [\"review\"]\ncondition = \"review.result == 'FAIL'\"");
    let approved = "Report APPROVED or REJECTED.";
    check_one("C87", &review(approved, VERDICTS), &["\"Report APPROVED or REJECTED.\""]);
    check_one("C87", &(review(approved, "") + &fix), &["\"Report APPROVED or REJECTED.\""]);
    check_one("C87", &review(approved, ""), &[]);
    check_one("C87", &review(approved, "results = [\"APPROVED\", \"REJECTED\"]"), &[]);
    check_one("C87", &review("Report PASS or FAIL.", VERDICTS), &[]);
    let call = "orange step complete --result OK";
    check_one("C87", &review(call, VERDICTS), &["\"orange step complete --result OK\""]);
}

#[test]
fn b31_a_program_says_no_and_a_step_reads_it() {
    let program = |rest: &str| format!("[[steps]]\nid = \"test\"\nrun = [\"make\"]\n{rest}\n");
    let reads = step("fix", "depends_on = [\"test\"]\ncondition = \"test.result == 'FAIL'\"");
    check_one("B31", &program(VERDICTS), &["\"FAIL\""]);
    check_one("B31", &(program(VERDICTS) + &reads), &[]);
    check_one("B31", &program("results = [\"PASS\"]"), &[]);
    check_one("B31", &step("test", VERDICTS), &[]);
}

#[test]
fn b37_a_question_about_changes_holds_steps() {
    let ask =
        |rest: &str| format!("[[steps]]\nid = \"ask\"\nask = \"Good?\"\ndepends_on = [\"a\"]\n{rest}\n");
    let b = step("b", "depends_on = [\"a\"]");
    check_one("B37", &(step("a", "") + &ask("") + &b), &["\"ask\""]);
    check_one("B37", &(step("a", "") + &ask("show = [\"context\"]") + &b), &[]);
    check_one("B37", &(step("a", "") + &b + &ask("")), &[]);
    check_one("B37", &(step("a", "") + &ask("") + &step("b", "depends_on = [\"ask\"]")), &[]);
}

#[test]
fn b38_silence_lets_steps_start() {
    let ask = |rest: &str| format!("[[steps]]\nid = \"ask\"\nask = \"Good?\"\ntimeout = 60\n{rest}\n");
    let after = |rest: &str| step("b", &format!("depends_on = [\"ask\"]\n{rest}"));
    let words = "answers = [\"now\", \"later\"]\non_timeout = \"later\"";
    check_one("B38", &(ask("on_timeout = \"approve\"") + &after("")), &["\"approve\""]);
    check_one("B38", &(ask("on_timeout = \"fail\"") + &after("")), &[]);
    check_one("B38", &(ask(words) + &after("condition = \"ask.result == 'now'\"")), &[]);
    check_one("B38", &(ask(words) + &after("condition = \"ask.result != 'now'\"")), &["\"later\""]);
}

/// A line of three steps under a cap.
fn capped(most: &str) -> String {
    let steps = [step("a", ""), step("b", "depends_on = [\"a\"]"), step("c", "depends_on = [\"b\"]")];
    format!("max_attempts = {most}\n{}", steps.concat())
}

#[test]
fn b39_a_cap_is_below_the_shortest_run() {
    check_one("B39", &capped("2"), &["2"]);
    check_one("B39", &capped("3"), &[]);
    check_one("B39", &format!("max_attempts = 2\n{}", capped("3").replace("max_attempts = 3", "")), &["2"]);
}

#[test]
fn b3a_a_cap_cuts_some_runs_and_not_all() {
    let looped = |most: u32| {
        let review = step("review", VERDICTS);
        let fix = "depends_on = [\"review\"]\ncondition = \"review.result == 'FAIL'\"\nmax_retries = 2";
        let ship = "depends_on = [\"review\"]\ncondition = \"review.result == 'PASS'\"";
        format!("max_attempts = {most}\n{review}{}{}", step("fix", fix), step("ship", ship))
    };
    check_one("B3A", &looped(3), &["3"]);
    check_one("B39", &looped(1), &["1"]);
    check_one("B3A", &looped(1), &[]);
    check_one("B3A", &looped(6), &[]);
}

/// One step with this prompt and demand, in a workflow with this one.
fn walled(of_all: &str, own: &str, prompt: &str) -> String {
    let key =
        |sandbox: &str| if sandbox.is_empty() { String::new() } else { format!("sandbox = {sandbox}\n") };
    format!("{}[[steps]]\nid = \"a\"\nprompt = \"{prompt}\"\n{}", key(of_all), key(own))
}

#[test]
fn c75_a_demand_of_a_step_changes_nothing() {
    let check =
        |of_all: &str, own: &str, expect: &[&str]| check_one("C75", &walled(of_all, own, "Do it."), expect);
    check("\"wall\"", "\"off\"", &["sandbox = \"off\""]);
    check("{ network = \"none\" }", "{ network = \"model\" }", &["sandbox = { network = \"model\" }"]);
    check("\"wall\"", "{ network = \"none\" }", &[]);
    check("", "\"off\"", &[]);
    check("\"wall\"", "", &[]);
}

#[test]
fn c8d_a_step_without_a_network_calls_for_it() {
    let check = |of_all: &str, own: &str, prompt: &str, count: usize| {
        let place = format!("\"{prompt}\"");
        check_one("C8D", &walled(of_all, own, prompt), &vec![&*place; count]);
    };
    check("{ network = \"none\" }", "", "Run npm install first.", 1);
    check("\"wall\"", "{ network = \"model\" }", "`git push` it.", 1);
    check("\"wall\"", "", "`git push` it.", 0);
    check("{ network = \"none\" }", "", "Do not think of git push.", 0);
}

#[test]
fn c8e_a_walled_step_calls_what_is_refused() {
    let check = |of_all: &str, prompt: &str, count: usize| {
        let place = format!("\"{prompt}\"");
        check_one("C8E", &walled(of_all, "", prompt), &vec![&*place; count]);
    };
    check("\"wall\"", "Run orange mission list.", 1);
    check("\"wall\"", "Run orange task create part x.", 1);
    check("\"wall\"", "Run orange mission show.", 0);
    check("", "Run orange mission list.", 0);
}
