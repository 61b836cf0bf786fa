//! Spells every name that generated Rust takes from a workflow.
//!
//! | in the workflow | in Rust | example |
//! |---|---|---|
//! | the workflow's name | module | `dev-task` → `dev_task` |
//! | a state, a prompt, a step, a role, a result | variant | `agent-review` → `AgentReview` |
//! | a step, for its results | enum | `code-review` → `CodeReviewResult` |
//! | a step, for its outputs | struct | `plan` → `PlanOutputs` |
//! | an output with words | enum | `risk` of `plan` → `PlanRisk` |
//! | a counter, an output | field | `review_round` → `review_round` |
//! | the only or first transition of a pair | variant | `AgentReviewToWorking` |
//! | the second of a pair | variant | `AgentReviewToWorking2` |
//! | a transition, as text | string | `agent-review -> working`, `agent-review -> working #2` |
//!
//! A keyword of Rust gets a `_` at its end: a counter `type` is `type_`, a state `self` is `Self_`.
//! `name-collision` reports two names that become the same Rust name; transitions get numbers until their names differ.

use std::collections::{HashMap, HashSet};

/// The module of a workflow.
pub fn module(workflow: &str) -> String {
    field(workflow)
}

/// The variant of a state, a prompt, a step, a role or a result. Every string gives a valid identifier.
pub fn variant(name: &str) -> String {
    identifier(camel(name))
}

/// The enum of the results of a step. Its ending keeps it apart from the names that generated code always has, such as `Step`.
pub fn result(step: &str) -> String {
    identifier(camel(step) + "Result")
}

/// The struct of the outputs of a step.
pub fn outputs(step: &str) -> String {
    identifier(camel(step) + "Outputs")
}

/// The enum of the words of an output.
pub fn words(step: &str, output: &str) -> String {
    identifier(camel(step) + &camel(output))
}

/// These names, all of which differ: an equal one gets a number at its end.
pub fn differing(names: impl IntoIterator<Item = String>) -> Vec<String> {
    numbered(names.into_iter(), "")
}

/// The field of a counter or an output. Every string gives a valid identifier.
pub fn field(name: &str) -> String {
    identifier(name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect())
}

/// The variants of transitions, each given by its two states. All of them differ.
pub fn transition_variants<'n>(pairs: impl IntoIterator<Item = (&'n str, &'n str)>) -> Vec<String> {
    numbered(pairs.into_iter().map(|(from, to)| identifier(camel(from) + "To" + &camel(to))), "")
}

/// The names of transitions in text, each given by its two states. All of them differ.
pub fn transition_texts<'n>(pairs: impl IntoIterator<Item = (&'n str, &'n str)>) -> Vec<String> {
    numbered(pairs.into_iter().map(|(from, to)| format!("{from} -> {to}")), " #")
}

/// Every name that becomes the same Rust name as an earlier one: the index of the earlier name, its own index, and the Rust name.
pub fn collisions<'n>(
    names: impl IntoIterator<Item = &'n str>,
    rust_name: fn(&str) -> String,
) -> Vec<(usize, usize, String)> {
    let mut first = HashMap::new();
    let mut found = Vec::new();
    for (index, name) in names.into_iter().enumerate() {
        let rust_name = rust_name(name);
        match first.get(&rust_name) {
            Some(earlier) => found.push((*earlier, index, rust_name)),
            None => {
                first.insert(rust_name, index);
            }
        }
    }
    found
}

/// Numbers equal names: the second one gets 2, the third one 3. A number that would make a name that is taken is left out.
fn numbered(names: impl Iterator<Item = String>, separator: &str) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut next = HashMap::new();
    names
        .map(|name| {
            let number = next.entry(name.clone()).or_insert(1_u32);
            loop {
                let numbered = if *number == 1 { name.clone() } else { format!("{name}{separator}{number}") };
                *number += 1;
                if taken.insert(numbered.clone()) {
                    return numbered;
                }
            }
        })
        .collect()
}

