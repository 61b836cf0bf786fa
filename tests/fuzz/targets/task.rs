//! A `TASK.md` may hold any bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orange_engine::any_bytes(bytes));
