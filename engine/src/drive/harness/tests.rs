//! Arguments and variables with which each harness is started.

use super::built_in::{KEEP_PATH, NO_OFFER, NO_UPDATE, USER_GIT_CONFIG};
use super::*;

fn named(name: &str) -> Harness {
    super::named(Path::new("/nowhere"), name).unwrap()
}

fn places() -> StartPaths<'static> {
    StartPaths {
        prompt: Path::new("/t/1.md"),
        task_dir: Path::new("/t"),
        worktree: Path::new("/w"),
        repo: Path::new("/r"),
        home: Path::new("/o"),
        orange: Path::new("/bin/orange"),
    }
}

#[track_caller]
fn check(name: &str, start: StartOptions<'_>, prompt: &str, expect: &[&str]) {
    let args = named(name).args(start, prompt.into(), places());
    assert_eq!(args, expect.iter().map(OsString::from).collect::<Vec<_>>());
}

const FULL: StartOptions<'static> = StartOptions {
    full: true,
    walled: false,
    reviews: false,
    consent: false,
    mcp: false,
    variables: "",
    report: false,
    effort: None,
    model: None,
    conversation: None,
};
const REDUCED: StartOptions<'static> = StartOptions { full: false, ..FULL };

#[test]
fn a_prompt_is_one_argument_whatever_it_says() {
    check(
        "claude",
        FULL,
        "a $(b)\n{prompt}",
        &["--permission-mode=bypassPermissions", "--", "a $(b)\n{prompt}"],
    );
    let bypass = "--dangerously-bypass-approvals-and-sandbox";
    check("codex", FULL, "go", &[bypass, KEEP_PATH, NO_UPDATE, NO_OFFER, "--", "go"]);
    let sandbox = [
        "--sandbox=workspace-write",
        "--ask-for-approval=on-request",
        KEEP_PATH,
        NO_UPDATE,
        NO_OFFER,
        "--",
        "go",
    ];
    check("codex", REDUCED, "go", &sandbox);
    check("opencode", FULL, "-x", &["--auto", "--prompt=\n-x"]);
    check("opencode", REDUCED, "x", &["--prompt=x"]);
    check("pi", REDUCED, "--help", &["\n--help"]);
    check("gemini", FULL, "-x", &["--approval-mode=yolo", "--prompt-interactive=\n-x"]);
    check("copilot", FULL, "go", &["--yolo", "--interactive=go"]);
    check("pi", REDUCED, "@secret", &["\n@secret"]);
}

#[test]
fn a_prompt_that_cannot_be_an_argument_is_named_by_its_file() {
    let pointer = "Read the file /t/1.md and do what it says: it is your prompt.";
    check("pi", FULL, &"x".repeat(1 << 20), &[pointer]);
    let long = "x".repeat(LONGEST_ARGUMENT - "--prompt=".len() + 1);
    check("opencode", REDUCED, &long, &[&format!("--prompt={pointer}")]);
    check("pi", FULL, "a\0b", &[pointer]);
    let longest = "x".repeat(LONGEST_ARGUMENT);
    check("pi", FULL, &longest, &[&longest]);
    let prompted = Harness { full: vec!["[\"{prompt:json}\"]".to_owned()], ..Harness::default() };
    let quotes = "\"".repeat(LONGEST_ARGUMENT / 2);
    assert_eq!(prompted.args(FULL, quotes.into(), places()), [format!("[\"{pointer}\"]").as_str()]);
}

#[test]
fn a_model_and_an_effort_come_first() {
    let start = StartOptions { model: Some("m"), effort: Some("high"), ..FULL };
    for harness in built_in() {
        let args = harness.args(start, b"go".to_vec(), places());
        assert_eq!(args[..2], ["--model", "m"], "{}", harness.name);
        assert_eq!(args.iter().any(|arg| arg.to_string_lossy().contains("high")), !harness.effort.is_empty());
    }
    assert!(named("pi").check_option("effort", &named("pi").effort, Some("high")).is_ok());
    let gemini = named("gemini");
    assert!(gemini.check_option("effort", &gemini.effort, None).is_ok());
    let refusal = gemini.check_option("effort", &gemini.effort, Some("high")).unwrap_err();
    assert_eq!(refusal.message, "the harness gemini has no option for `effort: high`");
    assert!(refusal.help.ends_with("its `effort`: [\"--effort\", \"{effort}\"]"), "{}", refusal.help);
}

