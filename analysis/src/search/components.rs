//! The strongly connected components of a graph: which nodes lead to each other, and what leads where at last.

/// A graph of numbered nodes, its components numbered so that arrows between two lead to the lower number.
#[derive(Clone, Debug)]
pub struct Components {
    rows: Vec<u32>,
    targets: Vec<u32>,
    /// By node: the number of its component.
    number: Vec<u32>,
    /// The nodes, component after component.
    order: Vec<u32>,
}

impl Components {
    /// The components of the graph with this many nodes and these arrows, in linear time.
    pub fn of(nodes: usize, arrows: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut rows = vec![0u32; nodes + 1];
        arrows.clone().for_each(|(from, _)| rows[from as usize + 1] += 1);
        for node in 0..nodes {
            rows[node + 1] += rows[node];
        }
        let mut free = rows.clone();
        let mut targets = vec![0; rows[nodes] as usize];
        for (from, to) in arrows {
            let place = &mut free[from as usize];
            targets[*place as usize] = to;
            *place += 1;
        }
        let mut components =
            Self { rows, targets, number: vec![OPEN; nodes], order: Vec::with_capacity(nodes) };
        Tarjan::new(nodes).run(&mut components);
        components
    }

    /// The number of a node's component; whatever it leads to has this number or a lower one.
    pub fn number(&self, node: u32) -> u32 {
        self.number[node as usize]
    }

    /// The nodes so that every node comes after all that it leads to, those of its own component excepted.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// True if two nodes lead to each other.
    pub fn together(&self, one: u32, other: u32) -> bool {
        self.number(one) == self.number(other)
    }

    /// By node: whether it is, or leads to, one of which this holds.
    pub fn reaching(&self, holds: impl Fn(u32) -> bool) -> Vec<bool> {
        let mut reaching = vec![false; self.number.len()];
        for component in self.order.chunk_by(|one, other| self.together(*one, *other)) {
            let mut reached =
                |node: &u32| holds(*node) || self.after(*node).iter().any(|it| reaching[*it as usize]);
            if component.iter().any(&mut reached) {
                component.iter().for_each(|node| reaching[*node as usize] = true);
            }
        }
        reaching
    }

    fn after(&self, node: u32) -> &[u32] {
        &self.targets[self.rows[node as usize] as usize..self.rows[node as usize + 1] as usize]
    }
}

/// A node that is in no component yet.
const OPEN: u32 = u32::MAX;

/// Tarjan's algorithm with a stack of its own, so that no graph is too deep.
struct Tarjan {
    /// By node: when it was met, from 1; 0 is not yet.
    met: Vec<u32>,
    /// By node: the earliest one still open that it is known to lead to.
    low: Vec<u32>,
    /// The nodes that are met and in no component.
    open: Vec<u32>,
    /// The path to the current node, and how many of its arrows are done.
    path: Vec<(u32, u32)>,
    count: u32,
}

impl Tarjan {
    fn new(nodes: usize) -> Self {
        Self { met: vec![0; nodes], low: vec![0; nodes], open: Vec::new(), path: Vec::new(), count: 0 }
    }

    fn run(mut self, graph: &mut Components) {
        let mut components = 0;
        for root in 0..self.met.len() as u32 {
            if self.met[root as usize] == 0 {
                self.enter(root);
            }
            while let Some((node, done)) = self.path.pop() {
                match graph.after(node).get(done as usize) {
                    Some(next) => {
                        self.path.push((node, done + 1));
                        self.follow(graph, node, *next);
                    }
                    None => self.leave(graph, node, &mut components),
                }
            }
        }
    }

    fn enter(&mut self, node: u32) {
        self.count += 1;
        self.met[node as usize] = self.count;
        self.low[node as usize] = self.count;
        self.open.push(node);
        self.path.push((node, 0));
    }

    fn follow(&mut self, graph: &Components, node: u32, next: u32) {
        if self.met[next as usize] == 0 {
            self.enter(next);
        } else if graph.number(next) == OPEN {
            self.lower(node, self.met[next as usize]);
        }
    }

    fn leave(&mut self, graph: &mut Components, node: u32, components: &mut u32) {
        let low = self.low[node as usize];
        if low == self.met[node as usize] {
            let start = self.open.iter().rposition(|it| *it == node).unwrap_or(0);
            for member in self.open.drain(start..) {
                graph.number[member as usize] = *components;
                graph.order.push(member);
            }
            *components += 1;
        }
        if let Some((parent, _)) = self.path.last().copied() {
            self.lower(parent, low);
        }
    }

    fn lower(&mut self, node: u32, to: u32) {
        let low = &mut self.low[node as usize];
        *low = (*low).min(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(nodes: usize, arrows: &[(u32, u32)], expect: &[&[u32]]) {
        let components = Components::of(nodes, arrows.iter().copied());
        let mut found: Vec<Vec<u32>> =
            components.order().chunk_by(|a, b| components.together(*a, *b)).map(<[u32]>::to_vec).collect();
        found.iter_mut().for_each(|it| it.sort_unstable());
        assert_eq!(found, expect);
        assert!(arrows.iter().all(|(from, to)| components.number(*from) >= components.number(*to)));
    }

    #[test]
    fn components_hold_cycles_and_come_after_their_successors() {
        check(0, &[], &[]);
        check(2, &[], &[&[0], &[1]]);
        check(3, &[(0, 1), (1, 2)], &[&[2], &[1], &[0]]);
        check(3, &[(0, 1), (1, 0), (1, 2)], &[&[2], &[0, 1]]);
        check(4, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)], &[&[3], &[0, 1, 2]]);
        check(5, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 1), (4, 0)], &[&[1, 3], &[2], &[0], &[4]]);
    }

    #[test]
    fn reaching_goes_back_over_every_arrow() {
        let components = Components::of(4, [(0, 1), (1, 0), (1, 2), (3, 3)].into_iter());
        assert_eq!(components.reaching(|it| it == 2), [true, true, true, false]);
        assert_eq!(components.reaching(|_| false), [false; 4]);
    }

    #[test]
    fn a_long_path_needs_no_deep_stack() {
        let nodes = 200_000;
        let components = Components::of(nodes, (1..nodes as u32).map(|it| (it - 1, it)));
        assert_eq!(components.order().first(), Some(&(nodes as u32 - 1)));
    }
}
