//! Boxes: each kind has a shape of its own, so that no reader depends on colours.

use orange_picture::pen::{escape, number, width};
use orange_picture::{Frame, Point};

use super::super::{GraphNode, GraphNodeKind};
use crate::output::put;

const NAME_SIZE: f64 = 14.0;
const MORE_SIZE: f64 = 11.0;
const MORE_HEIGHT: f64 = 16.0;
const HEIGHT: f64 = 38.0;
/// The additional width of a box for each line that ends at it.
const ROOM: f64 = 13.0;
/// Length by which an octagon's corners are cut off.
const CORNER: f64 = 10.0;
/// Length of a hexagon's points.
const SLANT: f64 = 14.0;

/// Size of the box of a node at which so many lines end.
pub(super) fn frame(node: &GraphNode, ends: usize) -> Frame {
    let more = node.lines.iter().map(|it| width(it, MORE_SIZE)).fold(0.0, f64::max);
    let text = width(&node.name, NAME_SIZE).max(more);
    let height = HEIGHT + MORE_HEIGHT * node.lines.len() as f64;
    let (around, beside) = match node.kind {
        GraphNodeKind::Start | GraphNodeKind::End => (36.0, HEIGHT),
        GraphNodeKind::Work => (28.0, 16.0),
        GraphNodeKind::Wait => (2.0 * SLANT + 16.0, 2.0 * SLANT + 8.0),
        GraphNodeKind::Crash | GraphNodeKind::Handler => (32.0, 2.0 * CORNER + 8.0),
    };
    let size = Point { x: (text + around).max(ROOM * ends as f64).max(70.0), y: height };
    Frame { size, level: size.x - beside }
}

/// The box of a node around a point, with what is written in it.
pub(super) fn node(out: &mut String, node: &GraphNode, centre: Point, size: Point) {
    outline(out, node.kind, centre, size);
    if node.entry {
        let (x, y) = (number(centre.x - size.x / 2.0), number(centre.y));
        put(out, format_args!("<circle class=\"entry\" cx=\"{x}\" cy=\"{y}\" r=\"5\"/>"));
    }
    let x = number(centre.x);
    let top = centre.y - MORE_HEIGHT / 2.0 * node.lines.len() as f64;
    put(
        out,
        format_args!(
            "<text class=\"name\" x=\"{x}\" y=\"{}\">{}</text>",
            number(top + 5.0),
            escape(&node.name)
        ),
    );
    for (line, at) in node.lines.iter().zip(1_u8..) {
        let y = number(top + 4.0 + MORE_HEIGHT * f64::from(at));
        put(out, format_args!("<text class=\"more\" x=\"{x}\" y=\"{y}\">{}</text>", escape(line)));
    }
}

/// The shape of a kind.
pub(super) fn outline(out: &mut String, kind: GraphNodeKind, centre: Point, size: Point) {
    let class = kind.class();
    match kind {
        GraphNodeKind::Start => rectangle(out, &format!("state {class}"), centre, size, size.y / 2.0),
        GraphNodeKind::Work => rectangle(out, &format!("state {class}"), centre, size, 4.0),
        GraphNodeKind::Wait => polygon(out, class, centre, size, (SLANT.min(size.y / 2.0), size.y / 2.0)),
        GraphNodeKind::Crash | GraphNodeKind::Handler => {
            let corner = CORNER.min(size.y / 3.0);
            polygon(out, class, centre, size, (corner, corner));
        }
        GraphNodeKind::End => {
            rectangle(out, &format!("state {class}"), centre, size, size.y / 2.0);
            let inner = Point { x: size.x - 7.0, y: size.y - 7.0 };
            rectangle(out, &format!("state {class} inner"), centre, inner, inner.y / 2.0);
        }
    }
}

fn rectangle(out: &mut String, class: &str, centre: Point, size: Point, radius: f64) {
    let (x, y) = (number(centre.x - size.x / 2.0), number(centre.y - size.y / 2.0));
    let (width, height, radius) = (number(size.x), number(size.y), number(radius));
    put(
        out,
        format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>"
        ),
    );
}

/// A rectangle whose corners are cut off by so much; cut off to the middle, it is a hexagon.
fn polygon(out: &mut String, class: &str, centre: Point, size: Point, cut: (f64, f64)) {
    let (x, y) = (size.x / 2.0, size.y / 2.0);
    let (inner_x, inner_y) = (x - cut.0, y - cut.1);
    let mut corners = vec![
        (-inner_x, -y),
        (inner_x, -y),
        (x, -inner_y),
        (x, inner_y),
        (inner_x, y),
        (-inner_x, y),
        (-x, inner_y),
        (-x, -inner_y),
    ];
    corners.dedup();
    let points: Vec<String> = corners
        .into_iter()
        .map(|(x, y)| format!("{},{}", number(centre.x + x), number(centre.y + y)))
        .collect();
    put(out, format_args!("<polygon class=\"state {class}\" points=\"{}\"/>", points.join(" ")));
}
