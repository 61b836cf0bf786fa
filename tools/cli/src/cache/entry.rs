//! Entry of the cache for a text, as JSON: the name and the kind of the workflow, and everything that was found in it.

use orange_analysis::catalogue;
use orange_codegen::diag::{Edit, Fix, Label, Trace, TraceStep, Witness};
use orange_codegen::recognise::WorkflowKind;
use orange_codegen::{Compilation, Diagnostic, Level, Likeness, Span, Spanned};
use serde::{Deserialize, Serialize};

const LEVELS: [Level; 5] = [Level::Error, Level::Deny, Level::Warn, Level::Info, Level::Allow];

/// A workflow, and what was found in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedWorkflow {
    /// True if it is a step workflow.
    steps: bool,
    name: (ByteRange, String),
    found: Vec<CachedFinding>,
}

/// The first byte of a place, and the byte after its last one.
type ByteRange = (u32, u32);

/// A finding, with the code of its check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CachedFinding {
    check: String,
    level: String,
    message: String,
    place: ByteRange,
    labels: Vec<(ByteRange, String)>,
    about: Vec<String>,
    fault: Vec<CachedFinding>,
    witness: Option<(Vec<(String, u32)>, String)>,
    trace: Option<(String, Vec<CachedRunStep>, Option<String>)>,
    help: Option<String>,
    fix: Option<Mend>,
}

/// Title of a fix, its edits, and true if they can only mean what the author meant.
type Mend = (String, Vec<(ByteRange, String)>, bool);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CachedRunStep {
    by: String,
    does: String,
    to: String,
    hooks: Vec<String>,
    place: Option<ByteRange>,
    script: Vec<String>,
}

impl CachedWorkflow {
    /// Entry for a workflow that can be compiled; none if it names other files, on which its findings depend, too.
    pub(super) fn of(compilation: &Compilation) -> Option<Self> {
        let checked = compilation.checked.as_ref().filter(|it| it.prompt_files().is_empty());
        let (Some(_), Some(name), Likeness::Workflow(kind)) =
            (checked, &compilation.name, compilation.likeness)
        else {
            return None;
        };
        Some(Self {
            steps: kind == WorkflowKind::Steps,
            name: (place(name.span), name.value.clone()),
            found: compilation.diagnostics.iter().map(CachedFinding::of).collect(),
        })
    }

    /// The compilation as the compiler gives it; `None` of an entry with a check that this program does not have, or a
    /// place that the text does not have.
    pub(super) fn compilation(self, text: &str) -> Option<Compilation> {
        let is_in_text = |(start, end): ByteRange| {
            let [start, end] = [start, end].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
            text.get(start..end).is_some()
        };
        if !(is_in_text(self.name.0) && self.found.iter().all(|it| it.has_places(&is_in_text))) {
            return None;
        }
        let kind = if self.steps { WorkflowKind::Steps } else { WorkflowKind::Machine };
        let (at, value) = self.name;
        Some(Compilation {
            diagnostics: self.found.into_iter().map(CachedFinding::diagnostic).collect::<Option<_>>()?,
            name: Some(Spanned { value, span: span(at) }),
            likeness: Likeness::Workflow(kind),
            ..Compilation::default()
        })
    }
}

impl CachedFinding {
    fn of(found: &Diagnostic) -> Self {
        let labels = found.labels.iter().map(|it| (place(it.span), it.message.clone()));
        let edits = |fix: &Fix| fix.edits.iter().map(|it| (place(it.span), it.text.clone())).collect();
        Self {
            check: found.code().to_owned(),
            level: found.level.as_str().to_owned(),
            message: found.message.clone(),
            place: place(found.span),
            labels: labels.collect(),
            about: found.about.clone(),
            fault: found.fault.iter().map(Self::of).collect(),
            witness: found.witness.as_ref().map(|it| (it.values.clone(), it.range.clone())),
            trace: found.trace.as_ref().map(|it| {
                (it.start.clone(), it.steps.iter().map(CachedRunStep::of).collect(), it.end.clone())
            }),
            help: found.help.clone(),
            fix: found.fix.as_ref().map(|it| (it.title.clone(), edits(it), it.safe)),
        }
    }

