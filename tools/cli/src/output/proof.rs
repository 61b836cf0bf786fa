//! A proof for people: each property with its argument or the run that breaks it, the figures, and what it rests on.

use orange_codegen::Trace;
use orange_core::budget::{BudgetKind, amount};

use super::{narrated, printable, put, wrap};
use crate::json::{
    Finding, MachineFigures, ProveAnswer, ShownCountedRun, ShownEnd, ShownFigures, ShownProperty,
    ShownRounds, ShownSpending, ShownVerdict, StepFigures,
};
use crate::screen::Style;

/// The whole proof, a paragraph for each property.
pub(crate) fn proof(proof: &ProveAnswer<'_>, style: Style) -> String {
    let teller = ProofTeller { style };
    let mut out = format!("{}: {}\n\n", printable(proof.file), summary(proof));
    for property in &proof.properties {
        teller.property(&mut out, property);
        out.push('\n');
    }
    for it in &proof.requirements {
        let verdict = if it.holds { ShownVerdict::Proved } else { ShownVerdict::Refuted };
        let headline = format!("{}: {} after {}", verdict.as_str(), it.step, it.after);
        put(&mut out, format_args!("{}\n", teller.coloured(verdict, &headline)));
        paragraph(&mut out, "  ", &it.why, style.width);
        out.push('\n');
    }
    match &proof.figures {
        ShownFigures::Machine(it) => figures(&mut out, it, style.width),
        ShownFigures::Steps(it) => step_figures(&mut out, it, style.width),
    }
    out.push_str("\nWhat this rests on\n");
    proof.rests_on.iter().for_each(|it| paragraph(&mut out, "  - ", it, style.width));
    out
}

/// "6 properties: 4 proved, 2 refuted"
fn summary(proof: &ProveAnswer<'_>) -> String {
    let kinds = [ShownVerdict::Proved, ShownVerdict::Refuted, ShownVerdict::Undecided].map(|verdict| {
        let count = proof.properties.iter().filter(|it| it.verdict == verdict).count();
        (count, format!("{count} {}", verdict.as_str()))
    });
    let kinds: Vec<String> = kinds.into_iter().filter(|(count, _)| *count > 0).map(|it| it.1).collect();
    format!("{} properties: {}", proof.properties.len(), kinds.join(", "))
}

struct ProofTeller {
    style: Style,
}

impl ProofTeller {
    fn property(&self, out: &mut String, property: &ShownProperty<'_>) {
        let headline = format!("{}: {}", property.verdict.as_str(), property.claim);
        put(
            out,
            format_args!(
                "{}\n",
                self.coloured(property.verdict, &wrap(&headline, self.style.width - 2).join("\n  "))
            ),
        );
        property.argument.iter().for_each(|it| paragraph(out, "  ", it, self.style.width));
        property.findings.iter().for_each(|it| self.finding(out, it));
        property.run.iter().for_each(|it| self.run(out, it));
        if let Some(cut) = property.cut {
            let text = format!("nothing that breaks it was found, and it is not proved: {cut}");
            paragraph(out, "  ", &text, self.style.width);
        }
    }

    fn finding(&self, out: &mut String, finding: &Finding<'_>) {
        let Finding { code, name, message, file, location, .. } = finding;
        let place = format!("{file}:{}:{}", location.line, location.column);
        paragraph(out, "  ", &format!("{place}: {code} {name}: {message}"), self.style.width);
        finding.run.iter().for_each(|it| self.run(out, it));
    }

    fn run(&self, out: &mut String, trace: &Trace) {
        let run = if self.style.drawn { trace.to_string() } else { narrated::run(trace) };
        paragraph(out, "    ", &format!("run: {run}"), self.style.width);
    }

