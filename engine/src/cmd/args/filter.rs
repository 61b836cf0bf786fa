//! Tasks by their values: `status=stuck,project=coffee`.

use std::str::FromStr;

/// The values that tasks are to have. Of several values of one key, one is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFilter {
    pub status: Vec<String>,
    pub project: Vec<String>,
    pub workflow: Vec<String>,
    /// Kinds of needs.
    pub need: Vec<String>,
}

impl TaskFilter {
    /// True if one of these is the value; an empty list allows every value.
    pub fn has(wanted: &[String], value: &str) -> bool {
        wanted.is_empty() || wanted.iter().any(|one| one == value)
    }
}

impl FromStr for TaskFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<TaskFilter, String> {
        let mut filter = TaskFilter::default();
        for pair in text.split(',') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let values = match key.trim() {
                "status" => &mut filter.status,
                "project" => &mut filter.project,
                "workflow" => &mut filter.workflow,
                "need" => &mut filter.need,
                other => {
                    return Err(format!("there is no `{other}`, only status, project, workflow and need"));
                }
            };
            if value.trim().is_empty() {
                return Err(format!("`{pair}` has no value: write {}=VALUE", key.trim()));
            }
            values.push(value.trim().to_owned());
        }
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_key_are_alternatives() {
        let filter: TaskFilter = "status=stuck, project=coffee,status=done".parse().unwrap();
        assert_eq!(
            (filter.status.join(" "), filter.project.join(" ")),
            ("stuck done".into(), "coffee".into())
        );
        assert!(TaskFilter::has(&filter.status, "done") && !TaskFilter::has(&filter.status, "working"));
        assert!(TaskFilter::has(&filter.workflow, "any"));
        for (text, expect) in
            [("", "no ``"), ("status", "no value"), ("state=x", "only status"), ("status=,", "no value")]
        {
            let error = text.parse::<TaskFilter>().unwrap_err();
            assert!(error.contains(expect), "{text:?}: {error}");
        }
    }
}
