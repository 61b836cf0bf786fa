//! Findings and proof from one search are those of `check` and `prove`, which search on their own.

#![expect(clippy::expect_used, reason = "a test whose workflow has no tables has failed")]

mod sources;

use orange_analysis::search::SearchLimits;
use orange_analysis::{insight, plan_proof, prove};
use orange_codegen::{Source, compile};

#[test]
fn findings_and_proofs_are_those_of_check_and_prove() {
    let all = sources::sources("yaml", "yml").into_iter().chain(sources::sources("toml", "toml"));
    let proofs = all.step_by(3).filter(has_agreed).count();
    assert!(proofs > 30, "{proofs}");
}

/// True if it has a proof to compare.
#[track_caller]
fn has_agreed(source: &Source) -> bool {
    let compilation = compile(source);
    let known = insight::of(source, &compilation, &SearchLimits::default()).expect("nobody stops it");
    let found = orange_analysis::lint(source).diagnostics;
    assert_eq!(format!("{found:?}"), format!("{:?}", known.findings), "{}", source.path);
    let Some(checked) = &compilation.checked else { return false };
    let (alone, shared) = match plan_proof::prove(checked, source) {
        Some(proof) => (format!("{proof:?}"), known.steps().map(|it| format!("{:?}", it.proof))),
        None => {
            let Ok(proof) = prove::prove(checked, source) else {
                assert!(known.known.is_err(), "{}", source.path);
                return false;
            };
            (format!("{proof:?}"), known.machine().map(|it| format!("{:?}", it.proof)))
        }
    };
    assert_eq!(Some(alone), shared, "{}", source.path);
    true
}
