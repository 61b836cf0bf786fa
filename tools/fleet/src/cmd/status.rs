//! `orange-fleet status`, and how lists are printed.

use clap::Args;
use orange_api::Result;
use orange_api::gateway::{CrabCounts, StatusAnswer};

use super::Said;
use super::client::{ClientArgs, Received};

/// `orange-fleet status …`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  orange-fleet status")]
pub struct StatusArgs {
    #[command(flatten)]
    client: ClientArgs,
}

impl StatusArgs {
    pub(super) fn run(self) -> Result<Said> {
        let Received { json, answer } = self.client.client()?.get::<StatusAnswer>("/v1/status")?;
        let StatusAnswer { missions, crabs, waiting, alarms, .. } = answer;
        let missions: Vec<String> =
            missions.iter().map(|(status, count)| format!("{count} {status}")).collect();
        let missions = if missions.is_empty() { "none".to_owned() } else { missions.join(", ") };
        let CrabCounts { known, idle, busy, faulty } = crabs;
        let text = format!(
            "missions: {missions}\ncrabs: {busy} busy, {faulty} faulty, {idle} idle, {known} known\n\
             steps that wait: {waiting}\nalarms: {alarms}"
        );
        Ok(Said { text, json })
    }
}

/// A table: a line for each entry below the names of its columns.
pub(super) fn table<const N: usize>(
    columns: [&str; N],
    entries: impl IntoIterator<Item = [String; N]>,
) -> String {
    let entries: Vec<[String; N]> = entries.into_iter().map(|cells| cells.map(plain)).collect();
    if entries.is_empty() {
        return "none".to_owned();
    }
    let lines: Vec<[String; N]> = std::iter::once(columns.map(str::to_owned)).chain(entries).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |cells: &[String; N]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A cell whose value may be absent.
pub(super) fn or_dash(value: Option<String>) -> String {
    value.unwrap_or_else(|| "-".to_owned())
}

fn plain(text: String) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_tables() {
        let entries = [["coffee", "any,b"], ["t\u{1b}ea", "-"]].map(|cells| cells.map(str::to_owned));
        assert_eq!(table(["NAME", "ROLES"], entries), "NAME    ROLES\ncoffee  any,b\nt ea    -");
        assert_eq!(table(["NAME"], []), "none");
    }
}
