//! A property that is proved alone has the verdict that it has among the others.

#![expect(clippy::expect_used, reason = "a test whose workflow does not compile has failed")]

mod sources;

use orange_analysis::prove::{self, Judged, PROPERTIES, ProofVerdict};
use orange_analysis::search::SearchLimits;
use orange_codegen::compile;

#[test]
fn one_property_alone_has_the_same_verdict() {
    let mut refuted = 0;
    for source in sources::sources("yaml", "yml").into_iter().step_by(4) {
        let Some(checked) = compile(&source).checked else { continue };
        let Ok(proof) = prove::prove(&checked, &source) else { continue };
        for (property, among) in PROPERTIES.iter().zip(&proof.properties) {
            let alone = prove::prove_one(property, &checked, &source, &SearchLimits::default());
            let alone = alone.expect("all properties were judged");
            assert_eq!(verdict(&alone), verdict(among), "{}: {}", source.path, property.name);
            refuted += u32::from(matches!(alone.verdict, ProofVerdict::Refuted { .. }));
        }
    }
    assert!(refuted > 10, "{refuted}");
}

#[test]
fn a_search_that_is_stopped_decides_nothing() {
    let source = sources::sources("yaml", "yml").into_iter().find(|it| it.path.ends_with("default.yml"));
    let source = source.expect("it is shipped");
    let checked = compile(&source).checked.expect("it compiles");
    let limits = SearchLimits { configurations: 3, ..SearchLimits::default() };
    for property in PROPERTIES {
        let alone = prove::prove_one(property, &checked, &source, &limits).expect("it has tables");
        assert!(matches!(alone.verdict, ProofVerdict::Undecided { .. }), "{alone:#?}");
    }
}

fn verdict(judged: &Judged) -> String {
    match &judged.verdict {
        ProofVerdict::Proved { argument } => argument.clone(),
        ProofVerdict::Refuted { findings, trace } => {
            let findings: Vec<&str> = findings.iter().map(|it| it.message.as_str()).collect();
            format!("{findings:?} {}", trace.is_some())
        }
        ProofVerdict::Undecided { cut } => cut.clone(),
    }
}