#[test]
fn an_effort_of_a_step_is_a_word_of_the_harness() {
    for harness in built_in().iter().filter(|it| !it.effort.is_empty()) {
        let words = Effort::ALL.map(|it| harness.effort_word(it).unwrap_or_default().to_owned());
        assert_eq!(words[..3], ["low", "medium", "high"], "{}", harness.name);
        assert!(["max", "xhigh"].contains(&words[3].as_str()), "{}: {}", harness.name, words[3]);
    }
    let refusal = named("gemini").effort_word(Effort::Low).unwrap_err();
    assert_eq!(refusal.message, "the harness gemini has no option for `effort: low`");
    let plain = Harness { name: "own".to_owned(), max_effort: String::new(), ..named("pi") };
    assert_eq!(plain.effort_word(Effort::High), Ok("high"));
    assert_eq!(plain.effort_word(Effort::Max).unwrap_err().kind, ErrorKind::Refused);
}

#[test]
fn every_template_has_a_place_for_the_prompt() {
    for harness in built_in() {
        let count = |args: &[String], name| args.iter().map(|arg| template::count(arg, name)).sum::<usize>();
        for args in [&harness.full, &harness.reduced] {
            assert_eq!(count(args, template::Placeholder::Prompt), 1, "{}", harness.name);
        }
        assert!(harness.set.iter().all(|variable| variable.contains('=')), "{}", harness.name);
        let lists = [
            &harness.full,
            &harness.reduced,
            &harness.effort,
            &harness.model,
            &harness.consent,
            &harness.mcp,
        ];
        for args in lists.into_iter().chain([&harness.session, &harness.resume, &harness.set]) {
            assert_eq!(args.iter().find_map(|arg| template::flaw(arg)), None, "{}", harness.name);
        }
        assert!(harness.effort.is_empty() || count(&harness.effort, template::Placeholder::Effort) > 0);
    }
    let start = StartOptions { effort: Some("$(x)"), ..FULL };
    let args = named("codex").args(start, "go".into(), places());
    assert_eq!(args[..2], ["--config", "model_reasoning_effort=$(x)"].map(OsString::from));
}

#[test]
fn reduced_agents_may_call_orange_by_name_and_by_path() {
    for (name, at, calls) in [
        ("gemini", 1, ["run_shell_command(orange)", "run_shell_command(/bin/orange)"]),
        ("copilot", 1, ["shell(orange:*)", "shell(/bin/orange:*)"]),
    ] {
        let args = named(name).args(REDUCED, "go".into(), places());
        let allowed = args[at..args.len() - 1].join(OsStr::new(" ")).into_string().unwrap();
        assert!(calls.iter().all(|call| allowed.contains(call)), "{allowed}");
    }
}

#[test]
fn variables_that_are_set_have_placeholders() {
    let variables = |harness: &Harness| -> Vec<String> {
        let pairs = harness.variables(FULL, places(), |_| false).into_iter();
        pairs.map(|(name, value)| format!("{name}={}", value.to_str().unwrap())).collect()
    };
    assert_eq!(variables(&named("gemini")), USER_GIT_CONFIG);
    let set = ["A={task_dir}/a=b", "B="].map(str::to_owned).to_vec();
    assert_eq!(variables(&Harness { set, ..Harness::default() }), ["A=/t/a=b", "B="]);
}

