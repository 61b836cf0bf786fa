//! The part of a finding that does not change when its file is edited: its check and its place in the workflow.

use std::collections::HashMap;

use orange_analysis::place::Places;
use orange_codegen::Diagnostic;

/// Gives the findings of one file their fingerprints, in order.
pub(super) struct Fingerprints {
    places: Places,
    times: HashMap<String, usize>,
}

/// One finding's place, and what tells it from every other finding of its file.
pub(super) struct Fingerprint {
    /// `transitions[pending→doen].to`
    pub place: String,
    /// `unknown-to:transitions[pending→doen].to:1`
    pub text: String,
}

impl Fingerprints {
    /// For a file with these places.
    pub(super) fn new(places: Places) -> Self {
        Self { places, times: HashMap::new() }
    }

    /// The fingerprint of the next finding. A second finding of one check at one place has the number 2.
    pub(super) fn next(&mut self, finding: &Diagnostic) -> Fingerprint {
        let place = self.places.of(finding.span);
        let known = format!("{}:{place}", finding.name());
        let count = self.times.entry(known.clone()).or_default();
        *count += 1;
        Fingerprint { place, text: format!("{known}:{count}") }
    }
}
