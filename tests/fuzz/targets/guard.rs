//! A guard may be any string.
#![no_main]

libfuzzer_sys::fuzz_target!(|clause: &str| orange_codegen::fuzzing::any_guard(clause));
