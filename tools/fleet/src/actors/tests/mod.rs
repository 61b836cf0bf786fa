//! Turns as values: a store in memory, and what has to hold in it after every event.

mod cases;
mod memory;
mod random;
