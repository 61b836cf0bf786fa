//! The workflows that missions follow: each step workflow with its plan and what is proved of it.

use maud::{Markup, html};
use orange_analysis::plan_proof::{MissionEnd, PlanFigures, PlanProof, RESTS_ON};
use orange_analysis::prove::{Judged, ProofVerdict};
use orange_core::plan::Plan;

use super::words::{self, Tone, counted};
use super::{ConsolePage, NavigationTab, badge, picture, text};

/// Number of ends of missions that a page shows.
const ENDS: usize = 40;

/// This page of all workflows.
pub fn list(plans: &[&Plan<'_>]) -> ConsolePage<'static> {
    let content = html! {
        h1 { "Workflows" }
        @if plans.is_empty() {
            p.empty { "There is no step workflow. " code { "orange-fleet serve --prompts-path DIR" } " loads some." }
        }
        @for plan in plans {
            section.card aria-label={ "Workflow " (plan.name) } {
                h2 { a href={ "/console/workflows/" (plan.name) } { (plan.name) } " " span.number { (plan.version) } }
                @if !plan.description.is_empty() { p dir="auto" { (text::line(plan.description)) } }
                p.facts {
                    (counted(plan.steps.len(), "step", "steps")) ": "
                    (plan.order.iter().map(|id| plan.step(*id).id).collect::<Vec<_>>().join(", "))
                }
            }
        }
    };
    ConsolePage {
        title: "Workflows",
        tab: NavigationTab::Workflows,
        live: None,
        says: String::new(),
        content,
    }
}

/// This page of one workflow.
pub fn page<'p>(plan: &'p Plan<'_>, proof: &PlanProof) -> ConsolePage<'p> {
    let policy = plan.policy;
    let content = html! {
        p.back { a href="/console/workflows" { "← Workflows" } }
        h1 { (plan.name) " " span.number { (plan.version) } }
        @if !plan.description.is_empty() { p dir="auto" { (text::visible(plan.description)) } }
        p { a.button href={ "/console/start?workflow=" (plan.name) } { "Start a mission with it" } }
        dl.facts {
            div { dt { "Execution" } dd { (words::execution(policy.execution)) } }
            div { dt { "Intervene" } dd { (words::intervene(policy.intervene)) } }
            div { dt { "Roles" } dd { (plan.roles.join(", ")) } }
            div { dt { "Hash" } dd { code { (text::cut(plan.source_hash, 16).0) } } }
        }
        section #plan aria-labelledby="plan-title" {
            h2 #plan-title { "Plan" }
            (picture::picture(plan, None))
            (steps(plan, &proof.figures))
        }
        section #proof aria-labelledby="proof-title" {
            h2 #proof-title { "Proof" }
            (proved(proof))
        }
    };
    ConsolePage { title: plan.name, tab: NavigationTab::Workflows, live: None, says: String::new(), content }
}

fn steps(plan: &Plan<'_>, figures: &PlanFigures) -> Markup {
    html! {
        table.list role="table" {
            caption.unseen { "The steps, in the order in which they can run" }
            thead role="rowgroup" { tr role="row" {
                @for name in ["Step", "Role", "After", "If", "At most"] { th role="columnheader" scope="col" { (name) } }
            } }
            tbody role="rowgroup" {
                @for id in plan.order {
                    @let step = plan.step(*id);
                    tr role="row" {
                        th role="rowheader" scope="row" {
                            (step.id)
                            @if step.title != step.id { " " span.sub dir="auto" { (text::line(step.title)) } }
                        }
                        td role="cell" { (plan.role(step.role)) }
                        td.nil[step.handles.is_none() && step.depends_on.is_empty()] role="cell" data-label="after" {
                            @if let Some(failed) = step.handles { "a failure of " (plan.step(failed).id) }
                            @else if step.depends_on.is_empty() { "–" }
                            @else { (step.depends_on.iter().map(|it| plan.step(*it).id).collect::<Vec<_>>().join(", ")) }
                        }
                        td.nil[step.condition.is_none()] role="cell" data-label="if" {
                            @match &step.condition {
                                Some(condition) => { code { (text::line(&plan.condition_text(condition))) } }
                                None => { "–" }
                            }
                        }
                        td role="cell" data-label="at most" { (most(figures, step.id)) }
                    }
                }
            }
        }
    }
}

/// Most attempts of a step, such as "4 attempts".
fn most(figures: &PlanFigures, step: &str) -> String {
    let known = figures.by_step.iter().find(|it| it.step == step).and_then(|it| it.most);
    known.map_or_else(|| "no bound".to_owned(), |most| counted(most as usize, "attempt", "attempts"))
}

fn proved(proof: &PlanProof) -> Markup {
    let figures = &proof.figures;
    html! {
        ul.proof { @for judged in &proof.properties { (property(judged)) } }
        p {
            "Looked at: " (figures.configurations) " configurations that a mission can come to, and " (figures.acts)
            " acts between them" @if figures.is_cut { "; the search was cut, so that there are more" } "."
        }
        details {
            summary { "How missions end (" (figures.ends.len()) ")" }
            ul { @for end in figures.ends.iter().take(ENDS) { li { (ends(end)) } } }
            @if figures.ends.len() > ENDS { p.note { "And " (figures.ends.len() - ENDS) " more." } }
        }
        details {
            summary { "What this rests on" }
            ul { @for it in RESTS_ON { li { (it) } } }
        }
    }
}

fn property(judged: &Judged) -> Markup {
    let (tone, word) = match &judged.verdict {
        ProofVerdict::Proved { .. } => (Tone::Good, "proved"),
        ProofVerdict::Refuted { .. } => (Tone::Bad, "refuted"),
        ProofVerdict::Undecided { .. } => (Tone::Ask, "undecided"),
    };
    html! {
        li {
            p { (badge(tone, word)) " " strong { (judged.claim) } }
            @match &judged.verdict {
                ProofVerdict::Proved { argument } => { p.note { (argument) } }
                ProofVerdict::Undecided { cut } => {
                    p.note { "Nothing that breaks it was found, and it is not proved: " (cut) }
                }
                ProofVerdict::Refuted { findings, trace } => {
                    @for finding in findings { p.note { (finding.code()) " " (finding.message) } }
                    @if let Some(trace) = trace { p.note { "Run: " (text::cut(&trace.to_string(), text::SUMMARY).0) } }
                }
            }
        }
    }
}

/// "completed: plan and review have run"
fn ends(end: &MissionEnd) -> String {
    let mut text = format!("{}: {}", end.status, listed(&end.ran, "has run", "have run"));
    if !end.failed.is_empty() {
        text += &format!("; {}", listed(&end.failed, "has failed", "have failed"));
    }
    if !end.exhausted.is_empty() {
        text += &format!("; the loop of {}", listed(&end.exhausted, "is exhausted", "are exhausted"));
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
