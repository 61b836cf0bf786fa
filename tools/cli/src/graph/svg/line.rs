//! Lines: solid for an actor who asks, dashed for the engine, both where both take the same transition; solid for a dependency, dashed
//! for a loop and a failure.

use orange_picture::pen::{number, width};
use orange_picture::stroke::{self, LABEL_SIZE, label_size};
use orange_picture::{Point, Route};

use super::super::{GraphEdge, Taker};
use crate::output::put;

/// Distance of the engine's line from the other.
const BESIDE: f64 = 4.5;

/// The line of an edge with its head.
pub(super) fn line(out: &mut String, edge: &GraphEdge, route: &Route) {
    if route.stretches.is_empty() {
        return;
    }
    let path = stroke::path(route);
    let class = match edge.taker {
        Taker::Asker | Taker::AskerOrEngine => "line",
        Taker::Engine | Taker::Watch | Taker::Loop | Taker::Failure => "line engine",
    };
    put(out, format_args!("<path class=\"{class}\" d=\"{path}\"/>"));
    if edge.taker == Taker::AskerOrEngine {
        let beside = number(BESIDE);
        put(
            out,
            format_args!("<path class=\"line engine\" transform=\"translate({beside} 0)\" d=\"{path}\"/>"),
        );
    }
    put(out, format_args!("<path class=\"head\" d=\"{}\"/>", stroke::head(route)));
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
