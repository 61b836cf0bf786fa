//! The reducer against the design: its cases, and random colonies against a reference that is written apart.

extern crate std;

mod backlog;
mod cases;
mod colony;
mod needs;
mod promises;
mod random_act;
mod reference;
mod simulator;
mod world;
