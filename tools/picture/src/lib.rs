//! Pictures of workflows as SVG: where boxes and lines go, and how a line is written. Who draws decides what they look like.

pub mod layout;
pub mod pen;
pub mod stroke;

pub use layout::{Connector, Frame, Point, Route, Sizes};
