//! `check`: finds what is wrong with workflows.

use crate::answer::{Answer, Exit, Failure};
use crate::args::{self, Format};
use crate::cmd::mend;
use crate::config::Configs;
use crate::input::{self, Collected, Input};
use crate::levels::{self, Levels};
use crate::output::{self, printable, put};
use crate::report::{Report, Skipped};
use crate::{Style, Styles};

pub(super) fn run(args: &args::Check, styles: Styles) -> Result<Answer, Answer> {
    let flags = Levels::of_flags(args)?;
    let Collected { mut inputs, mut failures } = input::collect(&args.paths, args.stdin_name.as_deref());
    let mut configs = if args.no_config { Configs::default() } else { Configs::of(&inputs) };
    failures.extend(configs.take_failures());
    let examine = |inputs: &[Input]| examined(inputs, &configs, &flags);
    let mending = mend::run(args, &mut inputs, examine);
    failures.extend(mending.failures);
    let report = examine(&inputs);
    let mut err = mending.err + &skipped(&report.skipped);
    if report.files.is_empty() && failures.is_empty() {
        failures.push(nothing_to_check(args));
    }
    err.extend(failures.iter().map(Failure::to_string));
    let mut out =
        if report.files.is_empty() { String::new() } else { written(&report, args.format, styles)? };
    if let Some(shown) = mending.out {
        if !args.diff {
            err += &out;
        }
        out = shown;
    }
    let exit = if !failures.is_empty() {
        Exit::Failed
    } else if report.fails() && !args.exit_zero {
        Exit::Found
    } else {
        Exit::Clean
    };
    Ok(Answer { out, err, exit })
}

/// What is wrong with these inputs, each finding at its level.
fn examined(inputs: &[Input], configs: &Configs, flags: &Levels) -> Report {
    let mut report = Report::new(inputs);
    for file in &mut report.files {
        let mut places = configs.levels(&file.source.path);
        places.push(flags);
        levels::apply(&places, &mut file.compilation.diagnostics);
    }
    report
}

fn written(report: &Report, format: Format, styles: Styles) -> Result<String, Failure> {
    match format {
        Format::Human => Ok(output::human(report, styles.out)),
        Format::Graphical => Ok(output::human(report, styles.out.drawn())),
        Format::Narrated => Ok(output::human(report, Style::Narrated)),
        Format::Short => Ok(output::short(report)),
        Format::Json => output::json(report),
    }
}

fn skipped(skipped: &[Skipped]) -> String {
    let mut out = String::new();
    for Skipped { path, almost } in skipped {
        let path = printable(path);
        let why = if *almost { ", though almost one: name it to have it checked" } else { "" };
        put(&mut out, format_args!("skipped {path}: no workflow{why}\n"));
    }
    out
}

fn nothing_to_check(args: &args::Check) -> Failure {
    let paths: Vec<String> = args.paths.iter().map(|it| it.display().to_string()).collect();
    Failure::new(
        format!("no workflow found in {}", paths.join(", ")),
        "name a file, or a folder with *.yml, *.yaml or *.toml files that have `states` or `steps`",
    )
}
