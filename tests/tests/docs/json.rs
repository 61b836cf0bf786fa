//! `docs/json` has a schema for each answer with `--json`, made from the types that the answers are.
//!
//! `ORANGE_REWRITE=1 cargo test -p orange-tests --test docs` writes them again.

use std::collections::BTreeSet;
use std::fs;

use crate::page::root;

#[test]
fn schemas_of_answers_are_those_of_their_types() {
    let folder = root().join("docs/json");
    let is_to_be_written = std::env::var_os("ORANGE_REWRITE").is_some();
    let mut names = BTreeSet::new();
    for (command, schema) in orange_api::schemas().into_iter().chain(orange_workflow::schemas()) {
        let (name, text) = (format!("{command}.schema.json"), format!("{schema:#}\n"));
        if is_to_be_written {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(&name), &text).unwrap();
        }
        let known = fs::read_to_string(folder.join(&name)).unwrap_or_default();
        assert!(known == text, "docs/json/{name} is stale: ORANGE_REWRITE=1 writes it again");
        names.insert(name);
    }
    let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let files = files.filter(|name| name != "README.md");
    assert_eq!(files.collect::<BTreeSet<_>>(), names, "docs/json has a file for each answer and no other");
}
