//! Help, versions, pages, and arguments that make no sense.

use crate::scratch::Scratch;

#[track_caller]
fn refuses(args: &[&str], says: &str) {
    let run = Scratch::new().run(args);
    assert_eq!((run.exit, run.out.as_str()), (2, ""), "{}", run.err);
    assert!(run.err.contains(says), "{}", run.err);
}

#[test]
fn every_command_has_help_with_examples() {
    let scratch = Scratch::new();
    let help = scratch.run(&["--help"]).out;
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let list = list.lines().take_while(|it| !it.is_empty());
    let commands = list.filter_map(|it| it.strip_prefix("  ")?.split(' ').next());
    let mut asked = vec![vec!["--help"]];
    asked.extend(commands.filter(|it| !["", "help"].contains(it)).map(|it| vec![it, "--help"]));
    assert!(asked.len() > 10, "{help}");
    for args in asked {
        let run = scratch.run(&args);
        assert_eq!((run.exit, run.err.as_str()), (0, ""));
        assert!(run.out.contains("Examples:\n  orange-workflow "), "{}", run.out);
        assert!(run.out.lines().all(|it| it.chars().count() <= 100), "{}", run.out);
    }
}

#[test]
fn it_tells_its_version() {
    let run = Scratch::new().run(&["--version"]);
    assert_eq!(run.out, concat!("orange-workflow ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn wrong_arguments_are_refused_with_a_hint() {
    refuses(&[], "Usage: orange-workflow");
    refuses(&["chek"], "'check'");
    refuses(&["check"], "<PATH>");
    refuses(&["check", "--fromat", "json", "."], "'--format'");
    refuses(&["check", "--format", "jsn", "."], "'json'");
    refuses(&["explain"], "<CODE|NAME>");
}

#[test]
fn pages_are_found_by_code_and_by_name() {
    let scratch = Scratch::new();
    let page = scratch.run(&["explain", "A07"]);
    assert_eq!(page.exit, 0);
    assert!(page.out.starts_with("# A07 ambiguous-transitions\n"), "{}", page.out);
    assert_eq!(scratch.run(&["explain", "ambiguous-transitions"]).out, page.out);
    assert_eq!(scratch.run(&["explain", "a07"]).out, page.out);
}

#[test]
fn an_unknown_check_is_refused_with_the_closest_one() {
    refuses(&["explain", "ambigous-transitions"], "help: did you mean `ambiguous-transitions`?");
    refuses(&["explain", "zzz"], "help: `orange-workflow explain --list` lists them all");
}

#[test]
fn the_list_has_every_check_on_one_line_with_its_level() {
    let run = Scratch::new().run(&["explain", "--list"]);
    assert_eq!(run.exit, 0);
    let (checks, headings): (Vec<&str>, Vec<&str>) =
        run.out.lines().filter(|it| !it.is_empty()).partition(|it| it.starts_with("  "));
    let ambiguous = checks.iter().find(|it| it.starts_with("  A07  ambiguous-transitions ")).unwrap();
    assert!(ambiguous.contains("  error  Two transitions of one `from → to` pair"), "{ambiguous}");
    let levels = ["error", "deny", "warn", "info", "allow"];
    let has_level = |line: &str| line.split_whitespace().nth(2).is_some_and(|it| levels.contains(&it));
    assert!(checks.iter().all(|it| has_level(it)), "{}", run.out);
    assert!(headings.contains(&"Files, syntax and keys") && headings.len() < 12, "{headings:?}");
}
