//! The graph of states: what is reachable, what ends, what bounds a loop.

super::lints! {}