    fn has_places(&self, are_there: &impl Fn(ByteRange) -> bool) -> bool {
        let labels = self.labels.iter().map(|it| it.0);
        let edits = self.fix.iter().flat_map(|it| &it.1).map(|it| it.0);
        let steps = self.trace.iter().flat_map(|it| &it.1).filter_map(|it| it.place);
        let mut places = [self.place].into_iter().chain(labels).chain(edits).chain(steps);
        places.all(are_there) && self.fault.iter().all(|it| it.has_places(are_there))
    }

    fn diagnostic(self) -> Option<Diagnostic> {
        let label = |(at, message)| Label { span: span(at), file: None, message };
        let edit = |(at, text)| Edit { span: span(at), text };
        Some(Diagnostic {
            check: catalogue::find(&self.check)?,
            level: LEVELS.into_iter().find(|it| it.as_str() == self.level)?,
            message: self.message,
            span: span(self.place),
            file: None,
            labels: self.labels.into_iter().map(label).collect(),
            about: self.about,
            fault: self.fault.into_iter().map(Self::diagnostic).collect::<Option<_>>()?,
            witness: self.witness.map(|(values, range)| Witness { values, range }),
            trace: self.trace.map(|(start, steps, end)| Trace {
                start,
                steps: steps.into_iter().map(CachedRunStep::trace_step).collect(),
                end,
            }),
            help: self.help,
            fix: self.fix.map(|(title, edits, safe)| Fix {
                title,
                edits: edits.into_iter().map(edit).collect(),
                safe,
            }),
            file_fix: None,
        })
    }
}

impl CachedRunStep {
    fn of(step: &TraceStep) -> Self {
        let TraceStep { by, does, to, hooks, span, script } = step.clone();
        Self { by, does, to, hooks, place: span.map(place), script }
    }

    fn trace_step(self) -> TraceStep {
        let Self { by, does, to, hooks, place, script } = self;
        TraceStep { by, does, to, hooks, span: place.map(span), script }
    }
}

fn place(span: Span) -> ByteRange {
    (span.start, span.end)
}

fn span((start, end): ByteRange) -> Span {
    Span { start, end }
}

#[cfg(test)]
mod tests {
    use orange_codegen::Source;

    use super::*;

    #[test]
    fn everything_that_is_found_comes_back_as_it_was() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workflows");
        let mut count = 0;
        for name in ["default.yml", "persistent.yml", "dev-task.toml"] {
            let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
            // Lines that are gone make workflows with other findings.
            let cuts = text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
            for cut in cuts.windows(2).step_by(3) {
                let changed = format!("{}{}", &text[..cut[0]], &text[cut[1]..]);
                let compilation = orange_analysis::lint(&Source::new(name, changed.as_str()));
                let Some(kept) = CachedWorkflow::of(&compilation) else { continue };
                let written = serde_json::to_string(&kept).unwrap();
                assert!(!written.contains('\n'));
                let read: CachedWorkflow = serde_json::from_str(&written).unwrap();
                let again = read.clone().compilation(&changed).unwrap();
                assert!(read.compilation("").is_none(), "another text lacks its places");
                assert_eq!(format!("{:?}", again.diagnostics), format!("{:?}", compilation.diagnostics));
                assert_eq!((again.name, again.likeness), (compilation.name, compilation.likeness));
                count += again.diagnostics.len();
            }
        }
        assert!(count > 50, "{count} findings were looked at");
    }

    #[test]
    fn a_check_of_another_program_is_unknown() {
        let found = r#"{"check":"Z99","level":"warn","message":"","place":[0,1],"labels":[],"about":[],"fault":[],
            "witness":null,"trace":null,"help":null,"fix":null}"#;
        let kept: CachedWorkflow =
            serde_json::from_str(&format!(r#"{{"steps":false,"name":[[0,1],"x"],"found":[{found}]}}"#))
                .unwrap();
        assert!(kept.compilation("name").is_none());
    }
}
