//! `simulate`: walks a machine by hand, from a script, or along the trace of a finding.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use orange_analysis::walk::Walk;
use orange_analysis::{lint, plan_proof, prove};
use orange_codegen::lower::{Arena, PlanArena, lower, lower_plan};
use orange_codegen::{Diagnostic, Trace};
use orange_core::Machine;
use orange_core::plan::{Execution, Intervene, Policy};

use crate::answer::{Answer, Exit, Failure};
use crate::cmd::one;
use crate::input::not_both_from_stdin;
use crate::levels;
use crate::screen::Styles;
use crate::simulate::{Simulated, Simulation, converse, perform};

/// The name of standard input as the source of commands.
const STDIN: &str = "-";

/// Take a task through a machine, or a mission through its steps, by hand, and print what the engine would do.
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

Those for a step workflow:
  complete STEP [RESULT][: SUMMARY]  the agent of a step completes it
  warn STEP [RESULT]: WARNING        the same, with a warning
  fail STEP[: REASON], lose STEP     its agent fails, or ends without a word
  continue, accept [PAUSE]           answer a pause, by default the oldest; take the failure as it is
  retry [STEP], cancel               run a failed mission again; end the mission
  context STEP                       look at the context of a step

Examples:
  orange-workflow simulate flow.yml
  orange-workflow simulate flow.yml --script walk.txt
  orange-workflow simulate draft.yml --trace C62
  orange-workflow simulate flow.yml --from working
  orange-workflow simulate dev-task.toml --script mission.txt --intervene never

Exit status: 0 done, 1 something in the script cannot happen, 2 the work could not be done.")]
pub(crate) struct Simulate {
    /// The workflow; `-` reads standard input
    pub file: PathBuf,

    /// Do what the lines of this file say; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Replay the trace of the first finding of this check; of a step workflow, also the run that breaks this property of `prove`
    #[arg(long, value_name = "CODE|NAME", conflicts_with = "script")]
    pub trace: Option<String>,

    /// Begin in this state, as a task that was created in it; not of a step workflow
    #[arg(long, value_name = "STATE", conflicts_with = "trace")]
    pub from: Option<String>,

    /// Execution of a mission, instead of that of its workflow: step, auto
    #[arg(long, value_name = "EXECUTION", value_parser = execution)]
    pub execution: Option<Execution>,

    /// After what a mission pauses, instead of what its workflow says: never, on-warning, on-error, always
    #[arg(long, value_name = "INTERVENE", value_parser = intervene)]
    pub intervene: Option<Intervene>,
}

fn execution(name: &str) -> Result<Execution, String> {
    let known = Execution::ALL.into_iter().find(|it| it.as_str() == name);
    known.ok_or_else(|| "write `step` or `auto`".to_owned())
}

fn intervene(name: &str) -> Result<Intervene, String> {
    let known = Intervene::ALL.into_iter().find(|it| it.as_str() == name);
    known.ok_or_else(|| "write `never`, `on-warning`, `on-error` or `always`".to_owned())
}

pub(super) fn run(args: &Simulate, styles: Styles) -> Result<Answer, Answer> {
    if args.trace.is_none() {
        not_both_from_stdin(&args.file, args.script.as_deref().unwrap_or(Path::new(STDIN)))?;
    }
    let (file, checked) = one::load(&args.file, styles)?;
    let plans = PlanArena::default();
    if let Some(plan) = lower_plan(&checked, &plans) {
        if args.from.is_some() {
            let message = "--from: a step workflow has no states".to_owned();
            return Err(
                Failure::new(message, "a mission begins with its first steps: leave `--from` out").into()
            );
        }
        let policy = Policy {
            execution: args.execution.unwrap_or(plan.policy.execution),
            intervene: args.intervene.unwrap_or(plan.policy.intervene),
        };
        let Some(name) = &args.trace else {
            return Ok(lead(Simulation::of_mission(&plan, policy), args.script.as_deref())?);
        };
        // The runs of proofs do not pause.
        let unattended = Policy { execution: Execution::Auto, intervene: Intervene::Never };
        let simulation = Simulation::of_mission(&plan, unattended);
        let trace = match plan_proof::PROPERTIES
            .iter()
            .chain(plan_proof::PROPERTIES_OF_ASKS)
            .any(|it| it.name == name)
        {
            true => {
                let proof = plan_proof::prove(&checked, &file.source);
                broken(name, proof.iter().flat_map(|it| &it.properties))?
            }
            false => trace_of(name, &lint::findings(&checked, &file.source))?,
        };
        return Ok(transcript(simulation, lines(&trace))?);
    }
    let arena = Arena::default();
    let machine = match lower(&checked, &arena) {
        Ok(machine) => machine,
        Err(findings) => return Err(one::refuse(file, findings, styles)),
    };
    if let Some(name) = &args.trace {
        let trace = trace_of(name, &lint::findings(&checked, &file.source))?;
        return Ok(replay(&machine, &trace)?);
    }
    let simulation = match &args.from {
        Some(state) => beginning_in(&machine, state)?,
        None => Simulation::of_task(&machine),
    };
    Ok(lead(simulation, args.script.as_deref())?)
}

fn lead<W>(mut simulation: Simulation<W>, script: Option<&Path>) -> Result<Answer, Failure>
where
    Simulation<W>: Simulated,
{
    match script {
        Some(script) => transcript(simulation, read(script)?.lines()),
        None if io::stdin().is_terminal() => {
            converse(&mut simulation, io::stdin().lock(), io::stdout().lock()).map_err(cannot_write)?;
            Ok(Answer::text(""))
        }
        None => transcript(simulation, read(Path::new(STDIN))?.lines()),
    }
}

fn beginning_in<'m>(machine: &'m Machine<'m>, state: &str) -> Result<Simulation<Walk<'m>>, Failure> {
    Simulation::starting_in(machine, state).map_err(|it| {
        let names: Vec<&str> = machine.states.iter().map(|it| it.name).collect();
        Failure::new(format!("--from: {}", it.0), format!("the states are {}", names.join(", ")))
    })
}

fn replay(machine: &Machine<'_>, trace: &Trace) -> Result<Answer, Failure> {
    let simulation = Simulation::starting_in(machine, &trace.start)
        .map_err(|it| Failure::new(it.0, "please report this as a bug of orange-workflow"))?;
    transcript(simulation, lines(trace))
}

/// The script of a trace.
fn lines(trace: &Trace) -> impl Iterator<Item = &str> {
    trace.steps.iter().flat_map(|it| it.script.iter().map(String::as_str))
}

/// The run that breaks a property.
fn broken<'j>(name: &str, mut properties: impl Iterator<Item = &'j prove::Judged>) -> Result<Trace, Failure> {
    let trace = properties.find(|it| it.name == name).and_then(|it| match &it.verdict {
        prove::ProofVerdict::Refuted { trace, .. } => trace.clone(),
        prove::ProofVerdict::Proved { .. } | prove::ProofVerdict::Undecided { .. } => None,
    });
    trace.ok_or_else(|| {
        let message = format!("--trace: no run breaks a property `{name}` here");
        Failure::new(message, "`orange-workflow prove` names each property, and the script of each end")
    })
}

fn transcript<'l, W>(
    mut simulation: Simulation<W>,
    lines: impl IntoIterator<Item = &'l str>,
) -> Result<Answer, Failure>
where
    Simulation<W>: Simulated,
{
    let mut out = Vec::new();
    perform(&mut simulation, lines, &mut out).map_err(cannot_write)?;
    let exit = if simulation.has_failed() { Exit::Found } else { Exit::Clean };
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
