//! A proof for people: each property with its argument or the run that breaks it, the figures, and what it rests on.

use orange_analysis::prove::{CountedRun, Figures, Judged, Proof, RESTS_ON, Verdict};
use orange_codegen::{Diagnostic, LineIndex, Position, Source, Trace};

use super::human::WIDTH;
use super::{Style, narrated, printable, put, wrap};

/// The whole proof, a paragraph for each property.
pub(crate) fn proof(proof: &Proof, source: &Source, style: Style) -> String {
    let teller = Teller { source, index: LineIndex::new(&source.text), style };
    let mut out = format!("{}: {}\n\n", printable(&source.path), summary(proof));
    for judged in &proof.properties {
        teller.property(&mut out, judged);
        out.push('\n');
    }
    figures(&mut out, &proof.figures);
    out.push_str("\nWhat this rests on\n");
    RESTS_ON.iter().for_each(|it| paragraph(&mut out, "  - ", it));
    out
}

/// "6 properties: 4 proved, 2 refuted"
fn summary(proof: &Proof) -> String {
    let kinds = ["proved", "refuted", "undecided"].map(|kind| {
        let count = proof.properties.iter().filter(|it| verdict(it) == kind).count();
        (count, format!("{count} {kind}"))
    });
    let kinds: Vec<String> = kinds.into_iter().filter(|(count, _)| *count > 0).map(|it| it.1).collect();
    format!("{} properties: {}", proof.properties.len(), kinds.join(", "))
}

/// Its name, for people and for programs.
pub(super) fn verdict(judged: &Judged) -> &'static str {
    match judged.verdict {
        Verdict::Proved { .. } => "proved",
        Verdict::Refuted { .. } => "refuted",
        Verdict::Undecided { .. } => "undecided",
    }
}

struct Teller<'s> {
    source: &'s Source,
    index: LineIndex<'s>,
    style: Style,
}

impl Teller<'_> {
    fn property(&self, out: &mut String, judged: &Judged) {
        let headline = format!("{}: {}", verdict(judged), judged.property.claim);
        put(out, format_args!("{}\n", self.coloured(judged, &wrap(&headline, WIDTH).join("\n  "))));
        match &judged.verdict {
            Verdict::Proved { argument } => paragraph(out, "  ", argument),
            Verdict::Refuted { findings, trace } => {
                findings.iter().for_each(|it| self.finding(out, it));
                trace.iter().for_each(|it| self.run(out, it));
            }
            Verdict::Undecided { cut } => {
                paragraph(
                    out,
                    "  ",
                    &format!("nothing that breaks it was found before the search was cut: {cut}"),
                );
            }
        }
    }

    fn finding(&self, out: &mut String, finding: &Diagnostic) {
        let Position { line, column } = self.index.position(finding.span.start);
        let (code, name) = (finding.code(), finding.name());
        let place = format!("{}:{line}:{column}", self.source.path);
        paragraph(out, "  ", &format!("{place}: {code} {name}: {}", finding.message));
        finding.trace.iter().for_each(|it| self.run(out, it));
    }

    fn run(&self, out: &mut String, trace: &Trace) {
        let run = match self.style {
            Style::Colour | Style::Plain => trace.to_string(),
            Style::Narrated => narrated::run(trace),
        };
        paragraph(out, "    ", &format!("run: {run}"));
    }

    fn coloured(&self, judged: &Judged, text: &str) -> String {
        let colour = match judged.verdict {
            Verdict::Proved { .. } => 32,
            Verdict::Refuted { .. } => 31,
            Verdict::Undecided { .. } => 33,
        };
        match self.style {
            Style::Colour => format!("\u{1b}[{colour}m{text}\u{1b}[0m"),
            Style::Plain | Style::Narrated => text.to_owned(),
        }
    }
}

fn figures(out: &mut String, figures: &Figures) {
    let Figures { configurations, steps, .. } = figures;
    out.push_str("Figures\n");
    let mut line = |text: String| paragraph(out, "  - ", &text);
    line(format!("{configurations} configurations that a task can come to, and {steps} steps between them"));
    line(match &figures.longest_run {
        Some(run) => format!("longest run without a person: {} transitions, {}", run.count, states(run)),
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
        (Some(_) | None, None) | (None, Some(_)) => {
            "most agents started for one human touch: there is no bound".to_owned()
        }
    });
    if !figures.waits_after_crash.is_empty() {
        let names: Vec<String> = figures.waits_after_crash.iter().map(|it| format!("`{it}`")).collect();
        line(format!("an agent that crashes leaves the task to a person in {}", names.join(", ")));
    }
}

fn states(run: &CountedRun) -> String {
    run.states.join(" → ")
}

fn paragraph(out: &mut String, indent: &str, text: &str) {
    let hanging = format!("\n{}", " ".repeat(indent.chars().count()));
    let lines = wrap(&printable(text), WIDTH - indent.chars().count());
    put(out, format_args!("{indent}{}\n", lines.join(&hanging)));
}
