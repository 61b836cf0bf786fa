//! Valid contents of a configuration, and the messages about a wrong one.

use orange_codegen::{Level, catalogue};

use super::read::read;

/// The level that `yaml-trap` gets in this configuration, for the file `drafts/a.yml`.
#[track_caller]
fn level(text: &str, expect: Level) {
    let (config, failures) = read("orange-workflow.toml", text.to_owned());
    assert!(failures.is_empty(), "{failures:?}");
    let fitting = config.paths.iter().filter(|it| it.files.iter().any(|it| it.fits("drafts/a.yml")));
    let layers = std::iter::once(&config.lints).chain(fitting.map(|it| &it.lints));
    let level = layers.fold(Level::Warn, |level, layer| layer.of(&catalogue::S07, level));
    assert_eq!(level, expect, "{text}");
}

#[track_caller]
fn refuses(text: &str, expect: &str) {
    let (_, failures) = read("orange-workflow.toml", text.to_owned());
    let said: String = failures.iter().map(ToString::to_string).collect();
    assert!(said.starts_with("error: orange-workflow.toml:"), "{said}");
    assert!(said.contains(expect), "{said}");
}

#[test]
fn levels() {
    level("", Level::Warn);
    level("lints = {}", Level::Warn);
    level("[lints]\nyaml-trap = 'deny'", Level::Deny);
    level("[lints]\nS07 = \"info\"", Level::Info);
    level("[lints]\nyaml-trap = { level = 'allow', reason = 'ours' }", Level::Allow);
    level("[lints]\nwarnings = 'deny'", Level::Deny);
    level("[lints]\nwarnings = 'deny'\nyaml-trap = 'warn'", Level::Warn);
}

#[test]
fn levels_for_paths() {
    level("[[paths]]\nfiles = 'drafts'\nlints = { yaml-trap = 'allow' }", Level::Allow);
    level("[lints]\nyaml-trap = 'deny'\n[[paths]]\nfiles = ['drafts/*']\nlints.S07 = 'info'", Level::Info);
    level("[[paths]]\nfiles = ['old/*']\nlints.S07 = 'info'", Level::Warn);
    let twice =
        "[[paths]]\nfiles = 'drafts'\nlints.S07 = 'info'\n[[paths]]\nfiles = '**/a.yml'\nlints.S07 = 'deny'";
    level(twice, Level::Deny);
}

#[test]
fn an_error_is_reported_with_its_place() {
    refuses("[lint]\n", "toml:1:2: unknown key `lint`\n  help: did you mean `lints`?");
    refuses(
        "[lints]\nyaml-trp = 'warn'",
        "toml:2:1: there is no check `yaml-trp`\n  help: did you mean `yaml-trap`?",
    );
    refuses("[lints]\nyaml-trap = 'wran'", "toml:2:13: this is not a level\n  help: did you mean `warn`?");
    refuses("[lints]\nyaml-trap = 3", "this is not a level\n  help: write \"allow\"");
    refuses("[lints]\nunknown-to = 'allow'", "toml:2:1: `unknown-to` is an error, which");
    refuses("[lints]\nwarnings = 'allow'", "toml:2:12: `warnings` takes `deny`");
    refuses("[lints]\nyaml-trap = { reason = 'x' }", "a level is missing here");
    refuses("[lints]\nyaml-trap = 'warn'\nS07 = 'deny'", "toml:3:1: `yaml-trap` is given two levels");
    refuses("lints = 3", "`lints` takes a table");
    refuses("[paths]\nfiles = 'a'", "`paths` takes a list\n  help: write `[[paths]]`");
    refuses("[[paths]]\nlints = {}", "`paths` needs the key `files`");
    refuses("[[paths]]\nfiles = '../a'", "toml:2:9: a pattern is for paths below");
    refuses("[[paths]]\nfile = 'a'", "unknown key `file`\n  help: did you mean `files`?");
    refuses("docs = 'docs/lints'", "toml:1:8: `docs` takes the URL of published pages, with `{name}`");
    refuses("[lints\n", "toml:1:");
    refuses("[lints]\nyaml-trap = 'warn'\nyaml-trap = 'warn'", "toml:3:1: the key `yaml-trap`");
}

#[test]
fn all_errors_are_reported_at_once() {
    let (config, failures) =
        read("x.toml", "[lints]\nx1 = 'warn'\nyaml-trap = 'deny'\nb1 = 'no'\n".to_owned());
    assert_eq!(failures.len(), 2);
    assert_eq!(config.lints.of(&catalogue::S07, Level::Warn), Level::Deny);
}

#[test]
fn the_one_on_the_page_is_right() {
    let page = include_str!("../../../../docs/linting.md");
    let blocks: Vec<&str> = page.split("```toml\n").skip(1).filter_map(|it| it.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let (config, failures) = read("orange-workflow.toml", block.to_owned());
        assert!(failures.is_empty(), "{failures:?}");
        assert_eq!(config.lints.of(&catalogue::S07, Level::Warn), Level::Deny);
    }
}
