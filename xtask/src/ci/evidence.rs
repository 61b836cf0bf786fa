//! The part of a failed step's output that says why it failed, so that the end of a long log has it.

use std::collections::HashSet;

/// Number of lines kept of each failed test, and of a step whose output names no failed test.
const KEPT: usize = 40;

/// The tests that failed or did not end, with what each printed; without any, the last lines.
pub(super) fn evidence(output: &str) -> String {
    let tests = failed_tests(output);
    let lines = if tests.is_empty() { last_lines(output) } else { tests };
    lines.iter().map(|line| format!("\n{line}")).collect()
}

fn last_lines(output: &str) -> Vec<String> {
    let lines: Vec<&str> = output.lines().collect();
    lines[lines.len().saturating_sub(KEPT)..].iter().map(|line| (*line).to_owned()).collect()
}

fn failed_tests(output: &str) -> Vec<String> {
    let of = |end: &'static str| {
        output.lines().filter_map(move |line| line.strip_prefix("test ")?.strip_suffix(end))
    };
    let ended: HashSet<&str> = [" ... ok", " ... FAILED"].into_iter().flat_map(of).collect();
    let slow = of(" has been running for over 60 seconds").filter(|test| !ended.contains(test));
    let failed = of(" ... FAILED").flat_map(|test| {
        let printed = printed_by(test, output).map(|line| format!("  {line}"));
        std::iter::once(format!("failed: {test}")).chain(printed).collect::<Vec<_>>()
    });
    failed.chain(slow.map(|test| format!("not ended: {test}"))).collect()
}

/// The lines that the test runner shows below the name of a failed test.
fn printed_by<'a>(test: &str, output: &'a str) -> impl Iterator<Item = &'a str> {
    let head = format!("---- {test} stdout ----");
    let lines = output.lines().skip_while(move |line| *line != head).skip(1);
    lines.take_while(|line| !line.starts_with("---- ") && *line != "failures:").take(KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_was_slow_and_ended_is_not_named() {
        let output = "test a has been running for over 60 seconds\ntest b has been running for over 60 seconds\n\
                      test a ... ok\ntest c ... FAILED\n";
        assert_eq!(evidence(output), "\nfailed: c\nnot ended: b");
    }

    #[test]
    fn a_failed_test_comes_with_what_it_printed() {
        let output = "test a ... FAILED\ntest b ... FAILED\n\nfailures:\n\n---- a stdout ----\nleft: 1\n\
                      ---- b stdout ----\nright: 2\nfailures:\n    a\n    b\n";
        assert_eq!(evidence(output), "\nfailed: a\n  left: 1\nfailed: b\n  right: 2");
    }

    #[test]
    fn of_other_output_the_last_lines_are_kept() {
        let output: String = (0..100).map(|line| format!("line {line}\n")).collect();
        let kept = evidence(&output);
        assert!(kept.starts_with("\nline 60\n") && kept.ends_with("\nline 99"), "{kept}");
    }
}
