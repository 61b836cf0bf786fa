//! Lays boxes and lines out with dagre, then gives each line its own ports and lets it run straight past the boxes of a layer.

use std::collections::BTreeMap;

use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::{Align, LabelPos};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, layout};

/// A point or a size; x to the right, y down, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    pub y: f64,
}

/// The input of the layout.
#[derive(Debug)]
pub struct Sizes {
    /// Frame of each box.
    pub frames: Vec<Frame>,
    /// Ends and text size of each line.
    pub lines: Vec<Connector>,
}

/// The outline of a box.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Its width and height.
    pub size: Point,
    /// Width of the level part of its upper and lower side, around the middle.
    pub level: f64,
}

/// A line between two boxes, and the size of what is written on it.
#[derive(Clone, Copy, Debug)]
pub struct Connector {
    /// The box where it begins.
    pub from: usize,
    /// The box where it ends, with its head.
    pub to: usize,
    /// The size of its text; its width is 0 if there is none.
    pub label: Point,
}

/// The result of the layout.
#[derive(Debug)]
pub struct Plan {
    /// The centre of each box.
    pub boxes: Vec<Point>,
    /// The path of each line.
    pub routes: Vec<Route>,
}

/// The path of one line.
#[derive(Debug, Default)]
pub struct Route {
    /// From the border of one box to that of the other.
    pub stretches: Vec<Stretch>,
    /// The centre of its text.
    pub label: Option<Point>,
    /// True if it goes out of its box and comes back to it.
    pub is_loop: bool,
}

/// A part of a line: a vertical piece, or a bend from one vertical piece to the next. A loop has two parts: out and back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Its start.
    pub from: Point,
    /// Its end.
    pub to: Point,
}

/// The least distance in pixels between two lines at one side of a box, if there is room.
const PORT_GAP: f64 = 16.0;

/// Length in pixels of the straight ends of a line at its boxes: a little more than its arrowhead.
const STUB: f64 = 12.0;

/// Half the distance in pixels between the ends of a loop.
const LOOP: f64 = 7.0;

/// The alignments in which dagre puts boxes below each other.
const ALIGNMENTS: [Option<Align>; 5] =
    [None, Some(Align::UL), Some(Align::UR), Some(Align::DL), Some(Align::DR)];

/// The most lines for which every alignment is tried, since each is a whole layout. A larger picture gets only the first.
const MOST_LINES: usize = 100;

/// Lays boxes and lines out from top to bottom, and returns the plan whose lines move least to the sides. Equal sizes give equal
/// plans.
pub fn plan(sizes: &Sizes) -> Plan {
    let tried = if sizes.lines.len() > MOST_LINES { 1 } else { ALIGNMENTS.len() };
    let plans = ALIGNMENTS.into_iter().take(tried).map(|align| aligned(sizes, align));
    let best = plans.min_by(|a, b| a.sideways().total_cmp(&b.sideways()));
    best.unwrap_or_else(|| Plan { boxes: Vec::new(), routes: Vec::new() })
}

fn aligned(sizes: &Sizes, align: Option<Align>) -> Plan {
    let mut graph = graph(sizes);
    let options =
        LayoutOptions { align, nodesep: 36.0, edgesep: 18.0, ranksep: 84.0, ..LayoutOptions::default() };
    layout(&mut graph, Some(options));
    let boxes: Vec<Point> = (0..sizes.frames.len()).map(|at| centre(&graph, at)).collect();
    let found: Vec<DagreRoute> =
        sizes.lines.iter().enumerate().map(|(at, line)| found(&graph, at, line)).collect();
    let bands = Bands::of(sizes, &boxes, &found);
    let ports = ports(sizes, &boxes, &found);
    let routes = found.into_iter().zip(ports).map(|(found, ports)| route(found, ports, &bands)).collect();
    Plan { boxes, routes }
}

/// A line from dagre: the points at which it passes the layers between its boxes, and the centre and height of its text.
struct DagreRoute {
    passes: Vec<Point>,
    label: Option<(Point, f64)>,
    is_loop: bool,
}

fn graph(sizes: &Sizes) -> Graph<NodeLabel, EdgeLabel> {
    let options = GraphOptions { directed: true, multigraph: true, compound: false };
    let mut graph = Graph::with_options(options);
    for (at, Frame { size, .. }) in sizes.frames.iter().enumerate() {
        let label = NodeLabel { width: size.x, height: size.y, ..NodeLabel::default() };
        graph.set_node(at.to_string(), Some(label));
    }
    for (at, Connector { from, to, label }) in sizes.lines.iter().enumerate() {
        let label =
            EdgeLabel { width: label.x, height: label.y, labelpos: LabelPos::Center, ..EdgeLabel::default() };
        graph.set_edge(from.to_string(), to.to_string(), Some(label), Some(&at.to_string()));
    }
    graph
}

