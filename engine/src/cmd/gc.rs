//! `orange gc`: lists and removes what finished tasks have left.

use crate::app::App;
use crate::cmd::answer::{CommandAnswer, table};
use crate::cmd::args::GcArgs;
use crate::flow::garbage::{self, Garbage, LeftoverKind, LeftoverSelection};
use crate::store::projects;
use crate::{Error, ErrorKind, Result};
use orange_api::Removal;
use orange_system::files::size;

/// Lists what can be removed, and removes it with `--yes`.
pub fn run(app: &App, args: &GcArgs) -> Result<CommandAnswer> {
    if args.yes {
        app.caller.check_person("remove what tasks have left")?;
    }
    if let Some(name) = &args.project {
        projects::get(&app.home, name)?;
    }
    let kind = args.kind.as_deref().and_then(LeftoverKind::named);
    let wanted = LeftoverSelection {
        project: args.project.as_deref(),
        kind,
        days: args.older_than,
        is_automatic: false,
    };
    let found = garbage::find(app, &wanted)?;
    let outcome = |one: &Garbage| if args.yes { garbage::remove(app, one).err() } else { None };
    let failures: Vec<Option<Error>> = found.iter().map(outcome).collect();
    let removals = found.iter().zip(&failures);
    let removals: Vec<_> =
        removals.map(|(one, failure)| to_answer(one, failure.as_ref(), !args.yes)).collect();
    let answer = CommandAnswer::of(&removals, describe(&found, &failures, args))?;
    let has_failed = failures.iter().any(Option::is_some);
    Ok(if has_failed { answer.wrong(ErrorKind::Environment) } else { answer })
}

fn to_answer(one: &Garbage, failure: Option<&Error>, dry_run: bool) -> Removal {
    Removal {
        kind: one.kind.name().into(),
        project: one.project.clone(),
        name: one.name.clone(),
        age_days: days(one),
        bytes: one.bytes,
        removed: !dry_run && failure.is_none(),
        error: failure.map(Error::one_line),
        dry_run,
    }
}

fn describe(found: &[Garbage], failures: &[Option<Error>], args: &GcArgs) -> String {
    let Some(summary) = garbage::summary(found) else {
        return "nothing is old enough to go and kept elsewhere".to_owned();
    };
    let row = |one: &Garbage| {
        [one.kind.name().to_owned(), format!("{} d", days(one)), size(one.bytes), one.name.clone()]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    let mut text = table(["KIND", "AGE", "SIZE", "NAME"], &rows);
    for (one, failure) in found.iter().zip(failures) {
        if let Some(error) = failure {
            text += &format!("\n{}: cannot be removed: {error}", one.name);
        }
    }
    if args.yes {
        return text + &format!("\nremoved: {summary}");
    }
    text + &format!("\n{summary} could go; `{} --yes` removes it", asked(args))
}

/// The command as a person typed it.
fn asked(args: &GcArgs) -> String {
    let GcArgs { project, kind, older_than, yes: _ } = args;
    let option = |name: &str, value: Option<String>| value.map(|value| format!(" --{name} {value}"));
    let options = [
        option("project", project.clone()),
        option("kind", kind.clone()),
        option("older-than", older_than.map(|days| days.to_string())),
    ];
    format!("orange gc{}", options.into_iter().flatten().collect::<String>())
}

fn days(one: &Garbage) -> u64 {
    one.age.as_secs() / 86_400
}
