//! `check --fix`: fixes the files before they are checked, or shows what that would change.

use orange_codegen::Diagnostic;

use crate::answer::Failure;
use crate::args;
use crate::fix::{Mended, Reach, mend, unified};
use crate::input::{Input, Origin};
use crate::output::{printable, put};
use crate::report::{File, Report};
use crate::whole;

/// The result of the fixes, beside the files that were written.
#[derive(Debug, Default)]
pub(super) struct Mending {
    /// The text on standard output instead of the findings: diffs, or the fixed text of standard input.
    pub out: Option<String>,
    /// The fixes that were made, and those that were not.
    pub err: String,
    /// The files that could not be written.
    pub failures: Vec<Failure>,
}

/// Makes the fixes that the flags ask for. Afterwards the inputs have the texts to check: a text that is not written
/// replaces the text of its file in memory. `examine` gives the findings of inputs with their levels.
pub(super) fn run(
    args: &args::CheckArgs,
    inputs: &mut [Input],
    examine: impl Fn(&[Input]) -> Report,
) -> Mending {
    let mut mending = Mending::default();
    let Some(reach) = reach(args) else { return mending };
    mending.hold(inputs);
    let report = examine(inputs);
    for input in inputs.iter_mut() {
        let Some(file) = report.files.iter().find(|it| it.source.path == input.shown) else { continue };
        let mended = mended(input, file, reach, &examine);
        if args.diff {
            mending.show(unified(&input.shown, &file.source.text, &mended.text));
        } else if matches!(input.origin, Origin::Given(..)) {
            mending.show(mended.text.clone());
        }
        match put_back(args, input, file, &mended) {
            Ok(()) => mending.tell(args, &input.shown, &mended),
            Err(failure) => mending.failures.push(failure),
        }
    }
    if args.diff {
        mending.show(String::new());
    }
    mending
}

fn reach(args: &args::CheckArgs) -> Option<Reach> {
    match (args.unsafe_fixes, args.fix || args.diff) {
        (true, _) => Some(Reach::All),
        (false, true) => Some(Reach::Safe),
        (false, false) => None,
    }
}

fn mended(input: &Input, file: &File, reach: Reach, examine: impl Fn(&[Input]) -> Report) -> Mended {
    if file.findings().iter().all(|it| it.fix.is_none()) {
        return Mended { text: file.source.text.clone(), made: 0, refused: Vec::new() };
    }
    mend(&file.source.text, reach, |text| findings(examine(&[input.with_text(text)])))
}

fn findings(report: Report) -> Vec<Diagnostic> {
    report.files.into_iter().flat_map(|it| it.compilation.diagnostics).collect()
}

impl Mending {
    fn hold(&mut self, inputs: &mut [Input]) {
        for input in inputs {
            if let Err(error) = input.hold() {
                let message = format!("cannot read {}: {error}", input.shown);
                self.failures.push(Failure::new(message, "see what is at the other end of the pipe"));
            }
        }
    }

    fn tell(&mut self, args: &args::CheckArgs, path: &str, mended: &Mended) {
        let path = printable(path);
        if mended.made > 0 {
            let (verb, fixes) = (if args.diff { "would make" } else { "made" }, mended.made);
            let plural = if fixes == 1 { "fix" } else { "fixes" };
            put(&mut self.err, format_args!("{verb} {fixes} {plural} in {path}\n"));
        }
        for refused in &mended.refused {
            let (title, why) = (printable(&refused.title), printable(&refused.why));
            put(&mut self.err, format_args!("not fixed in {path}: {title}: {why}\n"));
        }
    }

    fn show(&mut self, text: String) {
        self.out.get_or_insert_default().push_str(&text);
    }
}

/// Writes the changed files, or keeps the text in memory if nothing is written.
fn put_back(args: &args::CheckArgs, input: &mut Input, file: &File, mended: &Mended) -> Result<(), Failure> {
    match &input.origin {
        Origin::Named(_) | Origin::Found(_) if mended.made == 0 => Ok(()),
        Origin::Named(path) | Origin::Found(path) if !args.diff => {
            whole::write_over(path, &file.source.text, &mended.text)
        }
        Origin::Named(_) | Origin::Found(_) | Origin::Stdin | Origin::Given(..) => {
            *input = input.with_text(&mended.text);
            Ok(())
        }
    }
}
