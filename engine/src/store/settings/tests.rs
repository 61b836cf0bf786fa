//! `orange.toml` is read as a person means it, and errors name the line.

use std::path::Path;

use orange_core::intake::IntakeAuthors;

use super::*;
use crate::ErrorKind;

fn read(text: &str) -> crate::Result<Settings> {
    parse(Path::new("orange.toml"), text.as_bytes())
}

#[track_caller]
fn check_flaw(text: &str, line: u32, part: &str) {
    let error = read(text).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Corrupt);
    assert!(error.message.starts_with(&format!("orange.toml:{line}: ")), "{error}");
    assert!(error.message.contains(part), "{error}");
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn every_key_is_read() {
    let settings = read(
        "copy = ['.env', 'config/local']\nlink = ['node_modules']\nreclaim_when_waiting = true\n\
         environment = ['API_KEY']\n\
         [[setup]]\nargv = ['npm', 'ci']\n[[setup]]\nargv = ['make']\ntimeout = 5\n\
         [ports]\nbase = 4_000\nper_slot = 0x4\n[harness]\ntask = 'claude'\nreview = 'codex'\n\
         [merge]\nstrategy = 'squash'\nsync = 'rebase'\ninto = 'next'\nmessage = 'commits'\n\
         coauthors = false\npush = false\nkeep = true\n[forge]\nkind = 'gitlab'\n\
         [feedback]\nauthors = ['ada']\nbots = ['helper']\nresolve = 'bots'\npatience = 20\n",
    );
    let expect = Settings {
        copy: Some(words(&[".env", "config/local"])),
        link: Some(words(&["node_modules"])),
        setup: Some(vec![
            WorktreeProgram { argv: words(&["npm", "ci"]), timeout: TIMEOUT },
            WorktreeProgram { argv: words(&["make"]), timeout: 5 },
        ]),
        ports: Some(Ports { base: 4000, per_slot: 4 }),
        harness: Some("claude".to_owned()),
        review_harness: Some("codex".to_owned()),
        reclaim_when_waiting: Some(true),
        environment: Some(words(&["API_KEY"])),
        merge: MergeSettings {
            strategy: Some(Strategy::Squash),
            sync: Some(Strategy::Rebase),
            into: Some("next".to_owned()),
            message: Some(MessageForm::Commits),
            coauthors: Some(false),
            push: Some(false),
            keep: Some(true),
        },
        forge: Some(ForgeKind::GitLab),
        feedback: FeedbackSettings {
            authors: Some(Authors::Logins(words(&["ada"]))),
            bots: Some(words(&["helper"])),
            resolve: Some(Resolve::Bots),
            patience: Some(20),
        },
        ..Settings::default()
    };
    assert_eq!(settings.unwrap(), expect);
    assert!(read("# nothing\n").unwrap().is_empty());
}

