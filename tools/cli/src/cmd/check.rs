//! `check`: finds what is wrong with workflows.

use crate::answer::{Answer, Exit, Failure};
use crate::args::{self, Format};
use crate::input::{self, Collected};
use crate::levels::Levels;
use crate::output::{self, printable, put};
use crate::report::{Report, Skipped};
use crate::{Style, Styles};

pub(super) fn run(args: &args::Check, styles: Styles) -> Result<Answer, Answer> {
    let levels = Levels::new(args)?;
    let Collected { inputs, mut failures } = input::collect(&args.paths, args.stdin_name.as_deref());
    let mut report = Report::new(&inputs);
    for file in &mut report.files {
        levels.apply(&mut file.compilation.diagnostics);
    }
    let mut err = skipped(&report.skipped);
    if report.files.is_empty() && failures.is_empty() {
        failures.push(nothing_to_check(args));
    }
    err.extend(failures.iter().map(Failure::to_string));
    let out = if report.files.is_empty() { String::new() } else { written(&report, args.format, styles)? };
    let exit = if !failures.is_empty() {
        Exit::Failed
    } else if report.fails() && !args.exit_zero {
        Exit::Found
    } else {
        Exit::Clean
    };
    Ok(Answer { out, err, exit })
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
