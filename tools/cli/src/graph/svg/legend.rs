//! The legend: what each shape and line that occurs means.

use orange_picture::Point;
use orange_picture::pen::{escape, number, width};

use super::super::{Graph, GraphNodeKind, Taker};
use super::shape;
use crate::output::put;

const TEXT_SIZE: f64 = 12.0;
const ROW: f64 = 26.0;
const SAMPLE: Point = Point { x: 32.0, y: 18.0 };
const GAP: f64 = 22.0;

/// Sample that an entry shows.
#[derive(Clone, Copy)]
enum LegendSample {
    Shape(GraphNodeKind),
    Entry,
    Line(Taker),
}

/// Draws the legend in rows below `top` and gives its lower end.
pub(super) fn legend(out: &mut String, graph: &Graph, left: f64, top: f64, right: f64) -> f64 {
    let mut at = Point { x: left, y: top + ROW / 2.0 };
    for (sample, meaning) in entries(graph) {
        let length = SAMPLE.x + 8.0 + width(meaning, TEXT_SIZE);
        if at.x > left && at.x + length > right {
            at = Point { x: left, y: at.y + ROW };
        }
        draw(out, sample, Point { x: at.x + SAMPLE.x / 2.0, y: at.y });
        let (x, y) = (number(at.x + SAMPLE.x + 8.0), number(at.y + 4.0));
        put(out, format_args!("<text class=\"key\" x=\"{x}\" y=\"{y}\">{}</text>\n", escape(meaning)));
        at.x += length + GAP;
    }
    at.y + ROW / 2.0
}

fn entries(graph: &Graph) -> Vec<(LegendSample, &'static str)> {
    let has_kind = |kind: &GraphNodeKind| graph.nodes.iter().any(|it| it.kind == *kind);
    let has_taker = |taker: Taker| graph.edges.iter().any(|it| it.taker == taker);
    let kinds =
        GraphNodeKind::ALL.into_iter().filter(has_kind).map(|it| (LegendSample::Shape(it), it.meaning()));
    let entry =
        graph.nodes.iter().any(|it| it.entry).then_some((LegendSample::Entry, "tasks may be created here"));
    let lines = [
        (Taker::Asker, "when asked for"),
        (Taker::Engine, "by the engine, when an agent ended"),
        (Taker::AskerOrEngine, "either"),
        (Taker::Watch, "by the engine, when a fact holds"),
        (Taker::Loop, "runs it again, or handles its failure"),
        (Taker::Failure, "runs it again, or handles its failure"),
    ];
    let is_of_engine = has_taker(Taker::Engine) || has_taker(Taker::AskerOrEngine) || has_taker(Taker::Watch);
    let mut lines: Vec<_> = lines.into_iter().filter(|(taker, _)| has_taker(*taker)).collect();
    lines.retain(|(taker, _)| *taker != Taker::Asker || is_of_engine);
    lines.dedup_by_key(|(_, meaning)| *meaning);
    kinds
        .chain(entry)
        .chain(lines.into_iter().map(|(taker, meaning)| (LegendSample::Line(taker), meaning)))
        .collect()
}

fn draw(out: &mut String, sample: LegendSample, centre: Point) {
    let (left, right) = (number(centre.x - SAMPLE.x / 2.0), number(centre.x + SAMPLE.x / 2.0));
    let mut line = |class: &str, y: f64| {
        let y = number(y);
        put(out, format_args!("<path class=\"{class}\" d=\"M{left} {y}H{right}\"/>"));
    };
    match sample {
        LegendSample::Shape(kind) => shape::outline(out, kind, centre, SAMPLE),
        LegendSample::Entry => {
            let (x, y) = (number(centre.x + SAMPLE.x / 2.0 - 5.0), number(centre.y));
            put(out, format_args!("<circle class=\"entry\" cx=\"{x}\" cy=\"{y}\" r=\"5\"/>"));
        }
        LegendSample::Line(Taker::Asker) => line("line", centre.y),
        LegendSample::Line(Taker::Engine | Taker::Watch | Taker::Loop | Taker::Failure) => {
            line("line engine", centre.y)
        }
        LegendSample::Line(Taker::AskerOrEngine) => {
            line("line", centre.y - 2.0);
            line("line engine", centre.y + 2.5);
        }
    }
}
