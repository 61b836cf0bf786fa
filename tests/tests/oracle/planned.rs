//! Planned gates as the core has them.

use orange_core::{Fields, SectionGate, Verdict, VerdictOf};

use orange_tests::plan::PlannedGate;

/// The requirement of a planned gate on its section.
pub(crate) fn section_gate(planned: &PlannedGate) -> SectionGate<'_> {
    SectionGate {
        section: planned.section,
        required: planned.required,
        verdict: planned.verdict.map(Verdict::new),
        verdicts: &planned.words,
        strict: planned.strict,
        fields: match &planned.fields[..] {
            names if planned.every_field || names.is_empty() => Fields::All(names),
            names => Fields::Any(names),
        },
        fresh: planned.fresh,
        of: planned.of.map(|of| if of == "patch" { VerdictOf::Patch } else { VerdictOf::Commit }),
        reviewer: None,
    }
}
