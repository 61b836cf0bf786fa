//! SVG, for pages that show no Mermaid: one file, no fonts and no scripts from elsewhere, for light and dark pages.

mod copies;
mod legend;
mod line;
mod shape;

use orange_codegen::Span;
use orange_picture::layout::{self, Plan};
use orange_picture::pen::{self, escape, number};
use orange_picture::{Connector, Point, Sizes, stroke};

use super::{Graph, GraphEdge, GraphNode, GraphNodeKind, Mark, Taker};
use crate::answer::Failure;
use crate::output::put;

/// States and edges together. Larger pictures are unreadable, and take long to lay out.
const MAX_SIZE: usize = 600;

const STYLE: &str = include_str!("style.css");
const MARGIN: f64 = 24.0;
/// Characters of a label in one line.
const LABEL_LENGTH: usize = 28;
const HEADING: f64 = 34.0;
/// The legend needs at least that much width.
const LEAST_WIDTH: f64 = 560.0;

/// The picture: the name, the graph, what is highlighted, a legend.
///
/// # Errors
///
/// The graph is too large for a picture.
pub(crate) fn svg(graph: &Graph) -> Result<String, Failure> {
    drawn(graph, false)
}

/// The picture as [`svg`] draws it, in which each group names its part and the bytes of its declarations.
///
/// # Errors
///
/// The graph is too large for a picture.
pub(crate) fn svg_with_places(graph: &Graph) -> Result<String, Failure> {
    drawn(graph, true)
}

fn drawn(graph: &Graph, has_places: bool) -> Result<String, Failure> {
    let size = graph.nodes.len() + graph.edges.len();
    if size > MAX_SIZE {
        let what = if graph.has_steps { "steps and arrows" } else { "states and transitions" };
        return Err(Failure::new(
            format!("{size} {what} are too many for one picture; {MAX_SIZE} are drawn"),
            "`--format dot` writes graphs of any size for Graphviz",
        ));
    }
    let words = description(graph);
    let graph = &copies::with_own_ends(graph);
    let ends = |at| graph.edges.iter().filter(|it| it.from == at || it.to == at).count();
    let frames = graph.nodes.iter().enumerate().map(|(at, node)| shape::frame(node, ends(at)));
    let lines = graph.edges.iter().map(|edge| Connector {
        from: edge.from,
        to: edge.to,
        label: stroke::label_size(&written(edge)),
    });
    let sizes = Sizes { frames: frames.collect(), lines: lines.collect() };
    Ok(GraphLayout::new(graph, &sizes, layout::plan(&sizes), has_places).draw(&words))
}

/// The text on an edge. Dashes, not the text, say that an agent has ended.
fn written(edge: &GraphEdge) -> Vec<String> {
    let or = if edge.taker == Taker::AskerOrEngine { "or " } else { "" };
    let after = edge.after.as_ref().map(|it| format!("{or}{it}"));
    edge.asked().iter().flat_map(|it| pen::broken(it, LABEL_LENGTH)).chain(after).collect()
}

/// The positions of all parts.
struct GraphLayout<'g> {
    graph: &'g Graph,
    sizes: &'g Sizes,
    plan: Plan,
    width: f64,
    bottom: f64,
    /// True if groups name their parts.
    has_places: bool,
}

impl<'g> GraphLayout<'g> {
    /// Moves the plan to its place on the canvas.
    fn new(graph: &'g Graph, sizes: &'g Sizes, mut plan: Plan, has_places: bool) -> Self {
        let (least, greatest) = plan.extent(sizes);
        let drawn = greatest.x - least.x;
        let width = drawn.max(LEAST_WIDTH) + 2.0 * MARGIN;
        plan.shift(Point { x: (width - drawn) / 2.0 - least.x, y: MARGIN + HEADING - least.y });
        let bottom = MARGIN + HEADING + greatest.y - least.y;
        Self { graph, sizes, plan, width, bottom, has_places }
    }

    fn draw(&self, words: &str) -> String {
        let mut body = String::new();
        let heading = escape(&self.graph.name);
        let y = number(MARGIN + 12.0);
        put(
            &mut body,
            format_args!("<text class=\"heading\" x=\"{}\" y=\"{y}\">{heading}</text>\n", number(MARGIN)),
        );
        self.edges(&mut body);
        self.nodes(&mut body);
        self.badges(&mut body);
        let bottom = self.caption(&mut body, self.bottom + MARGIN);
        let right = self.width - MARGIN;
        let bottom = legend::legend(&mut body, self.graph, MARGIN, bottom, right) + MARGIN / 2.0;
        document(self.graph, words, &body, (self.width, bottom))
    }

    fn edges(&self, out: &mut String) {
        let edges = || self.graph.edges.iter().zip(&self.plan.routes);
        for (edge, route) in edges() {
            put(
                out,
                format_args!(
                    "<g class=\"{}\"{}><title>{}</title>",
                    self.class("edge", &edge.mark),
                    self.place(&self.arrow(edge), &edge.spans),
                    self.describe(edge)
                ),
            );
            line::line(out, edge, route);
            out.push_str("</g>\n");
        }
        for (edge, route) in edges() {
            let Some(centre) = route.label else { continue };
            let place = self.place(&self.arrow(edge), &edge.spans);
            put(out, format_args!("<g class=\"{}\"{place}>", self.class("text", &edge.mark)));
            out.push_str(&stroke::label(&written(edge), centre));
            out.push_str("</g>\n");
        }
    }

