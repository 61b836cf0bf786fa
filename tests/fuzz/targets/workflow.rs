//! A workflow file may hold any bytes.
#![no_main]

use orange_codegen::{Format, fuzzing};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fuzzing::any_source(Format::Yaml, bytes);
    fuzzing::any_source(Format::Toml, bytes);
});
