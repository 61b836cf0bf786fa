//! `fmt`: formats workflows, or lists those that it would change.

use std::path::PathBuf;

use clap::Args;
use orange_codegen::{Format, Likeness, Source};

use crate::answer::{Answer, Exit, Failure};
use crate::fmt::{NotFormatted, format};
use crate::input::{self, CollectedInputs, Input, Origin, ReadInput};
use crate::output::{printable, put};
use crate::whole;

/// Format workflows: the order of keys, quotes, indentation, blank lines.
#[derive(Debug, Args)]
#[command(after_help = "\
Comments stay with what they belong to, texts below `|` and `>` stay as they are, and what a workflow means does not \
change: that is made sure of before a file is written. YAML alone is laid out; files in TOML are left alone.

Examples:
  orange-workflow fmt workflows/
  orange-workflow fmt workflows/ --check
  git show HEAD:flow.yml | orange-workflow fmt - --stdin-name flow.yml

Exit status: 0 done, 1 with --check something would change, 2 the work could not be done.")]
pub(crate) struct Fmt {
    /// Files or folders to format; `-` reads standard input and prints the formatted text
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Write nothing; name the files that would change, and exit with 1 if there are any
    #[arg(long)]
    pub check: bool,

    /// The file name that `-` stands for: names it in messages, and says whether it is YAML or TOML
    #[arg(long, value_name = "FILE")]
    pub stdin_name: Option<String>,
}

pub(super) fn run(args: &Fmt) -> Result<Answer, Answer> {
    let CollectedInputs { inputs, failures } = input::collect(&args.paths, args.stdin_name.as_deref());
    let mut run =
        Formatting { args, out: String::new(), err: String::new(), changed: 0, looked_at: 0, failures };
    for input in &inputs {
        if let Err(failure) = run.look_at(input) {
            run.failures.push(failure);
        }
    }
    Ok(run.answer())
}

struct Formatting<'a> {
    args: &'a Fmt,
    out: String,
    err: String,
    changed: usize,
    looked_at: usize,
    failures: Vec<Failure>,
}

impl Formatting<'_> {
    fn look_at(&mut self, input: &Input) -> Result<(), Failure> {
        let shown = printable(&input.shown);
        let source = match input.read() {
            ReadInput::Text(source) => source,
            ReadInput::NotText(_, finding) | ReadInput::Unreadable(_, finding) => {
                let help = finding.help.unwrap_or_else(|| "leave it out".to_owned());
                return Err(Failure::new(format!("{shown}: {}", finding.message), help));
            }
        };
        match (Likeness::of(&source), &input.origin) {
            (Likeness::Workflow(_), _)
            | (Likeness::Almost(_), Origin::Named(_) | Origin::Stdin | Origin::Given(..)) => {}
            (Likeness::Almost(_) | Likeness::Other, Origin::Found(_)) => return Ok(()),
            (Likeness::Other, Origin::Named(_) | Origin::Stdin | Origin::Given(..)) => {
                return Err(Failure::new(
                    format!("{shown} is not a workflow"),
                    "name a file that has `states` or `steps`",
                ));
            }
        }
        self.looked_at += 1;
        if source.format == Format::Toml {
            put(&mut self.err, format_args!("left alone {shown}: only YAML is laid out\n"));
            return self.deliver(input, &source, source.text.clone());
        }
        let text = format(&source).map_err(|left| refusal(&shown, left))?;
        self.deliver(input, &source, text)
    }

    fn deliver(&mut self, input: &Input, source: &Source, text: String) -> Result<(), Failure> {
        let changes = text != source.text;
        self.changed += usize::from(changes);
        let shown = printable(&input.shown);
        match &input.origin {
            _ if self.args.check && changes => put(&mut self.out, format_args!("{shown}\n")),
            _ if self.args.check => {}
            Origin::Stdin | Origin::Given(..) => self.out.push_str(&text),
            Origin::Named(path) | Origin::Found(path) if changes => {
                whole::write_over(path, &source.text, &text)?;
                put(&mut self.err, format_args!("laid out {shown}\n"));
            }
            Origin::Named(_) | Origin::Found(_) => {}
        }
        Ok(())
    }

    fn answer(mut self) -> Answer {
        if self.looked_at == 0 && self.failures.is_empty() {
            let message = "there is no workflow to lay out";
            self.failures
                .push(Failure::new(message, "name a file, or a folder with workflows in *.yml or *.yaml"));
        }
        let exit = match (self.failures.as_slice(), self.args.check && self.changed > 0) {
            ([], false) => Exit::Clean,
            ([], true) => Exit::Found,
            (_, _) => Exit::Failed,
        };
        self.err.extend(self.failures.iter().map(Failure::to_string));
        Answer { out: self.out, err: self.err, exit }
    }
}

fn refusal(shown: &str, left: NotFormatted) -> Failure {
    match left {
        NotFormatted::Broken => Failure::new(
            format!("{shown} is left as it is: its YAML is broken, or written as no workflow is"),
            format!("mend it first: `orange-workflow check {shown}` says what is wrong"),
        ),
        NotFormatted::Different(what) => Failure::new(
            format!("{shown} is left as it is: formatted, {what}"),
            "please report this as a bug of orange-workflow, with the file",
        ),
    }
}
