//! In a picture with many lines, an end that many states lead to stands beside each of them: lines to one place would cross it all.

use super::super::{Graph, GraphEdge, GraphNode, GraphNodeKind, Mark};

/// A picture with fewer lines has each state once.
const MANY_LINES: usize = 100;

/// An end that fewer states lead to stays in one place.
const MANY_SOURCES: usize = 8;

/// The graph with a copy of such an end for each state that leads to it.
pub(super) fn with_own_ends(graph: &Graph) -> Graph {
    let mut copied = graph.clone();
    if graph.has_steps || graph.edges.len() <= MANY_LINES {
        return copied;
    }
    for (end, node) in graph.nodes.iter().enumerate().filter(|(_, it)| it.kind == GraphNodeKind::End) {
        let mut sources: Vec<usize> = lines_to(graph, end).map(|it| it.from).collect();
        sources.sort_unstable();
        sources.dedup();
        if sources.len() < MANY_SOURCES {
            continue;
        }
        let is_reached = lines_to(graph, end).any(|it| it.mark.on);
        for (number, source) in sources.into_iter().enumerate() {
            let lines: Vec<usize> = (0..graph.edges.len())
                .filter(|line| (graph.edges[*line].from, graph.edges[*line].to) == (source, end))
                .collect();
            let is_marked = !is_reached || lines.iter().any(|line| graph.edges[*line].mark.on);
            let mark = if is_marked { node.mark.clone() } else { Mark::default() };
            let copy = GraphNode { mark, ..node.clone() };
            // The first state keeps the end itself.
            if number == 0 {
                copied.nodes[end] = copy;
            } else {
                lines.into_iter().for_each(|line| copied.edges[line].to = copied.nodes.len());
                copied.nodes.push(copy);
            }
        }
    }
    copied
}

fn lines_to(graph: &Graph, end: usize) -> impl Iterator<Item = &GraphEdge> {
    graph.edges.iter().filter(move |it| it.to == end)
}
