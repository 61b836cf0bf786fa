//! Lines with heads, and the text on them.

use crate::layout::{Point, Route, Stretch};
use crate::pen::{escape, number, width};

/// The size of the text on a line, in pixels.
pub const LABEL_SIZE: f64 = 11.0;
const LABEL_HEIGHT: f64 = 15.0;
/// The length of an arrow's head, and half its width.
const HEAD: (f64, f64) = (9.0, 4.5);

/// The size of the text on a line.
pub fn label_size(lines: &[String]) -> Point {
    let widest = lines.iter().map(|it| width(it, LABEL_SIZE)).fold(0.0, f64::max);
    if lines.is_empty() {
        return Point::default();
    }
    Point { x: widest + 10.0, y: LABEL_HEIGHT * lines.len() as f64 + 2.0 }
}

/// The text on a line, with a background of its own, so that no line runs through it.
pub fn label(lines: &[String], centre: Point) -> String {
    let size = label_size(lines);
    let (x, y) = (number(centre.x - size.x / 2.0), number(centre.y - size.y / 2.0));
    let (width, height) = (number(size.x), number(size.y));
    let mut out =
        format!("<rect class=\"paper\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>");
    let x = number(centre.x);
    let top = centre.y - LABEL_HEIGHT / 2.0 * (lines.len() as f64 - 1.0) + 4.0;
    for (text, at) in lines.iter().zip(0_u8..) {
        let y = number(top + LABEL_HEIGHT * f64::from(at));
        out.push_str(&format!("<text class=\"label\" x=\"{x}\" y=\"{y}\">{}</text>", escape(text)));
    }
    out
}

/// The commands of the path of a line, which ends inside the head, so that a thick line does not blunt it.
pub fn path(route: &Route) -> String {
    let (Some(first), Some(last)) = (route.stretches.first(), route.stretches.last()) else {
        return String::new();
    };
    let direction = direction(last, route.is_loop);
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
            out.push_str(&format!("V{y}"));
        } else {
            let middle = number((stretch.from.y + to.y) / 2.0);
            out.push_str(&format!("C{} {middle} {x} {middle} {x} {y}", number(stretch.from.x)));
        }
    }
    out
}

/// The commands of the head of a line.
pub fn head(route: &Route) -> String {
    let Some(last) = route.stretches.last() else { return String::new() };
    let (tip, direction) = (last.to, direction(last, route.is_loop));
    let (length, half) = HEAD;
    let base = Point { x: tip.x - direction.x * length, y: tip.y - direction.y * length };
    let corner = |side: f64| {
        let (x, y) = (base.x - direction.y * half * side, base.y + direction.x * half * side);
        format!("{} {}", number(x), number(y))
    };
    format!("M{} {}L{}L{}Z", number(tip.x), number(tip.y), corner(1.0), corner(-1.0))
}

/// The direction of the line at its end.
fn direction(last: &Stretch, is_loop: bool) -> Point {
    match is_loop {
        true => Point { x: -1.0, y: 0.0 },
        false => Point { x: 0.0, y: if last.to.y < last.from.y { -1.0 } else { 1.0 } },
    }
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
