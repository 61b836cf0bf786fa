//! The plan of a mission as a picture, with where each step stands. A table beside it says the same in words.

use maud::{Markup, PreEscaped, html};
use orange_core::mission::{Mission, StepState, StepStatus};
use orange_core::plan::{Plan, Step, StepId};
use orange_picture::layout::{self, Plan as Layout};
use orange_picture::pen::{escape, number, width};
use orange_picture::{Connector, Frame, Point, Sizes, stroke};

use super::text;
use super::words::{Tone, standing};

/// Steps and arrows together. A larger picture is unreadable, and takes long to lay out.
const MAX_SIZE: usize = 150;

const MARGIN: f64 = 8.0;
/// The height of a box, and of one that says where its step stands.
const HEIGHT: [f64; 2] = [48.0, 66.0];
/// A picture of at least this width keeps its size, and is scrolled on a small screen.
const WIDE: f64 = 480.0;
const NAME_SIZE: f64 = 14.0;
const MORE_SIZE: f64 = 11.0;
/// The longest that a step can stand at, so that no box changes its size.
const WIDEST: &str = "completed · #10";
/// Names in a box are cut after so many characters, and labels of lines, too.
const NAME_LENGTH: usize = 30;
/// Results are cut after so many.
const RESULT: usize = 16;

/// An arrow of the picture.
struct Arrow {
    from: StepId,
    to: StepId,
    label: Vec<String>,
    kind: ArrowKind,
}

/// Meaning of an arrow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArrowKind {
    /// The second step waits for the first.
    Wait,
    /// The first step sends the second back.
    Again,
    /// The second step handles the failure of the first.
    Failure,
}

/// The picture of a plan, or of a mission that follows it; a sentence instead where the plan is too large.
pub fn picture(plan: &Plan<'_>, mission: Option<&Mission>) -> Markup {
    let arrows: Vec<Arrow> = plan.step_ids().flat_map(|id| arrows_of(plan, id)).collect();
    let size = plan.steps.len() + arrows.len();
    if size > MAX_SIZE {
        return html! { p.note { "The plan has " (size) " steps and arrows, too many for a picture." } };
    }
    let sizes = Sizes {
        frames: plan
            .steps
            .iter()
            .map(|step| frame(plan, step, HEIGHT[usize::from(mission.is_some())]))
            .collect(),
        lines: arrows.iter().map(line_of).collect(),
    };
    let mut laid = layout::plan(&sizes);
    let (least, greatest) = laid.extent(&sizes);
    laid.shift(Point { x: MARGIN - least.x, y: MARGIN - least.y });
    let size = Point { x: greatest.x - least.x + 2.0 * MARGIN, y: greatest.y - least.y + 2.0 * MARGIN };
    let body = body(plan, mission, &arrows, &sizes, &laid);
    let (width, height) = (number(size.x), number(size.y));
    html! {
        div.scroll #picture-scroll tabindex="0" role="group" aria-label="Picture of the plan" {
            svg.plan.wide[size.x >= WIDE] width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) role="img"
                aria-label=(described(plan, mission)) {
                (PreEscaped(body))
            }
        }
    }
}

fn arrows_of(plan: &Plan<'_>, id: StepId) -> Vec<Arrow> {
    let step = plan.step(id);
    let arrow = |from, to, label, kind| Arrow { from, to, label, kind };
    let waits = step.depends_on.iter().map(|on| {
        let condition = step.condition.filter(|it| it.steps() == [*on]);
        let label = condition.map(|it| match it.equality() {
            Some((step, field, value)) => {
                format!("{} == '{}'", plan.field_name(step, field), short(value))
            }
            None => short(&plan.condition_text(&it)),
        });
        arrow(*on, id, label.into_iter().collect(), ArrowKind::Wait)
    });
    let times = if step.max_retries == 1 { "once".to_owned() } else { format!("{} times", step.max_retries) };
    let again =
        step.requeue.iter().map(|to| arrow(id, *to, vec![format!("again, up to {times}")], ArrowKind::Again));
    let failure = step.on_fail.iter().map(|to| arrow(id, *to, vec!["failed".to_owned()], ArrowKind::Failure));
    waits.chain(again).chain(failure).collect()
}

fn frame(plan: &Plan<'_>, step: &Step<'_>, height: f64) -> Frame {
    let of_role = width(&role(plan, step), MORE_SIZE);
    let widest = width(&short(step.id), NAME_SIZE).max(of_role).max(width(WIDEST, MORE_SIZE));
    let size = Point { x: widest + 20.0, y: height };
    Frame { size, level: size.x - 20.0 }
}

