//! The workflows of this repository.

use std::fs;
use std::path::{Path, PathBuf};

use orange_codegen::{PromptFiles, Source};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files(folder: &str, extension: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("an entry").path()).collect();
    paths.sort();
    paths.retain(|it| it.extension().is_some_and(|it| it == extension));
    let read = |it: PathBuf| Some((it.display().to_string(), fs::read_to_string(&it).ok()?));
    paths.into_iter().filter_map(read).collect()
}

/// Every workflow of this language that this repository has, those in the examples of its pages included.
pub fn sources(language: &str, extension: &str) -> Vec<Source> {
    let folders = ["workflows", "tests/fixtures", "tests/diagnostics"];
    let whole = folders.into_iter().flat_map(|it| files(it, extension));
    let pages = files("docs/lints", "md");
    let begin = format!("```{language}\n");
    let examples = pages.iter().flat_map(|(path, page)| {
        let blocks = page.split(&begin).skip(1).filter_map(|it| it.split("```").next());
        blocks.map(move |it| (format!("{path}.{extension}"), it.to_owned()))
    });
    let all = whole.chain(examples).map(|(path, text)| {
        let files = PromptFiles::beside(Path::new(&path));
        Source::new(path, text).with_files(files)
    });
    all.collect()
}
