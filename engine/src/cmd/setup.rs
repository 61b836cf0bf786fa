//! `orange setup`: shows what coding agents would ask before they work, and answers it with the consent of a person.

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

use crate::app::App;
use crate::around::Around;
use crate::caller::Caller;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::{InstallArgs, SetupArgs};
use crate::cmd::install;
use crate::setup::{self, Matter, Remedy, SetupRecord, skill};
use crate::store::projects::{self, Project};
use crate::{Error, ErrorKind, Result};
use orange_api::{HarnessInProject, SetupMatter, Success};

/// The questions of one harness in one project.
struct Plan<'h> {
    harness: &'h str,
    project: Project,
    matters: Vec<Matter>,
}

/// Shows the questions, answers them, or takes the answers back.
pub fn run(app: &App, args: &SetupArgs, as_json: bool) -> Result<CommandAnswer> {
    if args.yes || args.undo {
        app.caller.check_person("answer what coding agents ask")?;
    }
    let harnesses = setup::chosen(app, args.harness.as_deref())?;
    if args.undo {
        let files = setup::undo(&app.home, args.harness.as_deref())?;
        let text = format!("nothing is agreed to any more{}", listed(&files, "; changed back: "));
        let undone = orange_api::Setup { changed: shown(&files), ..orange_api::Setup::default() };
        return CommandAnswer::of(&undone, text);
    }
    let around = app.around()?;
    let plans = plans(app, &harnesses, &around)?;
    let names = harnesses.iter().map(String::as_str);
    let missing: Vec<&str> = names.filter(|harness| skill::missing(harness, &around).is_some()).collect();
    let lines = shown_all(&plans, &harnesses, &missing);
    let open = open(&plans, &missing);
    let consent = if open.is_empty() {
        Consent::default()
    } else if args.yes {
        Consent::all(&plans, &missing)
    } else if can_ask(app, as_json) {
        ask(&lines, &open)?
    } else {
        Consent::default()
    };
    let mut printed = if consent.is_asked { Vec::new() } else { lines };
    let mut changed = Vec::new();
    for plan in &consent.plans {
        // The next plan sees the changes of the one before.
        let record = SetupRecord::read(&app.home)?;
        let matters = setup::matters(plan.harness, &plan.project.path, &record, &around)?;
        for file in setup::agree(&app.home, plan.harness, &plan.project.path, &matters)? {
            if !changed.contains(&file) {
                changed.push(file);
            }
        }
    }
    for harness in &consent.skills {
        let args = InstallArgs { harness: Some((*harness).to_owned()), print: false };
        printed.push(install::run(app, &args)?.text);
    }
    let left = open.iter().filter(|open| !consent.has(open)).count();
    printed.push(match (open.len(), left) {
        (0, _) => "nothing is left to agree to".to_owned(),
        (_, 0) => format!("agreed{}", listed(&changed, "; changed: ")),
        (all, left) if left == all => {
            "nothing was changed: `orange setup --yes` agrees to what is open".to_owned()
        }
        (_, left) => {
            let changed = listed(&changed, "; changed: ");
            format!("agreed in part, {left} left open: `orange setup` asks for that again{changed}")
        }
    });
    let setup = orange_api::Setup {
        success: Success,
        agreed: left == 0,
        changed: shown(&changed),
        harnesses: Some(plans.iter().map(to_answer).collect()),
        missing_skills: Some(missing.iter().map(|harness| (*harness).to_owned()).collect()),
    };
    CommandAnswer::of(&setup, printed.join("\n"))
}

fn plans<'h>(app: &App, harnesses: &'h [String], around: &Around) -> Result<Vec<Plan<'h>>> {
    let record = SetupRecord::read(&app.home)?;
    let mut plans = Vec::new();
    for project in projects::read(&app.home)? {
        for harness in harnesses {
            let matters = setup::matters(harness, &project.path, &record, around)?;
            plans.push(Plan { harness, project: project.clone(), matters });
        }
    }
    Ok(plans)
}

fn is_to_agree(matter: &Matter) -> bool {
    !matter.is_answered && matter.is_ours()
}