fn centre(graph: &Graph<NodeLabel, EdgeLabel>, at: usize) -> Point {
    let node = graph.node(&at.to_string());
    let coordinate = |of: fn(&NodeLabel) -> Option<f64>| node.and_then(of).unwrap_or_default();
    Point { x: coordinate(|it| it.x), y: coordinate(|it| it.y) }
}

fn found(graph: &Graph<NodeLabel, EdgeLabel>, at: usize, line: &Connector) -> DagreRoute {
    let edge = graph.edge(&line.from.to_string(), &line.to.to_string(), Some(&at.to_string()));
    let points = edge.map(|it| it.points.iter().map(|it| Point { x: it.x, y: it.y }).collect());
    let mut passes: Vec<Point> = points.unwrap_or_default();
    let is_loop = line.from == line.to;
    if !is_loop && passes.len() >= 2 {
        passes.remove(0);
        passes.pop();
    }
    let place = edge.and_then(|it| Some(Point { x: it.x?, y: it.y? }));
    let label = place.filter(|_| line.label.x > 0.0).map(|it| (it, line.label.y));
    DagreRoute { passes, label, is_loop }
}

/// Half the height of each layer, by the `key` of its middle. Lines run straight through a layer, past its boxes.
struct Bands(BTreeMap<i64, f64>);

impl Bands {
    fn of(sizes: &Sizes, boxes: &[Point], found: &[DagreRoute]) -> Self {
        let of_boxes = boxes.iter().zip(&sizes.frames).map(|(centre, it)| (centre.y, it.size.y));
        let of_labels = found.iter().filter_map(|it| it.label).map(|(centre, height)| (centre.y, height));
        let mut bands = BTreeMap::new();
        for (y, height) in of_boxes.chain(of_labels) {
            let half = bands.entry(Self::key(y)).or_insert(0.0_f64);
            *half = half.max(height / 2.0);
        }
        Self(bands)
    }

    fn half(&self, y: f64) -> f64 {
        self.0.get(&Self::key(y)).copied().unwrap_or_default()
    }

    /// The rounded y of the middle of a layer. Layers are more than one pixel apart.
    fn key(y: f64) -> i64 {
        y.round() as i64
    }
}

/// The two ends of a line, at the borders of its boxes.
#[derive(Clone, Copy, Debug, Default)]
struct LinePorts {
    start: Point,
    end: Point,
}

/// One end of a line at one side of a box.
struct LineEnd {
    line: usize,
    is_start: bool,
    /// Point from which the line comes or to which it goes.
    towards: Point,
}

/// Orders and spaces the ends of the lines at each side of each box.
fn ports(sizes: &Sizes, boxes: &[Point], found: &[DagreRoute]) -> Vec<LinePorts> {
    let mut sides: BTreeMap<(usize, bool), Vec<LineEnd>> = BTreeMap::new();
    for (line, (Connector { from, to, .. }, found)) in sizes.lines.iter().zip(found).enumerate() {
        if found.is_loop {
            continue;
        }
        let first = found.passes.first().copied().unwrap_or(boxes[*to]);
        let last = found.passes.last().copied().unwrap_or(boxes[*from]);
        for (at, towards, is_start) in [(*from, first, true), (*to, last, false)] {
            let is_below = towards.y > boxes[at].y;
            sides.entry((at, is_below)).or_default().push(LineEnd { line, is_start, towards });
        }
    }
    let mut ports = vec![LinePorts::default(); sizes.lines.len()];
    for ((at, is_below), mut ends) in sides {
        ends.sort_by(|a, b| a.towards.x.total_cmp(&b.towards.x));
        let Frame { size, level } = sizes.frames[at];
        let y = boxes[at].y + if is_below { size.y / 2.0 } else { -size.y / 2.0 };
        let wanted = ends.iter().map(|it| it.towards.x).collect();
        for (LineEnd { line, is_start, .. }, x) in ends.iter().zip(spread(wanted, boxes[at].x, level)) {
            let port = if *is_start { &mut ports[*line].start } else { &mut ports[*line].end };
            *port = Point { x, y };
        }
    }
    ports
}

