//! Guards and the counters that they compare.

super::lints! {}
