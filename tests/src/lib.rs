//! Helpers that the tests of several crates share.
