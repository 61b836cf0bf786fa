//! `check`: finds errors in workflows.

use std::path::Path;

use crate::answer::{Answer, Exit, Failure};
use crate::args::{self, FindingFormat};
use crate::baseline::Baseline;
use crate::cache::Cache;
use crate::cmd::{mend, watch};
use crate::config::Configs;
use crate::input::{self, CollectedInputs, Input};
use crate::json::{self, CheckAnswer, Counts};
use crate::levels::{self, Levels};
use crate::output::{self, printable, put};
use crate::report::{Report, Skipped};
use crate::screen::Styles;

/// The settings that give findings their levels, and what is known of texts.
struct CheckRules {
    cache: Cache,
    configs: Configs,
    flags: Levels,
    baseline: Option<Baseline>,
}

pub(super) fn run(args: &args::CheckArgs, styles: Styles) -> Result<Answer, Answer> {
    if args.watch {
        return Ok(watch::run(args, styles.out.is_terminal, || once(args, styles))?);
    }
    once(args, styles)
}

fn once(args: &args::CheckArgs, styles: Styles) -> Result<Answer, Answer> {
    let flags = Levels::of_flags(args)?;
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    let CollectedInputs { mut inputs, mut failures } =
        input::collect(&args.paths, args.stdin_name.as_deref());
    let mut configs = if args.no_config { Configs::default() } else { Configs::of(&inputs) };
    failures.extend(configs.take_failures());
    let cache = if args.no_cache { Cache::default() } else { Cache::of_user() };
    let rules = CheckRules { cache, configs, flags, baseline };
    let mending = mend::run(args, &mut inputs, |inputs| rules.examine(inputs));
    failures.extend(mending.failures);
    let mut report = rules.examine(&inputs);
    if report.files.is_empty() && failures.is_empty() {
        failures.push(nothing_to_check(args));
    }
    let mut err = mending.err + &skipped(&report.skipped) + &rules.gone(&report, args);
    if let Some(path) = &args.write_baseline {
        match write_baseline(path, &mut report, failures.is_empty()) {
            Ok(said) => err += &said,
            Err(failure) => failures.push(failure),
        }
    }
    err.extend(failures.iter().map(Failure::to_string));
    let mut out =
        if report.files.is_empty() { String::new() } else { written(&report, &failures, args, styles)? };
    if let Some(shown) = mending.out {
        if !args.diff {
            err += &out;
        } else if report.counts() != Counts::default() {
            put(&mut err, format_args!("would be left: {}\n", output::in_words(report.counts())));
        }
        out = shown;
    }
    rules.cache.save();
    let exit = if !failures.is_empty() {
        Exit::Failed
    } else if report.fails() && !args.exit_zero {
        Exit::Found
    } else {
        Exit::Clean
    };
    Ok(Answer { out, err, exit })
}

impl CheckRules {
    /// The findings of these inputs with their levels, without the known ones.
    fn examine(&self, inputs: &[Input]) -> Report {
        let mut report = Report::new(inputs, &self.cache);
        for file in &mut report.files {
            levels::apply(&self.levels(&file.source.path), &mut file.compilation.diagnostics);
            file.docs = self.configs.docs(&file.source.path).cloned();
        }
        if let Some(baseline) = &self.baseline {
            baseline.apply(&mut report);
        }
        report
    }

    /// The levels for a file, the weightiest last.
    fn levels(&self, path: &str) -> Vec<&Levels> {
        let mut places = self.configs.levels(path);
        places.push(&self.flags);
        places
    }

    /// Entries of the baseline that match nothing.
    fn gone(&self, report: &Report, args: &args::CheckArgs) -> String {
        let (Some(baseline), Some(path)) = (&self.baseline, &args.baseline) else { return String::new() };
        let gone: Vec<_> = report.gone.iter().cloned().chain(baseline.of_missing_files()).collect();
        let mut out = String::new();
        for line in &gone {
            put(&mut out, format_args!("no longer found: {}\n", printable(line)));
        }
        if !gone.is_empty() {
            let path = path.display();
            put(&mut out, format_args!("  help: write the baseline again with --write-baseline {path}\n"));
        }
        out
    }
}

/// Writes the findings to the baseline, so that later runs leave them out.
fn write_baseline(path: &Path, report: &mut Report, is_whole: bool) -> Result<String, Failure> {
    let shown = path.display();
    if !is_whole {
        let message = format!("{shown} is not written: not everything could be checked");
        return Err(Failure::new(message, "correct the other findings first"));
    }
    let baseline = Baseline::of(report, path);
    baseline.write(path)?;
    baseline.apply(report);
    let count = baseline.len();
    Ok(format!("wrote {count} {} to {shown}\n", if count == 1 { "finding" } else { "findings" }))
}

fn written(
    report: &Report,
    failures: &[Failure],
    args: &args::CheckArgs,
    styles: Styles,
) -> Result<String, Failure> {
    let statistics = args.statistics.then(|| output::statistics(report));
    match (args.format, statistics) {
        (FindingFormat::Json, statistics) => {
            json::written(&CheckAnswer { statistics, ..CheckAnswer::new(report) })
        }
        (FindingFormat::Human, Some(statistics)) => {
            Ok(output::table(&statistics) + &output::summary(report) + "\n")
        }
        (_, Some(_)) => Err(Failure::new(
            "--statistics has no form in this format",
            "leave `--format` out, or write `--format json`",
        )),
        (format, None) => shown(report, failures, format, styles),
    }
}

fn shown(
    report: &Report,
    failures: &[Failure],
    format: FindingFormat,
    styles: Styles,
) -> Result<String, Failure> {
    match format {
        FindingFormat::Human => Ok(output::human(report, styles.out)),
        FindingFormat::Graphical => Ok(output::human(report, styles.out.drawn())),
        FindingFormat::Narrated => Ok(output::human(report, styles.out.narrated())),
        FindingFormat::Short => Ok(output::short(report)),
        FindingFormat::Json => json::written(&CheckAnswer::new(report)),
        FindingFormat::Sarif => output::sarif(report, failures),
        FindingFormat::Github => Ok(output::github(report)),
        FindingFormat::Gitlab => output::gitlab(report),
        FindingFormat::Rdjson => output::rdjson(report),
        FindingFormat::Junit => Ok(output::junit::findings(report, failures)),
    }
}

fn skipped(skipped: &[Skipped]) -> String {
    let mut out = String::new();
    for file in skipped {
        put(&mut out, format_args!("skipped {}: {}\n", printable(&file.path), file.reason()));
    }
    out
}

fn nothing_to_check(args: &args::CheckArgs) -> Failure {
    let paths: Vec<String> = args.paths.iter().map(|it| it.display().to_string()).collect();
    Failure::new(
        format!("no workflow found in {}", paths.join(", ")),
        "name a file, or a folder with *.yml, *.yaml or *.toml files that have `states` or `steps`",
    )
}
