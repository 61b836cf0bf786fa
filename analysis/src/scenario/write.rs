//! A run of a finding as a scenario, so that it stays a test after the workflow is mended.

use orange_codegen::Source;
use orange_codegen::diag::Trace;
use orange_core::Machine;

use super::{read, run};
use crate::walk::Act;
use crate::walk::command::Command;

/// The text of a file with one scenario that repeats a run; `None` where scenarios cannot say what happens in it.
pub fn of_trace(machine: &Machine<'_>, name: &str, trace: &Trace) -> Option<String> {
    let mut text = format!("scenarios:\n  - name: {}\n", quoted(name));
    text += &format!("    given: {{status: {}}}\n    steps:\n", quoted(&trace.start));
    for step in &trace.steps {
        for (at, line) in step.script.iter().enumerate() {
            let Ok(Some(Command::Act(act))) = Command::parse(line) else { return None };
            let is_last = at + 1 == step.script.len();
            let expect =
                if is_last { format!(", expect: {{status: {}}}", quoted(&step.to)) } else { String::new() };
            text += &format!("      - {{{}{expect}}}\n", keys(&act));
        }
    }
    let (scenarios, found) = read(&Source::new("run.test.yml", text.as_str()));
    let scenario = scenarios?.all.pop()?;
    (found.is_empty() && run(machine, &scenario).failed.is_empty()).then_some(text)
}

/// The keys of a step that does this.
fn keys(act: &Act) -> String {
    match act {
        Act::Write { heading, text } => format!("write: {}, text: {}", quoted(heading), quoted(text)),
        Act::Request { to, by } => format!("request: {}, by: {}", quoted(to), quoted(by)),
        Act::Spawn => "spawn: true".to_owned(),
        Act::Respawn => "respawn: true".to_owned(),
        Act::Fail { hook } => format!("fail: {}", quoted(hook)),
        Act::RetryHooks => "retry_hooks: true".to_owned(),
        Act::Answer { program, succeeds } => format!("program: {}, succeeds: {succeeds}", quoted(program)),
        Act::Checks { word } => format!("checks: {}", quoted(word)),
        Act::Children { word } => format!("children: {}", quoted(word)),
        Act::Fact { fact } => fact.to_string(),
        Act::Commit { is_sync: false } => "commit: true".to_owned(),
        Act::Commit { is_sync: true } => "sync: true".to_owned(),
        Act::Elapse { after } => {
            let after = after.map(|it| format!(", after: {it}")).unwrap_or_default();
            format!("elapse: true{after}")
        }
        Act::End { agent, name, ended } => {
            let name = name.as_ref().map(|it| format!(", name: {}", quoted(it)));
            let code = ended.code.map(|it| format!(", code: {it}"));
            let signal = ended.signal.map(|it| format!(", signal: {it}"));
            let output = (!ended.output.is_empty()).then(|| format!(", output: {}", quoted(&ended.output)));
            let after = (ended.lasted > 0).then(|| format!(", after: {}", ended.lasted));
            let spent = ended.spent.then(|| ", spent: true".to_owned());
            let more = [name, code, signal, output, after, spent].into_iter().flatten().collect::<String>();
            format!("end: {}{more}", agent.kind())
        }
    }
}

/// A scalar in double quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for it in text.chars() {
        match it {
            '"' | '\\' => out.extend(['\\', it]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            it if it.is_control() => out.push(' '),
            it => out.push(it),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use orange_codegen::compile;
    use orange_codegen::lower::{Arena, lower};

    use super::*;
    use crate::insight;
    use crate::search::SearchLimits;

    const DEFAULT: &str = include_str!("../../../workflows/default.yml");

    /// Numbers of runs that are scenarios, and of those that are not.
    fn scenarios(text: &str) -> (usize, usize) {
        let source = Source::new("default.yml", text);
        let compilation = compile(&source);
        let known = insight::of(&source, &compilation, &SearchLimits::default()).unwrap();
        let arena = Arena::default();
        let machine = lower(compilation.checked.as_ref().unwrap(), &arena).unwrap();
        let of_states = known.machine().unwrap().states.iter().filter_map(|it| it.run.as_ref());
        let of_findings = known.findings.iter().filter_map(|it| it.trace.as_ref());
        let runs = of_states.chain(of_findings).filter(|it| !it.steps.is_empty());
        let (said, unsaid): (Vec<_>, Vec<_>) =
            runs.map(|it| of_trace(&machine, "a \"run\"", it)).partition(Option::is_some);
        (said.len(), unsaid.len())
    }

    #[test]
    fn runs_to_states_and_of_findings_are_passing_scenarios() {
        let (said, unsaid) = scenarios(DEFAULT);
        assert!(said > 4 && unsaid == 0, "{said} {unsaid}");
        let (more, unsaid) = scenarios(&DEFAULT.replacen("      fresh: true\n    reset", "    reset", 1));
        assert!(more > said && unsaid == 0, "{more} {unsaid}");
    }

    #[test]
    fn a_run_without_a_script_is_no_scenario() {
        let source = Source::new("default.yml", DEFAULT);
        let compilation = compile(&source);
        let arena = Arena::default();
        let machine = lower(compilation.checked.as_ref().unwrap(), &arena).unwrap();
        let step = orange_codegen::diag::TraceStep {
            by: "person".to_owned(),
            does: "dances".to_owned(),
            to: "done".to_owned(),
            hooks: Vec::new(),
            span: None,
            script: vec!["dance".to_owned()],
        };
        let trace = Trace { start: "pending".to_owned(), steps: vec![step], end: None };
        assert_eq!(of_trace(&machine, "run", &trace), None);
    }
}
