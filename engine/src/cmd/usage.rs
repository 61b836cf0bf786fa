//! `orange usage`: tokens, cost, time and starts of agents.

use std::time::Duration;

use crate::Result;
use crate::app::App;
use crate::cmd::answer::{CommandAnswer, dollars, one_line, table};
use crate::cmd::args::UsageArgs;
use crate::flow::doing::words;
use crate::flow::usage::{self, UsageBy, UsageSelection};
use crate::store::projects;
use orange_api::{UsageGroup, UsageReport};

pub fn run(app: &App, args: &UsageArgs) -> Result<CommandAnswer> {
    if let Some(name) = &args.project {
        projects::get(&app.home, name)?;
    }
    let by = UsageBy::named(&args.by).unwrap_or(UsageBy::Project);
    let selection = UsageSelection { by, project: args.project.as_deref(), since: args.since.as_deref() };
    let (groups, unreadable) = usage::usage(app, &selection)?;
    let (groups, total) = groups.finish();
    let report = UsageReport { by: by.name().into(), since: args.since.clone(), groups, total, unreadable };
    CommandAnswer::of(&report, text(&report))
}

fn text(report: &UsageReport<'_>) -> String {
    let UsageReport { by, groups, total, unreadable, since: _ } = report;
    let mut rows: Vec<_> = groups.iter().map(|group| row(&group.name, group)).collect();
    if groups.len() != 1 {
        rows.push(row("all", total));
    }
    let header = by.to_uppercase();
    let mut lines = vec![table([&header, "STARTS", "TIME", "TOKENS", "COST", "AT LIST PRICE"], &rows)];
    lines.extend(total.unpriced.iter().map(|why| {
        format!("The list price leaves out agents: {} (`prices.toml` can have more)", one_line(why, 1000))
    }));
    if total.at_least {
        lines.push("Some records could be read only in part: these figures are lower bounds.".to_owned());
    }
    if total.unknown > 0 {
        let agents =
            if total.unknown == 1 { "1 agent".to_owned() } else { format!("{} agents", total.unknown) };
        lines.push(format!("The harness has reported nothing about {agents}."));
    }
    lines.extend(
        unreadable.iter().map(|it| format!("{} ({}) does not count: {}", it.id, it.project, it.error)),
    );
    lines.join("\n")
}

fn row(name: &str, group: &UsageGroup) -> [String; 6] {
    let price = |cost: Option<u64>| cost.map(dollars).unwrap_or_default();
    [
        one_line(name, 60),
        group.starts.to_string(),
        words(Duration::from_secs(group.seconds)),
        group.tokens.map(|tokens| tokens.to_string()).unwrap_or_default(),
        price(group.cost),
        price(group.list_price),
    ]
}
