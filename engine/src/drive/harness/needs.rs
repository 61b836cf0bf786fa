//! The needs of a harness inside a wall.

/// The needs of a harness inside a wall.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HarnessSandbox {
    /// The hosts of its model, as `host:port`.
    pub hosts: Vec<String>,
    /// Variables that it gets from the environment in which it is started.
    pub env: Vec<String>,
    /// Files and folders of the home that are copied into the private one once.
    pub seed: Vec<String>,
    /// Its arguments when it may do everything without asking, if they differ inside.
    pub full: Option<Vec<String>>,
    /// Its arguments when it asks, likewise.
    pub reduced: Option<Vec<String>>,
}
