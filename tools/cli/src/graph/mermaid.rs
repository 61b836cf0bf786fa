//! Mermaid, as GitHub renders it: <https://mermaid.js.org/syntax/flowchart.html>.

use super::{Edge, Graph, Kind, Node};
use crate::output::put;

/// A flowchart. Nodes are numbered, so that no name can be one of Mermaid's words.
pub(crate) fn mermaid(graph: &Graph) -> String {
    let mut out = format!("---\ntitle: \"{}\"\n---\nflowchart TD\n", escape(&graph.name));
    for (at, node) in graph.nodes.iter().enumerate() {
        put(&mut out, format_args!("    s{at}{}\n", shape(node)));
    }
    for Edge { from, to, lines } in &graph.edges {
        let label = if lines.is_empty() { String::new() } else { format!("|\"{}\"|", text(lines)) };
        put(&mut out, format_args!("    s{from} -->{label} s{to}\n"));
    }
    out
}

fn shape(node: &Node) -> String {
    let text = text(&node.lines);
    match node.kind {
        Kind::Start => format!("([\"{text}\"])"),
        Kind::Work => format!("[\"{text}\"]"),
        Kind::Wait => format!("{{{{\"{text}\"}}}}"),
        Kind::End => format!("(((\"{text}\")))"),
    }
}

fn text(lines: &[String]) -> String {
    lines.iter().map(|it| escape(it)).collect::<Vec<_>>().join("<br/>")
}

/// Spells out what Mermaid or the HTML around it could take for syntax. A `#` begins nothing without a `;`.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for it in text.chars() {
        match it {
            '"' => out.push_str("#quot;"),
            '&' => out.push_str("#amp;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            ';' | '%' | '`' | '\\' => put(&mut out, format_args!("#{};", u32::from(it))),
            it if it.is_control() => out.push(' '),
            it => out.push(it),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_in_mermaid() {
        let node = |text: &str, kind| Node { lines: vec![text.to_owned()], kind };
        let graph = Graph {
            name: "two".into(),
            nodes: vec![node("end", Kind::Start), node("Δ", Kind::End)],
            edges: vec![
                Edge { from: 0, to: 1, lines: vec![] },
                Edge { from: 0, to: 1, lines: vec!["## \"R\";".into(), "a < 2 && b".into()] },
            ],
        };
        let expect = r###"---
title: "two"
---
flowchart TD
    s0(["end"])
    s1((("Δ")))
    s0 --> s1
    s0 -->|"## #quot;R#quot;#59;<br/>a #lt; 2 #amp;#amp; b"| s1
"###;
        assert_eq!(mermaid(&graph), expect);
    }
}
