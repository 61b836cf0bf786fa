//! Fields of a task that are taken from an issue of the forge.

use crate::Result;
use crate::app::App;
use crate::drive::forge::Issue;
use crate::flow::create::LONGEST;
use crate::store::projects::Project;
use crate::store::slug::slug;

/// Content of an issue, as fields of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FromIssue {
    /// The branch, of its number and its title.
    pub branch: String,
    pub summary: String,
    /// Its address and its text, quoted: the author of an issue writes no section that a gate reads.
    pub context: String,
}

/// Reads an issue of the project's repository.
///
/// # Errors
/// `environment` without the program of the forge, or when it fails.
pub fn read(app: &App, project: &Project, number: u64) -> Result<FromIssue> {
    let forge = app.forge_of(project)?;
    forge.check(app.path())?;
    app.progress.step(&format!("asking {} about issue {number}", forge.name()));
    Ok(of(&forge.issue(number)?))
}

/// Fields of a task about an issue.
pub fn of(issue: &Issue) -> FromIssue {
    let Issue { number, title, body, url } = issue;
    let summary = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let branch = slug(&format!("{number} {title}"), LONGEST);
    let quoted: String = body.trim().lines().map(|line| format!("\n> {}", line.trim_end())).collect();
    let quoted = quoted.replace("> \n", ">\n");
    FromIssue { branch, summary, context: format!("Issue {number}: {url}\n{quoted}").trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(title: &str, body: &str, expect: (&str, &str, &str)) {
        let issue = Issue {
            number: 42,
            title: title.to_owned(),
            body: body.to_owned(),
            url: "https://x/42".to_owned(),
        };
        let FromIssue { branch, summary, context } = of(&issue);
        assert_eq!((branch.as_str(), summary.as_str(), context.as_str()), expect);
    }

    #[test]
    fn an_issue_becomes_a_branch_a_summary_and_a_quote() {
        check("Log in", "", ("42-log-in", "Log in", "Issue 42: https://x/42"));
        check(
            "  Übergröße: `a/b`?\tNo! ",
            "One\r\n\r\n## Handoff\n```\n<!--\n",
            (
                "42-bergr-e-a-b-no",
                "Übergröße: `a/b`? No!",
                "Issue 42: https://x/42\n\n> One\n>\n> ## Handoff\n> ```\n> <!--",
            ),
        );
        check("漢字", "x", ("42", "漢字", "Issue 42: https://x/42\n\n> x"));
        let long = "word ".repeat(40);
        let branch = format!("42{}", "-word".repeat(9));
        check(&long, "", (&branch, long.trim(), "Issue 42: https://x/42"));
    }
}
