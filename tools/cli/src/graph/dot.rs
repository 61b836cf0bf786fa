//! The language of Graphviz: <https://graphviz.org/doc/info/lang.html>.

use super::{Edge, Graph, Kind};
use crate::output::put;

/// A digraph.
pub(crate) fn dot(graph: &Graph) -> String {
    let mut out = format!("digraph {} {{\n", quoted(std::slice::from_ref(&graph.name)));
    out.push_str("    node [fontname=\"sans-serif\"];\n    edge [fontname=\"sans-serif\", fontsize=10];\n");
    for (at, node) in graph.nodes.iter().enumerate() {
        let (label, shape) = (quoted(&node.lines), shape(node.kind));
        put(&mut out, format_args!("    s{at} [label={label}, {shape}];\n"));
    }
    for Edge { from, to, lines } in &graph.edges {
        let label = if lines.is_empty() { String::new() } else { format!(" [label={}]", quoted(lines)) };
        put(&mut out, format_args!("    s{from} -> s{to}{label};\n"));
    }
    out.push_str("}\n");
    out
}

fn shape(kind: Kind) -> &'static str {
    match kind {
        Kind::Start => "shape=box, style=rounded",
        Kind::Work => "shape=box",
        Kind::Wait => "shape=hexagon",
        Kind::End => "shape=box, style=rounded, peripheries=2",
    }
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
    use super::super::Node;
    use super::*;

    #[test]
    fn a_graph_in_dot() {
        let node = |text: &str, kind| Node { lines: vec![text.to_owned()], kind };
        let graph = Graph {
            name: "two".into(),
            nodes: vec![node("digraph", Kind::Start), node("a\"\\N", Kind::End)],
            edges: vec![Edge { from: 0, to: 1, lines: vec!["## R".into(), "a < 2".into()] }],
        };
        let expect = r###"digraph "two" {
    node [fontname="sans-serif"];
    edge [fontname="sans-serif", fontsize=10];
    s0 [label="digraph", shape=box, style=rounded];
    s1 [label="a\"\\N", shape=box, style=rounded, peripheries=2];
    s0 -> s1 [label="## R\na < 2"];
}
"###;
        assert_eq!(dot(&graph), expect);
    }
}
