//! Levels of findings: by comments, configurations and the baseline, as in `check`.

use std::path::{Path, PathBuf};

use orange_codegen::{Compilation, Diagnostic, Source};
use orange_ide::hints::HintKind;

use crate::answer::Failure;
use crate::baseline::Baseline;
use crate::config::Configs;
use crate::input::{Input, Origin};
use crate::levels;
use crate::report::{File, Report};

use super::wire;

/// A search of more steps than these answers twice.
const FIRST_STEPS: usize = 200_000;

/// Options of the client, its `initializationOptions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// The file with known findings.
    pub baseline: Option<PathBuf>,
    /// Kinds of hints that it does not want: `{"hints": {"ranges": false}}`.
    pub hidden_hints: Vec<HintKind>,
    /// True if it wants no lines above parts: `{"lenses": false}`.
    pub hides_lenses: bool,
    /// True if it asks for pages by `orange/page`: `{"pages": true}`.
    pub asks_for_pages: bool,
    /// Commands that it carries out itself: `{"commands": ["orange.simulate"]}`.
    pub commands: Vec<String>,
    /// Number of steps of a search before its first answer: `{"firstSteps": 200000}`.
    pub first_steps: usize,
}

/// Findings at their levels.
pub(super) struct Judged {
    pub file: File,
    /// Problems of configurations and of the baseline.
    pub failures: Vec<Failure>,
}

impl Default for Rules {
    fn default() -> Self {
        Self::of(None)
    }
}

impl Rules {
    /// Reads the options. One of another shape is as one that is absent: a server must not fail for its settings.
    pub(super) fn of(options: Option<&wire::LspAny>) -> Self {
        let baseline = options.and_then(|it| it.get("baseline")).and_then(wire::LspAny::as_str);
        let is_off = |value: Option<&wire::LspAny>| value.and_then(wire::LspAny::as_bool) == Some(false);
        let hints = options.and_then(|it| it.get("hints"));
        let commands = options.and_then(|it| it.get("commands")).and_then(wire::LspAny::as_array);
        let commands = commands.into_iter().flatten();
        let first_steps = options.and_then(|it| it.get("firstSteps")).and_then(wire::LspAny::as_u64);
        let is_hidden = |it: &HintKind| is_off(hints.and_then(|hints| hints.get(it.name())));
        Self {
            baseline: baseline.map(PathBuf::from),
            hidden_hints: HintKind::ALL.into_iter().filter(is_hidden).collect(),
            hides_lenses: is_off(options.and_then(|it| it.get("lenses"))),
            asks_for_pages: options.and_then(|it| it.get("pages")).and_then(wire::LspAny::as_bool)
                == Some(true),
            first_steps: first_steps.and_then(|it| usize::try_from(it).ok()).unwrap_or(FIRST_STEPS),
            commands: commands.filter_map(|it| it.as_str().map(str::to_owned)).collect(),
        }
    }

    /// Gives these findings in a source their levels. Files are read again each time: nothing says that they have changed.
    pub(super) fn judged(&self, source: &Source, diagnostics: Vec<Diagnostic>) -> Judged {
        let path = Path::new(&source.path);
        // A document that is in no file is in no folder with a configuration either.
        let mut configs = match path.is_absolute() {
            true => Configs::of(&[Input { shown: source.path.clone(), origin: Origin::Stdin }]),
            false => Configs::default(),
        };
        let mut failures = configs.take_failures();
        let compilation = Compilation { diagnostics, ..Compilation::default() };
        let mut file =
            File { source: source.clone(), compilation, docs: configs.docs(&source.path).cloned() };
        levels::apply(&configs.levels(&source.path), &mut file.compilation.diagnostics);
        let Some(baseline) = &self.baseline else { return Judged { file, failures } };
        match Baseline::read(baseline) {
            Ok(baseline) => {
                let mut report = Report { files: vec![file], ..Report::default() };
                baseline.apply(&mut report);
                let file = report.files.remove(0);
                Judged { file, failures }
            }
            Err(failure) => {
                failures.push(failure);
                Judged { file, failures }
            }
        }
    }
}
