//! The language of Graphviz: <https://graphviz.org/doc/info/lang.html>.

use super::{Graph, GraphEdge, GraphNode, GraphNodeKind, Taker};
use crate::output::put;

const MARKED: &str = ", color=\"#d9480f\", penwidth=3";

pub(crate) fn dot(graph: &Graph) -> String {
    let mut out = format!("digraph {} {{\n", quoted(std::slice::from_ref(&graph.name)));
    if !graph.caption.is_empty() {
        put(&mut out, format_args!("    label={};\n", quoted(&graph.caption)));
    }
    out.push_str("    node [fontname=\"sans-serif\"];\n    edge [fontname=\"sans-serif\", fontsize=10];\n");
    for (at, node) in graph.nodes.iter().enumerate() {
        put(&mut out, format_args!("    s{at} [{}];\n", of_node(node)));
    }
    for edge in &graph.edges {
        for attributes in of_edge(edge) {
            put(&mut out, format_args!("    s{} -> s{}{attributes};\n", edge.from, edge.to));
        }
    }
    out.push_str("}\n");
    out
}

fn of_node(node: &GraphNode) -> String {
    let lines: Vec<String> = node.text().into_iter().chain(node.mark.label()).collect();
    let entry = if node.entry { ", penwidth=2" } else { "" };
    let mark = if node.mark.on { MARKED } else { entry };
    format!("label={}, {}{mark}", quoted(&lines), shape(node.kind))
}

fn shape(kind: GraphNodeKind) -> &'static str {
    match kind {
        GraphNodeKind::Start => "shape=box, style=\"rounded,filled\", fillcolor=\"#ddf4ff\"",
        GraphNodeKind::Work => "shape=box, style=filled, fillcolor=\"#dafbe1\"",
        GraphNodeKind::Wait => "shape=hexagon, style=filled, fillcolor=\"#fff8c5\"",
        GraphNodeKind::Crash | GraphNodeKind::Handler => "shape=octagon, style=filled, fillcolor=\"#ffebe9\"",
        GraphNodeKind::End => "shape=box, style=\"rounded,filled\", peripheries=2, fillcolor=\"#eaeef2\"",
    }
}

/// The attributes of the arrow of an actor who asks, and of the dashed one of the engine. Loops and failures are dashed.
fn of_edge(edge: &GraphEdge) -> Vec<String> {
    let asked = attributes(edge, edge.asked(), None);
    let ended = || attributes(edge, edge.ended(), Some("style=dashed"));
    match edge.taker {
        Taker::Asker => vec![asked],
        Taker::AskerOrEngine => vec![asked, ended()],
        Taker::Engine => vec![ended()],
        Taker::Watch | Taker::Loop | Taker::Failure => {
            vec![attributes(edge, edge.asked(), Some("style=dashed"))]
        }
    }
}

fn attributes(edge: &GraphEdge, lines: Vec<String>, style: Option<&str>) -> String {
    let lines: Vec<String> = edge.mark.label().into_iter().chain(lines).collect();
    let label = (!lines.is_empty()).then(|| format!("label={}", quoted(&lines)));
    let mark = edge.mark.on.then(|| MARKED.trim_start_matches(", ").to_owned());
    let all: Vec<String> = label.into_iter().chain(style.map(str::to_owned)).chain(mark).collect();
    if all.is_empty() { String::new() } else { format!(" [{}]", all.join(", ")) }
}

/// The lines as one quoted string.
fn quoted(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|it| escape(it)).collect();
    format!("\"{}\"", lines.join("\\n"))
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for it in text.chars() {
        match it {
            '"' | '\\' => out.extend(['\\', it]),
            it if it.is_control() => out.push(' '),
            it => out.push(it),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::Mark;
    use super::*;

    #[test]
    fn a_graph_in_dot() {
        let node = |name: &str, kind| GraphNode { name: name.to_owned(), kind, ..GraphNode::default() };
        let graph = Graph {
            name: "two".into(),
            nodes: vec![
                node("digraph", GraphNodeKind::Start),
                GraphNode { entry: true, ..node("a\"\\N", GraphNodeKind::Crash) },
            ],
            edges: vec![
                GraphEdge {
                    to: 1,
                    lines: vec!["## R".into(), "a < 2".into()],
                    taker: Taker::AskerOrEngine,
                    ..GraphEdge::default()
                },
                GraphEdge {
                    to: 1,
                    taker: Taker::Engine,
                    mark: Mark { on: true, steps: vec![2] },
                    ..GraphEdge::default()
                },
                GraphEdge { from: 1, ..GraphEdge::default() },
            ],
            caption: vec!["C62".into()],
            has_steps: false,
        };
        let expect = r###"digraph "two" {
    label="C62";
    node [fontname="sans-serif"];
    edge [fontname="sans-serif", fontsize=10];
    s0 [label="digraph", shape=box, style="rounded,filled", fillcolor="#ddf4ff"];
    s1 [label="a\"\\N", shape=octagon, style=filled, fillcolor="#ffebe9", penwidth=2];
    s0 -> s1 [label="## R\na < 2"];
    s0 -> s1 [label="agent ended", style=dashed];
    s0 -> s1 [label="(2)\nagent ended", style=dashed, color="#d9480f", penwidth=3];
    s1 -> s0;
}
"###;
        assert_eq!(dot(&graph), expect);
    }
}