fn line_of(arrow: &Arrow) -> Connector {
    Connector { from: arrow.from.index(), to: arrow.to.index(), label: stroke::label_size(&arrow.label) }
}

fn body(
    plan: &Plan<'_>,
    mission: Option<&Mission>,
    arrows: &[Arrow],
    sizes: &Sizes,
    laid: &Layout,
) -> String {
    let mut out = String::new();
    for (arrow, route) in arrows.iter().zip(&laid.routes) {
        let class = class_of(arrow, mission);
        out.push_str(&format!(
            "<path class=\"{class}\" d=\"{}\"/><path class=\"head {class}\" d=\"{}\"/>",
            stroke::path(route),
            stroke::head(route)
        ));
    }
    for (arrow, route) in arrows.iter().zip(&laid.routes) {
        if let Some(centre) = route.label {
            out.push_str(&stroke::label(&arrow.label, centre));
        }
    }
    for ((id, centre), frame) in plan.step_ids().zip(&laid.boxes).zip(&sizes.frames) {
        out.push_str(&box_of(plan, id, mission.map(|it| it.step(id)), *centre, frame.size));
    }
    out
}

/// Classes of an arrow: dashed or not, and taken if the mission has gone along it.
fn class_of(arrow: &Arrow, mission: Option<&Mission>) -> &'static str {
    let is_taken = mission.is_some_and(|mission| {
        let (from, to) = (mission.step(arrow.from), mission.step(arrow.to));
        match arrow.kind {
            ArrowKind::Wait => from.latest.is_some() && !to.attempts.is_empty(),
            ArrowKind::Again => to.sent_back_by == Some(arrow.from),
            ArrowKind::Failure => !to.attempts.is_empty(),
        }
    });
    match (arrow.kind, is_taken) {
        (ArrowKind::Wait, false) => "line",
        (ArrowKind::Wait, true) => "line taken",
        (ArrowKind::Again | ArrowKind::Failure, false) => "line dashed",
        (ArrowKind::Again | ArrowKind::Failure, true) => "line dashed taken",
    }
}

fn box_of(plan: &Plan<'_>, id: StepId, state: Option<&StepState>, centre: Point, size: Point) -> String {
    let step = plan.step(id);
    let tone = state.map_or("calm", |it| Tone::of_step(it).class());
    let word =
        state.map_or("", |it| if standing(it) == "not run" { "skipped" } else { it.standing().as_str() });
    let (left, top) = (centre.x - size.x / 2.0, centre.y - size.y / 2.0);
    let mut out = format!(
        "<g class=\"step {tone} {word}\"><rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"8\"/>",
        number(left),
        number(top),
        number(size.x),
        number(size.y)
    );
    let lines = [
        ("name", short(step.id)),
        ("more", role(plan, step)),
        ("standing", state.map(standing_of).unwrap_or_default()),
    ];
    for ((class, text), y) in lines.iter().zip([21.0, 38.0, 55.0]).filter(|it| !it.0.1.is_empty()) {
        let (x, y) = (number(centre.x), number(top + y));
        out.push_str(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escape(text)));
    }
    out.push_str("</g>");
    out
}

/// "running · #2"
fn standing_of(state: &StepState) -> String {
    let word =
        if state.is_handled && state.status == StepStatus::Failed { "handled" } else { standing(state) };
    let result = state.latest.as_ref().and_then(|it| it.result.as_deref());
    match (state.attempt(), result) {
        (0, _) => word.to_owned(),
        (_, Some(result)) if state.standing() == StepStatus::Completed => {
            text::cut(result, RESULT).0.to_owned()
        }
        (1, _) => word.to_owned(),
        (attempt, _) => format!("{word} · #{attempt}"),
    }
}

fn role(plan: &Plan<'_>, step: &Step<'_>) -> String {
    short(plan.role(step.role))
}

fn short(name: &str) -> String {
    let (shown, is_cut) = text::cut(name, NAME_LENGTH);
    if is_cut { format!("{shown}…") } else { shown.to_owned() }
}

/// The picture in words.
fn described(plan: &Plan<'_>, mission: Option<&Mission>) -> String {
    let each = plan.order.iter().map(|id| {
        let name = plan.step(*id).id;
        match mission {
            Some(mission) => format!("{name} {}", standing(mission.step(*id))),
            None => name.to_owned(),
        }
    });
    format!("The plan {}: {}", plan.name, each.collect::<Vec<_>>().join(", "))
}
