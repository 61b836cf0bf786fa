//! Mermaid, as GitHub renders it: <https://mermaid.js.org/syntax/flowchart.html>.

use super::{Graph, GraphEdge, GraphNode, GraphNodeKind, Taker};
use crate::output::put;

/// Colours that are read on a light page as on a dark one; shapes say the same without them.
const CLASSES: [(&str, &str); 7] = [
    ("start", "fill:#ddf4ff,stroke:#0969da,color:#0a3069"),
    ("work", "fill:#dafbe1,stroke:#1a7f37,color:#044f1e"),
    ("wait", "fill:#fff8c5,stroke:#9a6700,color:#4d2d00"),
    ("crash", "fill:#ffebe9,stroke:#cf222e,color:#82071e"),
    ("final", "fill:#eaeef2,stroke:#57606a,color:#24292f"),
    ("entry", "stroke-width:3px"),
    ("mark", "stroke:#d9480f,stroke-width:4px"),
];

const MARKED_LINE: &str = "stroke:#d9480f,stroke-width:4px";

/// A flowchart. Nodes are numbered, so that no name can be one of Mermaid's words.
pub(crate) fn mermaid(graph: &Graph) -> String {
    let title: Vec<&str> = std::iter::once(graph.name.as_str()).chain(graph.headline()).collect();
    let mut out = format!("---\ntitle: \"{}\"\n---\nflowchart TD\n", escape(&title.join(": ")));
    for (at, node) in graph.nodes.iter().enumerate() {
        put(&mut out, format_args!("    s{at}{}:::{}\n", shape(node), node.kind.class()));
    }
    let mut marked = Vec::new();
    let mut count = 0;
    for edge in &graph.edges {
        for arrow in arrows(edge) {
            put(&mut out, format_args!("    s{} {arrow} s{}\n", edge.from, edge.to));
            if edge.mark.on {
                marked.push(count.to_string());
            }
            count += 1;
        }
    }
    out + &classes(graph) + &styles(&marked)
}

/// One arrow for an actor who asks, a dashed one for the engine, a loop or a failure.
fn arrows(edge: &GraphEdge) -> Vec<String> {
    let asked = arrow("-->", &numbered(edge, edge.asked()));
    match edge.taker {
        Taker::Asker => vec![asked],
        Taker::AskerOrEngine => vec![asked, arrow("-.->", &edge.ended())],
        Taker::Engine => vec![arrow("-.->", &numbered(edge, edge.ended()))],
        Taker::Watch | Taker::Loop | Taker::Failure => vec![arrow("-.->", &numbered(edge, edge.asked()))],
    }
}

fn arrow(line: &str, lines: &[String]) -> String {
    if lines.is_empty() { line.to_owned() } else { format!("{line}|\"{}\"|", text(lines)) }
}

fn numbered(edge: &GraphEdge, lines: Vec<String>) -> Vec<String> {
    edge.mark.label().into_iter().chain(lines).collect()
}

fn shape(node: &GraphNode) -> String {
    let lines: Vec<String> = node.text().into_iter().chain(node.mark.label()).collect();
    let text = text(&lines);
    match node.kind {
        GraphNodeKind::Start => format!("([\"{text}\"])"),
        GraphNodeKind::Work => format!("[\"{text}\"]"),
        GraphNodeKind::Wait => format!("{{{{\"{text}\"}}}}"),
        GraphNodeKind::Crash | GraphNodeKind::Handler => format!("[/\"{text}\"\\]"),
        GraphNodeKind::End => format!("(((\"{text}\")))"),
    }
}

/// The definitions of the classes that are used, and which nodes have those that are not a kind.
fn classes(graph: &Graph) -> String {
    let numbers = |has: fn(&GraphNode) -> bool| {
        let nodes = graph.nodes.iter().enumerate().filter(|(_, node)| has(node));
        nodes.map(|(at, _)| format!("s{at}")).collect::<Vec<_>>().join(",")
    };
    let members = [("entry", numbers(|it| it.entry)), ("mark", numbers(|it| it.mark.on))];
    let is_used = |class: &str| {
        graph.nodes.iter().any(|it| it.kind.class() == class)
            || members.iter().any(|(name, of)| *name == class && !of.is_empty())
    };
    let mut out = String::new();
    for (class, style) in CLASSES.into_iter().filter(|(class, _)| is_used(class)) {
        put(&mut out, format_args!("    classDef {class} {style}\n"));
    }
    for (class, of) in members.iter().filter(|(_, of)| !of.is_empty()) {
        put(&mut out, format_args!("    class {of} {class}\n"));
    }
    out
}

fn styles(marked: &[String]) -> String {
    if marked.is_empty() {
        return String::new();
    }
    format!("    linkStyle {} {MARKED_LINE}\n", marked.join(","))
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
    use super::super::Mark;
    use super::*;

    #[test]
    fn a_graph_in_mermaid() {
        let node = |name: &str, kind| GraphNode { name: name.to_owned(), kind, ..GraphNode::default() };
        let graph = Graph {
            name: "two".into(),
            nodes: vec![
                GraphNode { entry: true, ..node("end", GraphNodeKind::Start) },
                GraphNode { mark: Mark { on: true, steps: vec![] }, ..node("Δ", GraphNodeKind::End) },
            ],
            edges: vec![
                GraphEdge { from: 0, to: 1, taker: Taker::AskerOrEngine, ..GraphEdge::default() },
                GraphEdge {
                    from: 0,
                    to: 1,
                    lines: vec!["## \"R\";".into(), "a < 2 && b".into()],
                    mark: Mark { on: true, steps: vec![1, 3] },
                    ..GraphEdge::default()
                },
                GraphEdge {
                    to: 1,
                    after: Some("after 2 crashes".into()),
                    taker: Taker::Engine,
                    ..GraphEdge::default()
                },
            ],
            caption: vec!["C62 it".into()],
            has_steps: false,
        };
        let expect = r###"---
title: "two: C62 it"
---
flowchart TD
    s0(["end"]):::start
    s1((("Δ"))):::final
    s0 --> s1
    s0 -.->|"agent ended"| s1
    s0 -->|"(1, 3)<br/>## #quot;R#quot;#59;<br/>a #lt; 2 #amp;#amp; b"| s1
    s0 -.->|"agent ended<br/>after 2 crashes"| s1
    classDef start fill:#ddf4ff,stroke:#0969da,color:#0a3069
    classDef final fill:#eaeef2,stroke:#57606a,color:#24292f
    classDef entry stroke-width:3px
    classDef mark stroke:#d9480f,stroke-width:4px
    class s0 entry
    class s1 mark
    linkStyle 2 stroke:#d9480f,stroke-width:4px
"###;
        assert_eq!(mermaid(&graph), expect);
    }
}