fn camel(name: &str) -> String {
    parts(name).map(capitalised).collect()
}

/// The words of a name, which is split at each character that is not an ASCII letter or digit, and before a capital that follows
/// a small letter.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.flat_map(|part| {
        let bytes = part.as_bytes();
        let humps = (1..bytes.len())
            .filter(|&at| bytes[at - 1].is_ascii_lowercase() && bytes[at].is_ascii_uppercase())
            .chain([bytes.len()]);
        humps.scan(0, move |start, end| Some(&part[std::mem::replace(start, end)..end]))
    })
}

fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
}

fn identifier(mut name: String) -> String {
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    if name == "_" || KEYWORDS.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// Strict and reserved keywords up to edition 2024: <https://doc.rust-lang.org/reference/keywords.html>.
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
    "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_variant(name: &str, expect: &str) {
        assert_eq!(variant(name), expect);
    }

    #[test]
    fn variants_are_words_in_camel_case() {
        check_variant("agent-review", "AgentReview");
        check_variant("agent_review", "AgentReview");
        check_variant("agentReview", "AgentReview");
        check_variant("WORKING", "Working");
        check_variant("v2-of_it", "V2OfIt");
        check_variant("type", "Type");
        check_variant("self", "Self_");
        check_variant("2nd try", "_2ndTry");
        check_variant("Δ", "__");
        check_variant("", "__");
    }

    #[test]
    fn fields_and_modules_keep_the_name_where_rust_lets_them() {
        assert_eq!(field("review_round"), "review_round");
        assert_eq!(field("type"), "type_");
        assert_eq!(field("_"), "__");
        assert_eq!(module("dev-task"), "dev_task");
        assert_eq!(module("self"), "self_");
    }

    #[test]
    fn the_results_of_steps_have_an_enum_each() {
        assert_eq!(result("code-review"), "CodeReviewResult");
        assert_eq!(result("self"), "SelfResult");
        assert_ne!(result("step"), "Step");
    }

    #[test]
    fn the_outputs_of_steps_have_types_whose_names_differ() {
        assert_eq!(
            (outputs("plan"), words("plan", "risk")),
            ("PlanOutputs".to_owned(), "PlanRisk".to_owned())
        );
        let all = [outputs("plan"), words("plan", "outputs"), words("plan-a", "b"), words("plan", "a-b")];
        assert_eq!(differing(all), ["PlanOutputs", "PlanOutputs2", "PlanAB", "PlanAB2"]);
    }

    #[test]
    fn every_name_is_an_identifier() {
        for name in KEYWORDS.iter().chain(&["", "_", "-", "9", "é", "a b", "a--b", "Δ1"]) {
            for rust_name in [variant(name), field(name)] {
                let ident: proc_macro2::Ident = quote::format_ident!("{rust_name}");
                assert_eq!(ident.to_string(), rust_name);
            }
        }
    }

    #[test]
    fn collisions_name_the_earlier_one() {
        let names = ["agent-review", "working", "agent_review", "Working"];
        let expect = vec![(0, 2, "AgentReview".to_owned()), (1, 3, "Working".to_owned())];
        assert_eq!(collisions(names, variant), expect);
        assert_eq!(collisions(["type", "type_"], field), vec![(0, 1, "type_".to_owned())]);
        assert_eq!(collisions(["a", "b"], field), vec![]);
    }

    #[test]
    fn transitions_never_share_a_name() {
        let pairs = [("a", "b"), ("a", "b"), ("a", "b2"), ("a", "b-to-c"), ("a-to-b", "c")];
        assert_eq!(transition_variants([("self", "type")]), ["SelfToType"]);
        assert_eq!(transition_variants(pairs), ["AToB", "AToB2", "AToB22", "AToBToC", "AToBToC2"]);
        assert_eq!(transition_texts(pairs), ["a -> b", "a -> b #2", "a -> b2", "a -> b-to-c", "a-to-b -> c"]);
    }
}