#[test]
fn consent_is_an_argument_of_the_same_spawn() {
    let start = StartOptions { consent: true, ..FULL };
    let settings = r#"--settings={"skipDangerousModePermissionPrompt":true}"#;
    check("gemini", start, "go", &["--skip-trust", "--approval-mode=yolo", "--prompt-interactive=go"]);
    check("claude", start, "go", &[settings, "--permission-mode=bypassPermissions", "--", "go"]);
    let repo = StartPaths { repo: Path::new("/r \"1\"\\"), ..places() };
    let args = named("codex").args(start, "go".into(), repo);
    assert_eq!(
        args[..2],
        ["--config", r#"projects={"/r \"1\"\\"={trust_level="trusted"}}"#].map(OsString::from)
    );
}

#[test]
fn a_server_of_tools_is_an_argument_of_the_same_spawn() {
    let start = StartOptions { mcp: true, variables: r#""HOME","API_KEY""#, ..FULL };
    let places = StartPaths { orange: Path::new("/a \"b\"/orange"), ..places() };
    let args = named("claude").args(start, "go".into(), places);
    let server = args[0].to_str().unwrap().strip_prefix("--mcp-config=").unwrap();
    let server: serde_json::Value = serde_json::from_str(server).unwrap();
    assert_eq!(server["mcpServers"]["orange"]["command"], "/a \"b\"/orange");
    let args = named("codex").args(start, "go".into(), places);
    assert_eq!(args[0], "--config");
    assert!(args[1].to_str().unwrap().contains(r#"command="/a \"b\"/orange",args=["mcp"]"#), "{args:?}");
    assert!(
        args[1].to_str().unwrap().contains(r#""ORANGE_SECRET","ORANGE_PROGRAM","HOME","API_KEY"]"#),
        "{args:?}"
    );
    check("pi", start, "go", &["go"]);
}

#[test]
fn a_reviewer_has_its_own_command_and_a_prompt_its_file() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let harness = Harness {
        full: words(&["--file={prompt_file}"]),
        reduced: words(&["{prompt}"]),
        review: Some(words(&["review", "{prompt}"])),
        ..Harness::default()
    };
    let args = |start| harness.args(start, "go".into(), places());
    assert_eq!(args(FULL), ["--file=/t/1.md"]);
    assert_eq!(args(StartOptions { reviews: true, effort: Some("high"), ..FULL }), ["review", "go"]);
    assert_eq!(args(REDUCED), ["go"]);
}

#[test]
fn what_is_missing_says_how_to_get_it() {
    let error = named("claude").check(OsStr::new("/no/such/folder")).unwrap_err();
    assert!(error.help.contains("npm install"), "{error}");
}

#[test]
fn a_conversation_is_begun_or_continued() {
    let new = StartOptions { conversation: Some(ConversationStart::New("1-2")), ..FULL };
    let resumed = StartOptions { conversation: Some(ConversationStart::Resumed("1-2")), ..FULL };
    let bypass = "--permission-mode=bypassPermissions";
    check("claude", new, "go", &["--session-id=1-2", bypass, "--", "go"]);
    check("claude", resumed, "go", &["--resume=1-2", bypass, "--", "go"]);
    let bypass = "--dangerously-bypass-approvals-and-sandbox";
    check("codex", new, "go", &[bypass, KEEP_PATH, NO_UPDATE, NO_OFFER, "--", "go"]);
    check("codex", resumed, "go", &["resume", "1-2", bypass, KEEP_PATH, NO_UPDATE, NO_OFFER, "--", "go"]);
    check("pi", resumed, "go", &["--session", "1-2", "go"]);
    check("opencode", resumed, "go", &["--auto", "--prompt=go"]);
}

#[test]
fn plugins_are_named_by_an_argument_or_a_variable() {
    let reporting = StartOptions { report: true, ..FULL };
    check("pi", reporting, "go", &["--extension", "/t/reporting/pi.js", "go"]);
    let opencode = named("opencode");
    let places = StartPaths { task_dir: Path::new("/a \"b"), ..places() };
    let value = OsString::from(r#"{"plugin":["/a \"b/reporting/opencode.js"]}"#);
    let plugin = ("OPENCODE_CONFIG_CONTENT", value);
    let retries = ("npm_config_fetch_retries", OsString::from("0"));
    let timeout = ("npm_config_fetch_timeout", OsString::from("20000"));
    let nothing_is_set = |_: &str| false;
    let found = opencode.variables(reporting, places, nothing_is_set);
    assert_eq!(found, [plugin.clone(), retries.clone(), timeout]);
    let a_person_has_set = |name: &str| name == "npm_config_fetch_timeout";
    assert_eq!(opencode.variables(reporting, places, a_person_has_set), [plugin, retries]);
    assert_eq!(opencode.variables(FULL, places, nothing_is_set), []);
    let drops =
        |(name, value)| include_str!("reporting/opencode.js").contains(&format!("[\"{name}\", \"{value}\"]"));
    assert!(pairs(&opencode.report_defaults).all(drops), "the plugin drops others");
}

#[test]
fn a_harness_that_cannot_report_says_why() {
    let nobody = |_: &str| false;
    let why = |name: &str, is_set: fn(&str) -> bool| named(name).why_silent(OsStr::new("/nowhere"), is_set);
    assert_eq!(why("claude", nobody), None);
    assert_eq!(why("opencode", nobody), None);
    assert_eq!(why("gemini", nobody).unwrap(), "gemini is given nothing to report with");
    let set = why("opencode", |name| name == "OPENCODE_CONFIG_CONTENT").unwrap();
    assert!(set.contains("OPENCODE_CONFIG_CONTENT is set"), "{set}");
    assert!(why("codex", nobody).unwrap().contains("is not a version of codex"));
}