/// Every question of each harness, answered or open, and each missing skill.
fn shown_all(plans: &[Plan<'_>], harnesses: &[String], missing: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = plans.iter().flat_map(describe).collect();
    lines.extend(
        missing.iter().map(|harness| format!("{harness}: its skill is missing, which every prompt names")),
    );
    if harnesses.is_empty() {
        lines.push(
            "no coding agent is on PATH: install one; `orange doctor` says how, `orange setup --harness claude` works without it"
                .to_owned(),
        );
    } else if plans.is_empty() {
        lines.push(
            "there is no project yet: `orange project add` in a repository, then `orange setup` again"
                .to_owned(),
        );
    }
    lines
}

/// One thing that a person can agree to.
#[derive(Clone, Copy)]
enum SetupOffer<'p> {
    /// The questions of a harness in a repository.
    Plan(&'p Plan<'p>),
    /// The skill of a harness.
    Skill(&'p str),
}

/// The offers that a person has accepted.
#[derive(Default)]
struct Consent<'p> {
    plans: Vec<&'p Plan<'p>>,
    skills: Vec<&'p str>,
    is_asked: bool,
}

impl<'p> Consent<'p> {
    fn all(plans: &'p [Plan<'p>], missing: &[&'p str]) -> Consent<'p> {
        Consent { plans: plans.iter().collect(), skills: missing.to_vec(), is_asked: false }
    }

    fn has(&self, open: &SetupOffer<'_>) -> bool {
        match open {
            SetupOffer::Plan(plan) => self.plans.iter().any(|it| std::ptr::eq(*it, *plan)),
            SetupOffer::Skill(harness) => self.skills.contains(harness),
        }
    }
}

fn open<'p>(plans: &'p [Plan<'p>], missing: &[&'p str]) -> Vec<SetupOffer<'p>> {
    let plans = plans.iter().filter(|plan| plan.matters.iter().any(is_to_agree)).map(SetupOffer::Plan);
    plans.chain(missing.iter().copied().map(SetupOffer::Skill)).collect()
}

/// An agent has a terminal, too, and is shown what is open.
fn can_ask(app: &App, as_json: bool) -> bool {
    app.caller == Caller::Person && !as_json && std::io::stdin().is_terminal()
}

/// Asks on the terminal about each offer, after showing all questions. Nothing is changed before the last answer.
fn ask<'p>(lines: &[String], open: &[SetupOffer<'p>]) -> Result<Consent<'p>> {
    let cannot =
        |cause| Error::new(ErrorKind::Usage, format!("cannot ask: {cause}")).help("repeat it with --yes");
    let mut consent = Consent { is_asked: true, ..Consent::default() };
    let mut terminal = std::io::stderr();
    writeln!(terminal, "{}\n", lines.join("\n")).map_err(cannot)?;
    for open in open {
        let question = match open {
            SetupOffer::Plan(plan) => {
                format!("Allow {} what is open in {}?", plan.harness, plan.project.name)
            }
            SetupOffer::Skill(harness) => format!("Install the skill for {harness}?"),
        };
        let mut answer = String::new();
        write!(terminal, "{question} [y/N] ")
            .and_then(|()| std::io::stdin().lock().read_line(&mut answer))
            .map_err(cannot)?;
        match (answer.trim(), open) {
            ("y" | "Y" | "yes", SetupOffer::Plan(plan)) => consent.plans.push(plan),
            ("y" | "Y" | "yes", SetupOffer::Skill(harness)) => consent.skills.push(harness),
            _ => {}
        }
    }
    Ok(consent)
}

fn describe(plan: &Plan) -> Vec<String> {
    let Plan { harness, project, matters } = plan;
    let mut lines = vec![format!("{harness} in {} ({})", project.name, project.path.display())];
    lines.extend(matters.iter().map(|matter| {
        let state = if matter.is_answered { "answered" } else { "open" };
        let how =
            if matter.is_answered { String::new() } else { format!("\n{:19}→ {}", "", remedy(matter)) };
        format!("  {state:<8} {:<7} {}{how}", matter.name, matter.allows)
    }));
    if matters.is_empty() {
        lines.push("  asks nothing".to_owned());
    }
    lines
}

fn remedy(matter: &Matter) -> String {
    match &matter.remedy {
        Remedy::Argument => "an argument of each agent says it; no file is changed".to_owned(),
        Remedy::File { file, path, .. } => format!("sets `{}` in {}", path.join("."), file.display()),
        Remedy::Person(help) => help.clone(),
    }
}

fn to_answer(plan: &Plan<'_>) -> HarnessInProject {
    let matter = |matter: &Matter| SetupMatter {
        name: matter.name.into(),
        allows: matter.allows.clone(),
        answered: matter.is_answered,
        remedy: remedy(matter),
    };
    HarnessInProject {
        harness: plan.harness.to_owned(),
        project: plan.project.name.clone(),
        repo: plan.project.path.display().to_string(),
        matters: plan.matters.iter().map(matter).collect(),
    }
}

fn shown(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|file| file.display().to_string()).collect()
}

fn listed(files: &[PathBuf], before: &str) -> String {
    if files.is_empty() { String::new() } else { format!("{before}{}", shown(files).join(", ")) }
}