#[test]
fn authors_are_a_word_or_a_list() {
    assert_eq!(read("[feedback]\nauthors = 'write'\n").unwrap().feedback.authors, Some(Authors::Write));
    for (authors, json) in [
        (Authors::Write, r#"{"feedback":{"authors":"write"}}"#),
        (Authors::Logins(words(&["ada"])), r#"{"feedback":{"authors":["ada"]}}"#),
    ] {
        let feedback = FeedbackSettings { authors: Some(authors), ..FeedbackSettings::default() };
        let settings = Settings { feedback, ..Settings::default() };
        assert_eq!(serde_json::to_string(&settings).unwrap(), json);
        assert_eq!(serde_json::from_str::<Settings>(json).unwrap(), settings);
    }
    assert!(serde_json::from_str::<Settings>(r#"{"feedback":{"authors":"all"}}"#).is_err());
}

#[test]
fn a_wrong_key_is_reported_with_its_line() {
    check_flaw("copy = []\nlnik = []", 2, "did you mean `link`?");
    check_flaw("[ports]\nbase = 4000\nper_slto = 1", 3, "did you mean `per_slot`?");
    check_flaw("[harness]\nreviews = 'codex'", 2, "did you mean `review`?");
    check_flaw("[[setup]]\nargv = ['a']\n[[setup]]\nargs = ['a']", 4, "did you mean `argv`?");
    check_flaw("other = 1", 1, "the keys are: copy, link");
}

#[test]
fn a_wrong_value_is_reported_with_its_line() {
    check_flaw("copy = '.env'", 1, "list of paths");
    check_flaw("environment = 'KEY'", 1, "list of names");
    check_flaw("environment = [\n'KEY=1']", 2, "not a name of a variable");
    check_flaw("copy = [1]", 1, "list of paths");
    check_flaw("\nreclaim_when_waiting = 'yes'", 2, "true or false");
    check_flaw("[feedback]\nauthors = 'anyone'", 2, "\"write\" or a list");
    check_flaw("[feedback]\nauthors = ['write']", 2, "stands alone");
    check_flaw("[feedback]\nbots = [\n'@helper']", 3, "without `@`");
    check_flaw("[feedback]\nresolve = 'always'", 2, "never, bots, all");
    check_flaw("[feedback]\npatience = '15m'", 2, "`patience` is a whole number");
    check_flaw("[merge]\nsync = 'squash'", 2, "merge, rebase");
    check_flaw("[merge]\nmessage = 'poem'", 2, "summary, commits");
    check_flaw("[merge]\ninto = ''", 2, "name of a branch");
    check_flaw("[merge]\npush = 'no'", 2, "true or false");
    check_flaw("[merge]\nstrategy = 'octopus'", 2, "ff, merge, squash, rebase, auto");
    check_flaw("[forge]\nkind = 'sourceforge'", 2, "github, gitlab");
    check_flaw("[setup]\nargv = ['a']", 1, "[[setup]]");
    check_flaw("[[setup]]\nargv = 'npm ci'", 2, "list of strings");
    check_flaw("[[setup]]\ntimeout = 1", 1, "has a program");
    check_flaw("[[setup]]\nargv = ['']", 1, "is a program");
    check_flaw("[[setup]]\nargv = ['a']\ntimeout = -1", 3, "negative");
    check_flaw("[[setup]]\nargv = ['a']\ntimeout = 0", 1, "seconds");
    check_flaw("[[setup]]\nargv = ['a']\ntimeout = 1.5", 3, "whole number");
    check_flaw("[ports]\nper_slot = 1", 1, "`base`");
    check_flaw("[ports]\nbase = 80", 1, "1024");
    check_flaw("[ports]\nbase = 70000", 1, "65535");
    check_flaw("[ports]\nbase = 4000\nper_slot = 0", 1, "1 to 100");
    check_flaw("[ports]\nbase = 99999999999", 2, "whole number");
    check_flaw("[harness]\ntask = 1", 2, "one string");
    check_flaw("[harness]\ntask = ''", 2, "name of a harness");
    check_flaw("harness = 'claude'", 1, "is a table");
    check_flaw("copy = [", 1, "");
}

#[test]
fn a_path_outside_of_the_repository_is_refused() {
    for path in ["/etc/passwd", "../.env", "a/../../b", "", ".", "./.env", ".git/config", "a/.GIT/x"] {
        check_flaw(&format!("copy = [\n'.env',\n'{path}']"), 3, "`");
        assert!(flaw_of_path(path).is_some(), "{path}");
    }
    for own in ["TASK.md", ".orange", ".orange/1", "orange.toml"] {
        assert!(flaw_of_path(own).unwrap().contains("Orange's own"), "{own}");
    }
    for path in [".env", "a/b", ".github", "node_modules", "a b", "..env"] {
        assert_eq!(flaw_of_path(path), None, "{path}");
    }
}

#[test]
fn no_two_worktrees_have_the_same_port() {
    let ports = Ports::new(4000, 10).unwrap();
    let of = |number| ports.of_slot(number).map(|range| (range.first, range.last));
    assert_eq!(of(1), Some((4000, 4009)));
    assert_eq!(of(2), Some((4010, 4019)));
    assert_eq!(of(0), None);
    assert_eq!(Ports::new(65_530, 6).unwrap().of_slot(1).map(|range| range.last), Some(65_535));
    for (base, per_slot, number) in [(65_530, 6, 2), (65_530, 7, 1), (1024, 100, u32::MAX)] {
        assert_eq!(Ports::new(base, per_slot).unwrap().of_slot(number), None);
    }
}

#[test]
fn an_intake_and_a_schedule_are_read_with_their_defaults() {
    let text = "[agent]\nenv_deny = ['NPM_TOKEN']\n[[intake]]\nlabel = 'agent'\n[[intake]]\nlabel = 'bug'\nauthors = 'anyone'\n\
        labelled_by = ['ada']\nspawn = true\nmax_open = 1\nmax_per_day = 2\ncomment = false\nworkflow = 'w'\nbudget = {cost = 5}\n\
        [[schedule]]\nname = 'triage'\ncron = '0 7 * * 1-5'\ntz = 'Europe/Berlin'\nmission = 'm'\ngrace = '2h'\n";
    let settings = parse(Path::new("orange.toml"), text.as_bytes()).unwrap();
    assert_eq!(settings.env_deny, Some(vec!["NPM_TOKEN".to_owned()]));
    let intake = settings.intake.unwrap();
    assert_eq!(intake[0], IntakeSettings { label: "agent".to_owned(), ..IntakeSettings::default() });
    let bug = &intake[1];
    assert_eq!((bug.spawn, bug.comment, bug.max_open, bug.max_per_day), (true, false, 1, 2));
    assert_eq!((&bug.authors, bug.budget.unwrap().written().as_str()), (&IntakeAuthors::Anyone, "cost=5"));
    let schedule = settings.schedule.unwrap().remove(0);
    assert_eq!((schedule.name.as_str(), schedule.grace, schedule.prompt), ("triage", 7200, None));
}

#[test]
fn a_flaw_of_an_intake_or_a_schedule_names_its_line() {
    check_flaw("intake = 'agent'", 1, "[[intake]]");
    check_flaw("[[intake]]\nspawn = true", 1, "has a `label`");
    check_flaw("[[intake]]\nlabel = ' '", 2, "one line");
    check_flaw("[[intake]]\nlabel = 'a'\n[[intake]]\nlabel = 'A'", 3, "has another [[intake]]");
    check_flaw("[[intake]]\nlabel = 'a'\nauthor = 'write'", 3, "`author` is not a key here");
    check_flaw("[[intake]]\nlabel = 'a'\nauthors = 'all'", 3, "or \"anyone\"");
    check_flaw("[[intake]]\nlabel = 'a'\nlabelled_by = 'anyone'", 3, "\"write\" or a list");
    check_flaw("[[intake]]\nlabel = 'a'\nmax_open = 0", 3, "from 1 to 1000");
    check_flaw("[[intake]]\nlabel = 'a'\nbudget = {money = 5}", 3, "`money` is not a key here");
    check_flaw("[agent]\nenv_deny = ['A=1']", 2, "name of a variable");
    check_flaw("[[schedule]]\ncron = '0 7 * * *'\nmission = 'm'", 1, "has a `name`");
    check_flaw("[[schedule]]\nname = 'a'\nmission = 'm'", 1, "has its times");
    check_flaw("[[schedule]]\nname = 'a'\ncron = '0 7 * * *'", 1, "has a `mission`");
    check_flaw("[[schedule]]\nname = 'a@b'", 2, "letters, digits");
    check_flaw("[[schedule]]\nname = 'a'\ncron = '0 25 * * *'", 3, "`25` is not a valid hour");
    check_flaw("[[schedule]]\nname = 'a'\ntz = '../etc'", 3, "Europe/Berlin");
    check_flaw("[[schedule]]\nname = 'a'\ngrace = '8d'", 3, "up to a week");
    check_flaw("[[schedule]]\nname = 'a'\nmissed = 'all'", 3, "skip, once");
}
