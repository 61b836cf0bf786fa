//! A release: `install.sh` against a server on the loopback, and the workflows of the forge that make one.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests may fail where they stand, and say why")]

mod download;
mod forge;
mod install;
mod machine;
