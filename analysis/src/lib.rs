//! What is known of a workflow before it runs: lints, proofs, walks, scenarios and comparisons.
//!
//! Everything here looks at what [`orange_codegen`] has compiled. Nothing in the compiler knows of it.

pub mod catalogue;
pub mod evolution;
pub mod lint;
pub mod place;
pub mod prove;
pub mod scenario;
pub mod search;
pub mod walk;

pub use lint::lint;