/// The wanted places, in ascending order, moved into the level part around `centre` and apart from each other.
fn spread(wanted: Vec<f64>, centre: f64, level: f64) -> Vec<f64> {
    let (left, right) = (centre - level / 2.0, centre + level / 2.0);
    let gap = PORT_GAP.min(level / wanted.len().max(1) as f64);
    let mut places: Vec<f64> = wanted.into_iter().map(|it| it.clamp(left, right)).collect();
    for at in 1..places.len() {
        places[at] = places[at].max(places[at - 1] + gap);
    }
    let mut limit = right;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - gap;
    }
    places
}

fn route(found: DagreRoute, ports: LinePorts, bands: &Bands) -> Route {
    let label = found.label.map(|(centre, _)| centre);
    if found.is_loop {
        return Route { stretches: out_and_back(&found.passes), label, is_loop: true };
    }
    let mut at = ports.start;
    let direction = if ports.end.y >= ports.start.y { 1.0 } else { -1.0 };
    let mut stretches = Vec::new();
    let mut go = |to: Point| {
        if to != at {
            stretches.push(Stretch { from: at, to });
            at = to;
        }
    };
    go(Point { y: ports.start.y + STUB * direction, ..ports.start });
    for pass in found.passes {
        let half = bands.half(pass.y) * direction;
        go(Point { y: pass.y - half, ..pass });
        go(Point { y: pass.y + half, ..pass });
    }
    go(Point { y: ports.end.y - STUB * direction, ..ports.end });
    go(ports.end);
    Route { stretches, label, is_loop: false }
}

/// The two parts of a loop: out of the side of its box to the point furthest to the right, and back.
fn out_and_back(passes: &[Point]) -> Vec<Stretch> {
    let furthest = passes.iter().copied().max_by(|a, b| a.x.total_cmp(&b.x));
    let (Some(first), Some(furthest)) = (passes.first(), furthest) else { return Vec::new() };
    let side = |y: f64| Point { x: first.x, y: furthest.y + y };
    vec![Stretch { from: side(-LOOP), to: furthest }, Stretch { from: furthest, to: side(LOOP) }]
}

impl Plan {
    /// The sum of the horizontal distances of all lines.
    fn sideways(&self) -> f64 {
        let stretches = self.routes.iter().flat_map(|it| &it.stretches);
        stretches.map(|it| (it.from.x - it.to.x).abs()).sum()
    }

    /// The upper left and lower right corner around everything.
    pub fn extent(&self, sizes: &Sizes) -> (Point, Point) {
        let boxes = self.boxes.iter().zip(&sizes.frames).map(|(centre, it)| (*centre, it.size));
        let labels =
            self.routes.iter().zip(&sizes.lines).filter_map(|(it, line)| Some((it.label?, line.label)));
        let points = self.routes.iter().flat_map(|it| &it.stretches).flat_map(|it| [it.from, it.to]);
        let points = points.map(|it| (it, Point::default()));
        let start = Point { x: f64::INFINITY, y: f64::INFINITY };
        let end = Point { x: f64::NEG_INFINITY, y: f64::NEG_INFINITY };
        boxes.chain(labels).chain(points).fold((start, end), |(least, greatest), (centre, size)| {
            let (x, y) = (size.x / 2.0, size.y / 2.0);
            (
                Point { x: least.x.min(centre.x - x), y: least.y.min(centre.y - y) },
                Point { x: greatest.x.max(centre.x + x), y: greatest.y.max(centre.y + y) },
            )
        })
    }

    /// Moves all boxes, lines and texts.
    pub fn shift(&mut self, by: Point) {
        let move_by = |it: &mut Point| *it = Point { x: it.x + by.x, y: it.y + by.y };
        self.boxes.iter_mut().for_each(move_by);
        for route in &mut self.routes {
            route.label.iter_mut().for_each(move_by);
            for stretch in &mut route.stretches {
                move_by(&mut stretch.from);
                move_by(&mut stretch.to);
            }
        }
    }
}

impl Stretch {
    /// True if it runs straight down or up.
    pub fn is_upright(&self) -> bool {
        (self.from.x - self.to.x).abs() < 0.05
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wanted: &[f64], expect: &[f64]) {
        assert_eq!(spread(wanted.to_vec(), 50.0, 100.0), expect);
    }

    #[test]
    fn ports_keep_their_distance_and_their_order() {
        check(&[], &[]);
        check(&[-500.0], &[0.0]);
        check(&[30.0, 60.0], &[30.0, 60.0]);
        check(&[40.0, 40.0, 41.0], &[40.0, 56.0, 72.0]);
        check(&[300.0, 400.0], &[84.0, 100.0]);
        check(&[0.0; 10], &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]);
    }
}
