//! `orange-fleet status`, and how lists are printed.

use clap::Args;
use orange_api::Result;
use serde_json::Value;

use super::Said;
use super::client::ClientArgs;

/// `orange-fleet status …`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  orange-fleet status")]
pub struct StatusArgs {
    #[command(flatten)]
    client: ClientArgs,
}

impl StatusArgs {
    pub(super) fn run(self) -> Result<Said> {
        let json = self.client.client()?.get("/v1/status")?;
        let counts = |of: &Value| {
            let counts = of.as_object().into_iter().flatten().map(|(name, count)| format!("{count} {name}"));
            counts.collect::<Vec<_>>().join(", ")
        };
        let missions = Some(counts(&json["missions"])).filter(|it| !it.is_empty());
        let text = format!(
            "missions: {}\ncrabs: {}\nsteps that wait: {}\nalarms: {}",
            missions.unwrap_or_else(|| "none".to_owned()),
            counts(&json["crabs"]),
            json["waiting"],
            json["alarms"]
        );
        Ok(Said { text, json })
    }
}

/// A list as a table: a line for each entry, a column for each of these keys that an entry has.
pub(super) fn rows(list: &Value, keys: &[&str]) -> String {
    let entries: Vec<&Value> = list.as_array().into_iter().flatten().collect();
    if entries.is_empty() {
        return "none".to_owned();
    }
    let cells = |entry: &&Value| keys.iter().map(|key| cell(&entry[*key])).collect::<Vec<String>>();
    let lines: Vec<Vec<String>> = std::iter::once(keys.iter().map(|it| it.to_uppercase()).collect())
        .chain(entries.iter().map(cells))
        .collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..keys.len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn cell(value: &Value) -> String {
    let plain =
        |text: &str| text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect::<String>();
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => plain(text),
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join(","),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_tables() {
        let list = json!([{"name": "coffee", "roles": ["any", "b"]}, {"name": "t\u{1b}ea", "base": 3}]);
        assert_eq!(
            rows(&list, &["name", "roles", "base"]),
            "NAME    ROLES  BASE\ncoffee  any,b  -\nt ea    -      3"
        );
        assert_eq!(rows(&json!([]), &["name"]), "none");
    }
}
