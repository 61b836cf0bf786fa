//! JUnit's XML, which most continuous integration reads: a suite for each file, and a case for each finding or scenario.

use orange_codegen::{Level, LineIndex};

use super::github::message;
use super::{printable, put};
use crate::answer::Failure;
use crate::report::{File, Report};

/// A file with its cases.
pub(crate) struct TestSuite {
    /// The path of the file.
    pub name: String,
    pub cases: Vec<TestCase>,
}

/// Something that passed or did not.
pub(crate) struct TestCase {
    pub name: String,
    pub end: CaseResult,
}

/// Result of a case.
pub(crate) enum CaseResult {
    /// It passed, with something to say or not.
    Passed(Option<String>),
    /// It failed: a line, and the whole text.
    Failed {
        /// The problem, in a line.
        message: String,
        /// The problem, with everything around it.
        text: String,
    },
    /// It could not be looked at.
    Error(String),
}

/// The findings of a run. One below `deny` fails no case, as it fails no run.
pub(crate) fn findings(report: &Report, failures: &[Failure]) -> String {
    let mut suites: Vec<TestSuite> = report.files.iter().map(suite).collect();
    suites.extend(failed(failures));
    junit(&suites)
}

/// The inputs that could not be looked at, if there are any.
pub(crate) fn failed(failures: &[Failure]) -> Option<TestSuite> {
    let cases: Vec<TestCase> = failures
        .iter()
        .map(|it| TestCase { name: it.message().to_owned(), end: CaseResult::Error(it.to_string()) })
        .collect();
    (!cases.is_empty()).then(|| TestSuite { name: "orange-workflow".to_owned(), cases })
}

/// The whole document.
pub(crate) fn junit(suites: &[TestSuite]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all: Vec<&TestCase> = suites.iter().flat_map(|it| &it.cases).collect();
    put(&mut out, format_args!("<testsuites name=\"orange-workflow\"{}>\n", counts(&all)));
    for suite in suites {
        let name = attribute(&suite.name);
        let cases: Vec<&TestCase> = suite.cases.iter().collect();
        put(&mut out, format_args!("  <testsuite name=\"{name}\"{}>\n", counts(&cases)));
        for case in &suite.cases {
            put(&mut out, format_args!("    {}\n", element(case, &name)));
        }
        out.push_str("  </testsuite>\n");
    }
    out + "</testsuites>\n"
}

fn suite(file: &File) -> TestSuite {
    let index = LineIndex::new(&file.source.text);
    let mut cases: Vec<TestCase> = file
        .findings()
        .iter()
        .map(|finding| {
            let at = index.position(finding.span.start);
            let (code, name) = (finding.code(), finding.name());
            let text = message(finding, &index);
            let end = if finding.level <= Level::Deny {
                let path = &file.source.path;
                let text = format!("{path}:{}:{}: {text}", at.line, at.column);
                CaseResult::Failed { message: finding.message.clone(), text }
            } else {
                CaseResult::Passed(Some(text))
            };
            TestCase { name: format!("{code} {name}, line {}, column {}", at.line, at.column), end }
        })
        .collect();
    if cases.is_empty() {
        cases.push(TestCase { name: "nothing wrong".to_owned(), end: CaseResult::Passed(None) });
    }
    TestSuite { name: file.source.path.clone(), cases }
}

fn counts(cases: &[&TestCase]) -> String {
    let failures = cases.iter().filter(|it| matches!(it.end, CaseResult::Failed { .. })).count();
    let errors = cases.iter().filter(|it| matches!(it.end, CaseResult::Error(_))).count();
    format!(" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\"", cases.len())
}

fn element(case: &TestCase, class: &str) -> String {
    let name = attribute(&case.name);
    let inside = match &case.end {
        CaseResult::Passed(None) => return format!("<testcase name=\"{name}\" classname=\"{class}\"/>"),
        CaseResult::Passed(Some(said)) => format!("<system-out>{}</system-out>", content(said)),
        CaseResult::Failed { message, text } => {
            format!("<failure message=\"{}\">{}</failure>", attribute(message), content(text))
        }
        CaseResult::Error(text) => format!("<error>{}</error>", content(text)),
    };
    format!("<testcase name=\"{name}\" classname=\"{class}\">{inside}</testcase>")
}

/// XML has no sign for most control characters; they are spelled out, as in every output.
fn content(text: &str) -> String {
    let text = printable(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn attribute(text: &str) -> String {
    content(text).replace('"', "&quot;").replace('\n', "&#10;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_file_says_ends_an_element() {
        assert_eq!(content("a & <b>\u{1}\n]]>"), "a &amp; &lt;b&gt;\\u{1}\n]]&gt;");
        assert_eq!(attribute("\"a\"\nb"), "&quot;a&quot;&#10;b");
    }
}
