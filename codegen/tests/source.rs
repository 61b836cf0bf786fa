//! Reading sources: what cannot be one is an error that says what to do, and nothing large is read.

#![expect(clippy::expect_used, reason = "a test that cannot write its files has failed")]

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use orange_codegen::{Format, Source};

#[track_caller]
fn refused(path: &Path, code: &str, message: &str) {
    let refusal = Source::read(path).expect_err("refused");
    assert_eq!(refusal.code(), code);
    assert!(refusal.message.contains(message), "{}", refusal.message);
    assert!(refusal.help.is_some());
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    refused(&path("absent.yml"), "S08", "absent.yml cannot be read");
    refused(
        &path("flow.txt"),
        "S08",
        "flow.txt is not a workflow: its name ends in none of .yml, .yaml and .toml",
    );
    fs::create_dir(path("folder.yml")).expect("a folder");
    refused(&path("folder.yml"), "S08", "folder.yml is not a file");
    fs::write(path("bytes.yml"), b"name: a\n\xff\xfe").expect("a file");
    refused(&path("bytes.yml"), "S08", "byte 8, in line 2");
}

#[test]
fn what_is_too_large_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.yml");
    File::create(&path).and_then(|file| file.set_len(200_000_000)).expect("a large file");
    refused(&path, "S10", "larger than 16 MiB");
    let endless = std::io::repeat(b'a');
    let refusal = Source::from_reader("-", endless).expect_err("refused");
    assert_eq!(refusal.code(), "S10");
}

#[test]
fn a_file_of_16_mib_is_read() {
    let full = std::io::repeat(b'#').take(16 << 20);
    assert_eq!(Source::from_reader("a.yml", full).expect("text").text.len(), 16 << 20);
}

#[test]
fn the_ending_says_the_format() {
    for (path, format) in [
        ("a.yml", Some(Format::Yaml)),
        ("b/a.yaml", Some(Format::Yaml)),
        ("a.toml", Some(Format::Toml)),
        ("a.json", None),
        ("yml", None),
    ] {
        assert_eq!(Format::of_path(path), format, "{path}");
    }
}
