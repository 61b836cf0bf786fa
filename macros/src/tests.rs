//! Inputs of the macro, and the code that it makes of them.

use orange_codegen::emit::CorePath;

use super::*;

const SEED: &str = "fixtures/seed-default.yml";

fn fixtures() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests"))
}

#[track_caller]
fn check_call(input: &str, expect: Option<(&str, Option<&str>)>) {
    let call = MacroArguments::parse(input.parse().unwrap());
    assert_eq!(call.as_ref().map(|it| (it.path.as_str(), it.name.as_deref())), expect, "{input}");
}

#[test]
fn both_forms_of_the_call() {
    check_call(r#""flow.yml""#, Some(("flow.yml", None)));
    check_call(r#"path: "flow.yml""#, Some(("flow.yml", None)));
    check_call(r#"path: "a/flow.yml", name: flow,"#, Some(("a/flow.yml", Some("flow"))));
    check_call(r#"name: flow, path: "flow.yml""#, Some(("flow.yml", Some("flow"))));
}

#[test]
fn anything_else_is_no_call() {
    for input in [
        "",
        "flow",
        "1",
        r#""""#,
        r#""a" "b""#,
        "name: flow",
        r#"path: "a", path: "b""#,
        r#"file: "a""#,
        r#"b"a""#,
    ] {
        check_call(input, None);
    }
}

#[test]
fn the_macro_and_the_build_script_emit_the_same_bytes() {
    let path = SEED;
    let expanded = expand(quote!(#path), fixtures()).unwrap();
    let source = Source::new(SEED, fs::read_to_string(fixtures().join(SEED)).unwrap());
    let checked = orange_codegen::compile(&source).checked.unwrap();
    let emitted = |core| emit::emit(&checked, &Options { core, module: None }).unwrap().to_string();
    let expanded = expanded.to_string();
    assert!(expanded.ends_with(&emitted(CorePath::Core)));
    let in_binary = emitted(CorePath::Engine);
    assert_eq!(in_binary.replace(":: orange_engine :: core", ":: orange_core"), emitted(CorePath::Core));
}

#[test]
fn the_file_is_watched() {
    let expanded = expand(quote!(path: "fixtures/seed-minimal.yml", name: flow), fixtures()).unwrap();
    let expanded = expanded.to_string();
    assert!(
        expanded.contains(r#":: core :: env ! ("CARGO_MANIFEST_DIR") , "/" , "fixtures/seed-minimal.yml""#)
    );
    assert!(expanded.contains("pub mod flow {"));
}

#[test]
fn the_files_of_prompts_are_watched() {
    let expanded = expand(quote!("fixtures/dev-task.toml"), fixtures()).unwrap().to_string();
    for name in ["dev-task.toml", "do/implement.md", "do/plan.md", "do/pr.md", "do/review.md"] {
        let include = format!(r#":: core :: env ! ("CARGO_MANIFEST_DIR") , "/" , "fixtures/{name}""#);
        assert_eq!(expanded.matches(&include).count(), 1, "{name}");
    }
    assert!(expanded.contains("pub mod dev_task {"));
}

#[test]
fn the_files_that_prompts_include_are_watched() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let expanded = expand(quote!("ui/workflows/including.yml"), &folder).unwrap().to_string();
    assert!(
        expanded.contains(r#":: core :: env ! ("CARGO_MANIFEST_DIR") , "/" , "ui/workflows/including.md""#)
    );
}

#[test]
fn prompts_beside_the_folder_of_the_package_are_found() {
    assert_eq!(below(Path::new("/a/workflows"), Path::new("/a/workflows/do/plan.md")), "do/plan.md");
    assert_eq!(below(Path::new("/a/workflows"), Path::new("/a/do/plan.md")), "../do/plan.md");
}

#[test]
fn a_missing_file_is_named_with_the_folder_it_was_looked_for_in() {
    let errors = expand(quote!("gone.yml"), fixtures()).unwrap_err();
    assert!(errors[0].starts_with("cannot read gone.yml in "), "{}", errors[0]);
    assert!(errors[0].ends_with(USAGE), "{}", errors[0]);
}
