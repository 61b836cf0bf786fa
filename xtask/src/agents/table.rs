//! The results as a table of a page.

use serde::Deserialize;

use crate::Result;

const BEGIN: &str = "<!-- `cargo xtask agents` writes what follows. -->\n";
const END: &str = "<!-- `cargo xtask agents` wrote what is above. -->\n";

/// The recorded results.
#[derive(Debug, Default)]
pub(super) struct AgentResults {
    versions: Vec<HarnessVersion>,
    lives: Vec<LifeResult>,
    costs: Vec<Cost>,
}

#[derive(Debug, Deserialize)]
struct HarnessVersion {
    harness: String,
    version: Option<String>,
    pinned: String,
}

#[derive(Debug, Deserialize)]
struct LifeResult {
    life: String,
    harnesses: [String; 2],
    outcome: String,
    why: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Cost {
    harness: String,
    role: String,
    bytes: usize,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ResultLine {
    LifeResult(LifeResult),
    Cost(Cost),
    Version(HarnessVersion),
}

impl AgentResults {
    pub(super) fn read(text: &str) -> Result<AgentResults> {
        let mut record = AgentResults::default();
        for line in text.lines() {
            let line =
                serde_json::from_str(line).map_err(|error| format!("the record has {line}: {error}"))?;
            match line {
                ResultLine::LifeResult(outcome) => record.lives.push(outcome),
                ResultLine::Cost(cost) => record.costs.push(cost),
                ResultLine::Version(version) => record.versions.push(version),
            }
        }
        Ok(record)
    }

    /// A row for each life, a column for each harness.
    pub(super) fn table(&self) -> String {
        let heads =
            self.versions.iter().map(|it| format!("{} {}", it.harness, it.version.as_deref().unwrap_or("?")));
        let mut table = row("life", heads);
        table += &row("---", self.versions.iter().map(|_| "---".to_owned()));
        for life in self.names() {
            table += &row(life, self.versions.iter().map(|version| self.cell(life, &version.harness)));
        }
        for role in ["worker", "reviewer"] {
            let what = format!("tokens that our words cost a {role}, about");
            table += &row(&what, self.versions.iter().map(|version| self.tokens(role, &version.harness)));
        }
        table
    }

    /// The differences from the table of the page.
    pub(super) fn changes(&self, page: &str) -> String {
        let changed = self.versions.iter().filter(|it| it.version.as_deref() != Some(it.pinned.as_str()));
        let mut text: String = changed
            .map(|it| {
                format!("{}: {} instead of {}\n", it.harness, it.version.as_deref().unwrap_or("?"), it.pinned)
            })
            .collect();
        let before = page.split_once(BEGIN).map_or("", |(_, rest)| rest);
        for life in self.names() {
            let cells = self.versions.iter().map(|version| self.cell(life, &version.harness));
            let now = row(life, cells);
            let known = before.lines().find(|line| line.starts_with(&format!("| {life} |")));
            if known != Some(now.trim_end()) {
                text += &format!("before: {}\nnow:    {now}", known.unwrap_or("nothing"));
            }
        }
        if text.is_empty() { "Nothing has changed.\n".to_owned() } else { text }
    }

    /// The lives without their harnesses, in the order of their first results.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for outcome in &self.lives {
            let name = outcome.name();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.sort_unstable();
        names
    }

    fn cell(&self, life: &str, harness: &str) -> String {
        let of_harness = |it: &&LifeResult| it.name() == life && it.harnesses[0] == harness;
        let cells: Vec<_> = self.lives.iter().filter(of_harness).map(LifeResult::cell).collect();
        if cells.is_empty() { "–".to_owned() } else { cells.join("; ") }
    }

    fn tokens(&self, role: &str, harness: &str) -> String {
        let costs = self.costs.iter().filter(|it| it.role == role && it.harness == harness);
        // Four bytes for a token, rounded to two digits: about right for English with every tokenizer.
        costs
            .map(|it| it.bytes / 4 / 10 * 10)
            .min()
            .map_or_else(|| "–".to_owned(), |tokens| tokens.to_string())
    }
}

impl LifeResult {
    fn name(&self) -> &str {
        self.life.split_once(" [").map_or(self.life.as_str(), |(name, _)| name)
    }

    fn cell(&self) -> String {
        let [worker, reviewer] = &self.harnesses;
        let by = if worker == reviewer { String::new() } else { format!(" by {reviewer}") };
        let why = self.why.as_deref().unwrap_or_default().replace('|', "/");
        let why = if why.is_empty() { why } else { format!(": {why}") };
        format!("{}{by}{why}", self.outcome)
    }
}

/// A page with this table instead of its own.
pub(super) fn replaced(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

fn row(first: &str, rest: impl Iterator<Item = String>) -> String {
    rest.fold(format!("| {first} |"), |row, cell| format!("{row} {cell} |")) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{"harness":"claude","version":"2.1","pinned":"2.0"}
{"harness":"pi","version":"0.7","pinned":"0.7"}
{"harness":"pi","role":"worker","bytes":4090,"requests":5}
{"life":"default [claude and pi]","harnesses":["claude","pi"],"outcome":"failed","why":"a | b"}
{"life":"default [pi]","harnesses":["pi","pi"],"outcome":"passed","why":null}
"#;

    #[test]
    fn each_harness_has_a_column() {
        let table = AgentResults::read(RECORD).unwrap().table();
        let expect = "\
| life | claude 2.1 | pi 0.7 |
| --- | --- | --- |
| default | failed by pi: a / b | passed |
| tokens that our words cost a worker, about | – | 1020 |
| tokens that our words cost a reviewer, about | – | – |
";
        assert_eq!(table, expect);
    }

    #[test]
    fn newer_versions_are_compared_with_the_table() {
        let record = AgentResults::read(RECORD).unwrap();
        let page = replaced(&format!("a\n{BEGIN}{END}b\n"), &record.table()).unwrap();
        assert_eq!(record.changes(&page), "claude: 2.1 instead of 2.0\n");
        let other = page.replace("a / b", "c");
        assert!(
            record
                .changes(&other)
                .contains("before: | default | failed by pi: c | passed |\nnow:    | default |")
        );
    }

    #[test]
    fn only_the_table_of_the_page_is_replaced() {
        let page = format!("before\n{BEGIN}old\n{END}after\n");
        assert_eq!(replaced(&page, "new\n").unwrap(), format!("before\n{BEGIN}\nnew\n\n{END}after\n"));
        assert_eq!(replaced("no place", "new\n"), None);
    }
}
