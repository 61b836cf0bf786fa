//! `simulate`: walks a machine by hand, from a script, or along the trace of a finding.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use orange_analysis::lint;
use orange_codegen::lower::{Arena, lower};
use orange_codegen::{Diagnostic, Trace};
use orange_core::Machine;

use crate::Styles;
use crate::answer::{Answer, Exit, Failure};
use crate::cmd::one;
use crate::input::not_both_from_stdin;
use crate::levels;
use crate::simulate::{Simulation, converse, perform};

/// The name of standard input as the source of commands.
const STDIN: &str = "-";

/// Take a task through a machine by hand, and print what the engine would do.
#[derive(Debug, Args)]
#[command(after_help = "\
The commands of a script, one a line; `#` begins a comment:
  spawn                        start the task
  write ## Handoff: DONE: all  write a section of TASK.md; \\n begins a new line
  status STATE [by ACTOR]      ask for a state, as worker, reviewer or human
  die [worker|reviewer]        the agent ends
  respawn                      start the state's agent again
  set COUNTER NUMBER           set a counter
  next, show                   look at the transitions, look at the task
  back, quit                   take a step back, stop

Examples:
  orange-workflow simulate flow.yml
  orange-workflow simulate flow.yml --script walk.txt
  orange-workflow simulate draft.yml --trace C62

Exit status: 0 done, 1 something in the script cannot happen, 2 the work could not be done.")]
pub(crate) struct Simulate {
    /// The workflow; `-` reads standard input
    pub file: PathBuf,

    /// Do what the lines of this file say; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Replay the trace of the first finding of this check
    #[arg(long, value_name = "CODE|NAME", conflicts_with = "script")]
    pub trace: Option<String>,
}

pub(super) fn run(args: &Simulate, styles: Styles) -> Result<Answer, Answer> {
    if args.trace.is_none() {
        not_both_from_stdin(&args.file, args.script.as_deref().unwrap_or(Path::new(STDIN)))?;
    }
    let (file, checked) = one::load(&args.file, styles)?;
    let arena = Arena::default();
    let machine = match lower(&checked, &arena) {
        Ok(machine) => machine,
        Err(findings) => return Err(one::refuse(file, findings, styles)),
    };
    if let Some(name) = &args.trace {
        let trace = trace_of(name, &lint::findings(&checked, &file.source))?;
        return Ok(replay(&machine, &trace)?);
    }
    match &args.script {
        Some(script) => Ok(follow(&machine, &read(script)?)?),
        None if io::stdin().is_terminal() => {
            let mut simulation = Simulation::new(&machine);
            converse(&mut simulation, io::stdin().lock(), io::stdout().lock()).map_err(cannot_write)?;
            Ok(Answer::text(""))
        }
        None => Ok(follow(&machine, &read(Path::new(STDIN))?)?),
    }
}

fn follow(machine: &Machine<'_>, script: &str) -> Result<Answer, Failure> {
    transcript(Simulation::new(machine), script.lines())
}

fn replay(machine: &Machine<'_>, trace: &Trace) -> Result<Answer, Failure> {
    let simulation = Simulation::starting_in(machine, &trace.start)
        .map_err(|it| Failure::new(it.0, "please report this as a bug of orange-workflow"))?;
    transcript(simulation, trace.steps.iter().flat_map(|it| it.script.iter().map(String::as_str)))
}

fn transcript<'l>(
    mut simulation: Simulation<'_>,
    lines: impl IntoIterator<Item = &'l str>,
) -> Result<Answer, Failure> {
    let mut out = Vec::new();
    perform(&mut simulation, lines, &mut out).map_err(cannot_write)?;
    let exit = if simulation.failed { Exit::Found } else { Exit::Clean };
    Ok(Answer { out: String::from_utf8_lossy(&out).into_owned(), err: String::new(), exit })
}

fn trace_of(name: &str, found: &[Diagnostic]) -> Result<Trace, Failure> {
    let check = levels::find(name)
        .map_err(|help| Failure::new(format!("--trace: there is no check `{name}`"), help))?;
    let trace = found.iter().filter(|it| it.check == check).find_map(|it| it.trace.clone());
    trace.ok_or_else(|| {
        Failure::new(
            format!("--trace: no finding of `{}` here has a trace", check.name),
            "`orange-workflow check` shows what is found, and the trace of each finding that has one",
        )
    })
}

fn read(script: &Path) -> Result<String, Failure> {
    let read = if script.as_os_str() == STDIN {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(script)
    };
    read.map_err(|error| {
        let message = format!("cannot read the script {}: {error}", script.display());
        Failure::new(message, "name a text file with one command a line, or `-` for standard input")
    })
}

fn cannot_write(error: io::Error) -> Failure {
    Failure::new(format!("cannot read or write here: {error}"), "try it with `--script FILE`")
}
