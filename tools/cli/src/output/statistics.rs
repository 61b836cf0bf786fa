//! Number of findings of each check, the most frequent first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use orange_analysis::catalogue::Check;
use orange_codegen::Level;

use super::put;
use crate::json::Statistic;
use crate::report::{File, Report};

/// The checks with findings, each with the worst level that one of them has.
pub(crate) fn statistics(report: &Report) -> Vec<Statistic> {
    let mut counted: BTreeMap<&str, (&Check, Level, usize)> = BTreeMap::new();
    for it in report.files.iter().flat_map(File::findings) {
        let (_, worst, count) = counted.entry(it.code()).or_insert((it.check, it.level, 0));
        *worst = it.level.min(*worst);
        *count += 1;
    }
    let statistic = |(check, worst, count): (&Check, Level, usize)| Statistic {
        code: check.code,
        name: check.name,
        level: worst.as_str(),
        count,
    };
    let mut statistics: Vec<Statistic> = counted.into_values().map(statistic).collect();
    statistics.sort_by_key(|it| Reverse(it.count));
    statistics
}

/// A line for each check: `12  deny   C62 spawn-while-alive`.
pub(crate) fn table(statistics: &[Statistic]) -> String {
    let width = statistics.first().map_or(0, |it| it.count.to_string().len());
    let mut out = String::new();
    for Statistic { code, name, level, count, .. } in statistics {
        put(&mut out, format_args!("{count:>width$}  {level:<5}  {code} {name}\n"));
    }
    out
}
