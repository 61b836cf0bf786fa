//! Missions, as plain values.
