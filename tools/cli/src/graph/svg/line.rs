//! Lines: solid for an actor who asks, dashed for the engine, both where both take the same transition; solid for a dependency, dashed
//! for a loop and a failure.

use super::super::{Edge, Taker};
use super::layout::{Point, Route, Stretch};
use super::pen::{escape, number, width};
use crate::output::put;

const LABEL_SIZE: f64 = 11.0;
const LABEL_HEIGHT: f64 = 15.0;
/// How far the engine's line runs beside the other.
const BESIDE: f64 = 4.5;
/// The length of an arrow's head, and half its width.
const HEAD: (f64, f64) = (9.0, 4.5);

/// The size of the text on an edge.
pub(super) fn label_size(lines: &[String]) -> Point {
    let widest = lines.iter().map(|it| width(it, LABEL_SIZE)).fold(0.0, f64::max);
    if lines.is_empty() {
        return Point::default();
    }
    Point { x: widest + 10.0, y: LABEL_HEIGHT * lines.len() as f64 + 2.0 }
}

/// The line of an edge with its head.
pub(super) fn line(out: &mut String, edge: &Edge, route: &Route) {
    let Some(last) = route.stretches.last() else { return };
    let direction = direction(last, route.is_loop);
    let path = path(route, direction);
    let class = match edge.taker {
        Taker::Asker | Taker::AskerOrEngine => "line",
        Taker::Engine | Taker::Loop | Taker::Failure => "line engine",
    };
    put(out, format_args!("<path class=\"{class}\" d=\"{path}\"/>"));
    if edge.taker == Taker::AskerOrEngine {
        let beside = number(BESIDE);
        put(
            out,
            format_args!("<path class=\"line engine\" transform=\"translate({beside} 0)\" d=\"{path}\"/>"),
        );
    }
    head(out, last.to, direction);
}

/// The text on an edge, with a background of its own, so that no line runs through it.
pub(super) fn label(out: &mut String, lines: &[String], centre: Point) {
    let size = label_size(lines);
    let (x, y) = (number(centre.x - size.x / 2.0), number(centre.y - size.y / 2.0));
    let (width, height) = (number(size.x), number(size.y));
    put(
        out,
        format_args!(
            "<rect class=\"paper\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>"
        ),
    );
    let x = number(centre.x);
    let top = centre.y - LABEL_HEIGHT / 2.0 * (lines.len() as f64 - 1.0) + 4.0;
    for (text, at) in lines.iter().zip(0_u8..) {
        let y = number(top + LABEL_HEIGHT * f64::from(at));
        put(out, format_args!("<text class=\"label\" x=\"{x}\" y=\"{y}\">{}</text>", escape(text)));
    }
}

/// The numbers of the steps along this line, in a badge.
pub(super) fn badge(out: &mut String, numbers: &str, centre: Point) {
    let size = Point { x: (width(numbers, LABEL_SIZE) + 10.0).max(18.0), y: 18.0 };
    let (x, y) = (number(centre.x - size.x / 2.0), number(centre.y - size.y / 2.0));
    let (width, text_x, text_y) = (number(size.x), number(centre.x), number(centre.y + 4.0));
    put(
        out,
        format_args!(
            "<rect class=\"badge\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"18\" rx=\"9\"/>\
             <text class=\"number\" x=\"{text_x}\" y=\"{text_y}\">{numbers}</text>"
        ),
    );
}

/// The place of the badge of an edge: left of its text, or in the middle of the line.
pub(super) fn badge_place(route: &Route, lines: &[String]) -> Point {
    match route.label {
        Some(centre) => Point { x: centre.x - label_size(lines).x / 2.0 - 8.0, ..centre },
        None => route.stretches.get(route.stretches.len() / 2).map(|it| it.from).unwrap_or_default(),
    }
}

/// The direction of the line at its end.
fn direction(last: &Stretch, is_loop: bool) -> Point {
    match is_loop {
        true => Point { x: -1.0, y: 0.0 },
        false => Point { x: 0.0, y: if last.to.y < last.from.y { -1.0 } else { 1.0 } },
    }
}

/// The commands of the path, which ends inside the head, so that a thick line does not blunt it.
fn path(route: &Route, direction: Point) -> String {
    let (Some(first), Some(last)) = (route.stretches.first(), route.stretches.last()) else {
        return String::new();
    };
    let inside = HEAD.0 * 0.7;
    let end = Point { x: last.to.x - direction.x * inside, y: last.to.y - direction.y * inside };
    let mut out = format!("M{} {}", number(first.from.x), number(first.from.y));
    if route.is_loop {
        out.push_str(&round(first, end));
        return out;
    }
    for (at, stretch) in route.stretches.iter().enumerate() {
        let to = if at + 1 == route.stretches.len() { end } else { stretch.to };
        let (x, y) = (number(to.x), number(to.y));
        if stretch.is_upright() {
            put(&mut out, format_args!("V{y}"));
        } else {
            let middle = number((stretch.from.y + to.y) / 2.0);
            put(&mut out, format_args!("C{} {middle} {x} {middle} {x} {y}", number(stretch.from.x)));
        }
    }
    out
}

/// One curve out of a box to where a loop is widest, and back. It goes three quarters of the way to its handles.
fn round(first: &Stretch, end: Point) -> String {
    let handle = number(first.from.x + (first.to.x - first.from.x) / 0.75);
    format!(
        "C{handle} {} {handle} {} {} {}",
        number(first.from.y),
        number(end.y),
        number(end.x),
        number(end.y)
    )
}

fn head(out: &mut String, tip: Point, direction: Point) {
    let (length, half) = HEAD;
    let base = Point { x: tip.x - direction.x * length, y: tip.y - direction.y * length };
    let corner = |side: f64| {
        let (x, y) = (base.x - direction.y * half * side, base.y + direction.x * half * side);
        format!("{} {}", number(x), number(y))
    };
    let (x, y) = (number(tip.x), number(tip.y));
    put(out, format_args!("<path class=\"head\" d=\"M{x} {y}L{}L{}Z\"/>", corner(1.0), corner(-1.0)));
}