    fn nodes(&self, out: &mut String) {
        for ((node, centre), frame) in self.graph.nodes.iter().zip(&self.plan.boxes).zip(&self.sizes.frames) {
            let class = self.class("node", &node.mark);
            let place = self.place(&node.name, &node.spans);
            put(out, format_args!("<g class=\"{class}\"{place}><title>{}</title>", escape(&described(node))));
            shape::node(out, node, *centre, frame.size);
            out.push_str("</g>\n");
        }
    }

    fn badges(&self, out: &mut String) {
        let edges = self.graph.edges.iter().zip(&self.plan.routes);
        for (edge, route) in edges.filter(|(edge, _)| !edge.mark.steps.is_empty()) {
            line::badge(out, &edge.mark.numbers(), line::badge_place(route, &written(edge)));
            out.push('\n');
        }
        let nodes = self.graph.nodes.iter().zip(&self.plan.boxes).zip(&self.sizes.frames);
        for ((node, centre), frame) in nodes.filter(|((node, _), _)| !node.mark.steps.is_empty()) {
            let place = Point { x: centre.x + frame.size.x / 2.0, y: centre.y - frame.size.y / 2.0 };
            line::badge(out, &node.mark.numbers(), place);
            out.push('\n');
        }
    }

    /// Writes what is highlighted below `top` and gives the lower end.
    fn caption(&self, out: &mut String, top: f64) -> f64 {
        let mut y = top;
        for (at, text) in self.graph.caption.iter().enumerate() {
            let class = if at == 0 { "said first" } else { "said" };
            for line in pen::broken(text, self.line_length()) {
                let (x, text) = (number(MARGIN), escape(&line));
                put(
                    out,
                    format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{}\">{text}</text>\n", number(y)),
                );
                y += 18.0;
            }
        }
        y
    }

    /// Number of characters of a caption that fit in one line.
    fn line_length(&self) -> usize {
        ((self.width - 2.0 * MARGIN) / pen::width("x", 12.0)) as usize
    }

    /// The class, and whether the node is highlighted or faded.
    fn class(&self, class: &str, mark: &Mark) -> String {
        match (self.graph.is_marked(), mark.on) {
            (false, _) => class.to_owned(),
            (true, true) => format!("{class} marked"),
            (true, false) => format!("{class} faded"),
        }
    }

    /// Attributes that name a part and say where it is declared: `data-span="12-40 96-120"`.
    fn place(&self, name: &str, spans: &[Span]) -> String {
        if !self.has_places {
            return String::new();
        }
        let spans: Vec<String> = spans.iter().map(|it| format!("{}-{}", it.start, it.end)).collect();
        format!(" data-name=\"{}\" data-span=\"{}\"", escape(name), spans.join(" "))
    }

    fn arrow(&self, edge: &GraphEdge) -> String {
        let name = |at: usize| self.graph.nodes.get(at).map_or("", |it| it.name.as_str());
        format!("{} → {}", name(edge.from), name(edge.to))
    }

    /// An edge in words.
    fn describe(&self, edge: &GraphEdge) -> String {
        let name = |at: usize| self.graph.nodes[at].name.as_str();
        let taken = match edge.taker {
            Taker::Asker | Taker::Loop | Taker::Failure => None,
            Taker::AskerOrEngine if edge.is_overdue() => Some("also by the engine"),
            Taker::Engine if edge.is_overdue() => Some("by the engine"),
            Taker::AskerOrEngine => Some("also by the engine when an agent ended"),
            Taker::Engine => Some("by the engine when an agent ended"),
            Taker::Watch => Some("by the engine when this holds"),
        };
        let asked = edge.asked();
        let more: Vec<&str> =
            asked.iter().map(String::as_str).chain(taken).chain(edge.after.as_deref()).collect();
        let colon = if more.is_empty() { "" } else { ": " };
        escape(&format!("{} → {}{colon}{}", name(edge.from), name(edge.to), more.join(", ")))
    }
}

fn document(graph: &Graph, words: &str, body: &str, (width, height): (f64, f64)) -> String {
    let (width, height) = (number(width), number(height));
    let title = std::iter::once(graph.name.as_str()).chain(graph.headline()).collect::<Vec<_>>().join(": ");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"title desc\">\n\
         <title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n<style>\n{STYLE}</style>\n\
         <rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n{body}</svg>\n",
        escape(&title),
        escape(words),
        number(width.parse().unwrap_or(0.0) - 1.0),
        number(height.parse().unwrap_or(0.0) - 1.0),
    )
}

/// The picture in words.
fn description(graph: &Graph) -> String {
    let of_kind = |kind: GraphNodeKind| {
        let names = graph.nodes.iter().filter(|it| it.kind == kind).map(|it| it.name.as_str());
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then(|| format!("{}: {}.", kind.meaning(), names.join(", ")))
    };
    let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
    let nodes = if graph.has_steps { format!("{nodes} steps") } else { format!("{nodes} states") };
    let counted = format!("{nodes}, {edges} arrows between them.");
    std::iter::once(counted)
        .chain(GraphNodeKind::ALL.into_iter().filter_map(of_kind))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A node in words.
fn described(node: &GraphNode) -> String {
    let more = node.lines.iter().map(String::as_str);
    let describe: Vec<&str> = std::iter::once(node.kind.meaning()).chain(more).collect();
    format!("{}: {}", node.name, describe.join(", "))
}