    fn coloured(&self, verdict: ShownVerdict, text: &str) -> String {
        let colour = match verdict {
            ShownVerdict::Proved => 32,
            ShownVerdict::Refuted => 31,
            ShownVerdict::Undecided => 33,
        };
        if self.style.drawn && self.style.colour {
            format!("\u{1b}[{colour}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

fn figures(out: &mut String, figures: &MachineFigures<'_>, width: usize) {
    let MachineFigures { configurations, steps, is_cut, .. } = figures;
    out.push_str("Figures\n");
    let mut line = |text: String| paragraph(out, "  - ", &text, width);
    let cut = cut(*is_cut);
    line(format!(
        "{configurations} configurations that a task can come to, and {steps} steps between them{cut}"
    ));
    line(match &figures.longest_run {
        Some(run) => format!("longest run without a person: {} transitions, {}", run.count, states(run)),
        None if *is_cut => "longest run without a person: it is not known".to_owned(),
        None => "longest run without a person: it has no end".to_owned(),
    });
    line(match (&figures.agents, &figures.agents_with_restarts) {
        (Some(run), Some(restarts)) => {
            let restarts = match restarts.count {
                same if same == run.count => String::new(),
                more => format!("; {more} with those that are started again after a crash"),
            };
            format!("most agents started for one human touch: {}, {}{restarts}", run.count, states(run))
        }
        (Some(_) | None, None) | (None, Some(_)) if *is_cut => {
            "most agents started for one human touch: it is not known".to_owned()
        }
        (Some(_) | None, None) | (None, Some(_)) => {
            "most agents started for one human touch: there is no bound".to_owned()
        }
    });
    if !figures.rounds.is_empty() {
        let rounds: Vec<String> = figures.rounds.iter().map(rounds_by).collect();
        let then = if figures.rounds.iter().all(|it| it.most.is_some()) { "; then a person" } else { "" };
        line(format!("most rounds by facts for one human touch: {}{then}", rounds.join(", ")));
    }
    for it in figures.rounds.iter().filter(|it| it.reruns > 0) {
        let times = if it.reruns == 1 { "once".to_owned() } else { format!("{} times", it.reruns) };
        line(format!(
            "failed checks of one commit run again at most {times} before a rule by `{}` applies",
            it.cause
        ));
    }
    for ShownSpending { kind, most, rests_on } in &figures.spending {
        let most = most.zip(BudgetKind::named(kind)).map(|(most, kind)| amount(kind, most));
        let most = most.unwrap_or_else(|| "not bounded".to_owned());
        line(format!("most `{kind}` for one human touch: {most}: {rests_on}"));
    }
    if !figures.waits_after_crash.is_empty() {
        let names: Vec<String> = figures.waits_after_crash.iter().map(|it| format!("`{it}`")).collect();
        line(format!("an agent that crashes leaves the task to a person in {}", names.join(", ")));
    }
}

fn rounds_by(rounds: &ShownRounds) -> String {
    match rounds.most {
        Some(most) => format!("{most} by `{}`", rounds.cause),
        None => format!("no bound by `{}`", rounds.cause),
    }
}

fn step_figures(out: &mut String, figures: &StepFigures<'_>, width: usize) {
    let StepFigures { configurations, acts, ends, is_cut, .. } = figures;
    out.push_str("Figures\n");
    let cut = cut(*is_cut);
    let found = format!(
        "{configurations} configurations that a mission can come to, and {acts} acts between them{cut}"
    );
    paragraph(out, "  - ", &found, width);
    out.push_str("\nEnds, beside retries by hand\n");
    for end in ends {
        paragraph(out, "  - ", &summary_of(end), width);
        paragraph(out, "    ", &format!("script: {}", end.script.join("; ")), width);
    }
}

fn cut(is_cut: bool) -> &'static str {
    if is_cut { "; the search was cut, so that there are more" } else { "" }
}

/// "failed: plan, implement and review have run; review has failed"
fn summary_of(end: &ShownEnd<'_>) -> String {
    let mut text = format!("{}: {}", end.status, listed(end.ran, "has run", "have run"));
    if !end.failed.is_empty() {
        text += &format!("; {}", listed(end.failed, "has failed", "have failed"));
    }
    if !end.exhausted.is_empty() {
        text += &format!("; the loop of {}", listed(end.exhausted, "is exhausted", "are exhausted"));
    }
    text
}

fn listed(names: &[String], is: &str, are: &str) -> String {
    match names {
        [] => format!("no step {is}"),
        [one] => format!("{one} {is}"),
        [others @ .., last] => format!("{} and {last} {are}", others.join(", ")),
    }
}

fn states(run: &ShownCountedRun<'_>) -> String {
    run.states.join(" → ")
}

fn paragraph(out: &mut String, indent: &str, text: &str, width: usize) {
    let hanging = format!("\n{}", " ".repeat(indent.chars().count()));
    let lines = wrap(&printable(text), width - indent.chars().count());
    put(out, format_args!("{indent}{}\n", lines.join(&hanging)));
}
