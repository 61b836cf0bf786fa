//! The reducer against the design: its cases, and random missions against a reference that is written apart.

extern crate std;

mod cap;
mod cases;
pub(crate) mod conditions;
mod gates;
mod program;
mod questions;
pub(crate) mod random;
mod reference;
mod simulator;
mod standoff;
