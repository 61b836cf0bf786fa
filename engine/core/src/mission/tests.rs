//! The reducer against the design: its cases, and random missions against a reference that is written apart.

extern crate std;

mod cap;
mod cases;
pub(crate) mod conditions;
mod fan_outs;
mod gates;
mod notation;
mod own;
mod program;
mod questions;
pub(crate) mod random;
mod random_items;
mod readers;
mod reads;
mod reference;
mod simulator;
mod standoff;
