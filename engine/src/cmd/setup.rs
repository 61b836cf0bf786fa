//! `orange setup`: shows what coding agents would ask before they work, and answers it with the consent of a person.

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

use crate::app::App;
use crate::around::Around;
use crate::caller::Caller;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::{InstallArgs, SetupArgs};
use crate::cmd::{doctor, install};
use crate::flow::project;
use crate::setup::{self, Matter, Remedy, SetupRecord, skill};
use crate::store::projects::{self, Project};
use crate::store::work_item::DEFAULT_HARNESS;
use crate::{Error, ErrorKind, Result};
use orange_api::{Finding, HarnessInProject, SetupMatter, Success};

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
    let new = project::to_add(app)?;
    let plans = plans(app, &harnesses, new.as_ref(), &around)?;
    let names = harnesses.iter().map(String::as_str);
    let missing: Vec<&str> = names.filter(|harness| skill::missing(harness, &around).is_some()).collect();
    let mut lines: Vec<String> = new.iter().map(is_new).collect();
    lines.extend(shown_all(&plans, &missing));
    let open = open(new.as_ref(), &plans, &missing);
    let consent = if open.is_empty() {
        Consent::default()
    } else if args.yes {
        Consent::all(new.as_ref(), &plans, &missing)
    } else if can_ask(app, as_json) {
        ask(&lines, &open)?
    } else {
        Consent::default()
    };
    let mut printed = if consent.is_asked { Vec::new() } else { lines };
    let added = consent.project.map(|new| project::add(app, &new.path, Some(&new.name), None, |_| {}));
    let added = added.transpose()?.map(|added| added.name);
    printed.extend(added.iter().map(|name| format!("added {name}")));
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
    let problems = problems(app, &harnesses)?;
    printed.extend(problems.iter().map(doctor::describe));
    printed.extend(next(app, &harnesses, &plans, left)?);
    let is_broken = problems.iter().any(|problem| problem.level == "broken");
    let setup = orange_api::Setup {
        success: Success,
        agreed: left == 0,
        added,
        findings: problems,
        changed: shown(&changed),
        harnesses: Some(plans.iter().map(to_answer).collect()),
        missing_skills: Some(missing.iter().map(|harness| (*harness).to_owned()).collect()),
    };
    let answer = CommandAnswer::of(&setup, printed.join("\n"))?;
    Ok(if is_broken { answer.wrong(ErrorKind::Environment) } else { answer })
}

fn is_new(project: &Project) -> String {
    format!("{} is in no project yet: it becomes the project {}", project.path.display(), project.name)
}

/// Problems that no consent answers.
fn problems(app: &App, harnesses: &[String]) -> Result<Vec<Finding>> {
    let mut found: Vec<Finding> = examined(app, &["tmux", "git", "path", "windows", "identity"]);
    if harnesses.is_empty()
        && let Err(error) = app.harness(DEFAULT_HARNESS)?.check(app.path())
    {
        let message = "no coding agent is on PATH".to_owned();
        let remedy = Some(error.help.clone());
        found.push(Finding { check: "harnesses".into(), level: "broken".into(), message, remedy });
    }
    Ok(found)
}

fn examined(app: &App, names: &[&str]) -> Vec<Finding> {
    crate::doctor::problems(app, names).into_iter().map(doctor::to_answer).collect()
}

const CREATE: &str = "`orange task create \"What is to be done\"`";

/// The next command of a person.
fn next(app: &App, harnesses: &[String], plans: &[Plan<'_>], left: usize) -> Result<Option<String>> {
    let is_without_project = plans.is_empty() && projects::read(&app.home)?.is_empty();
    let stops = |matter: &&Matter| !matter.is_answered && matter.blocks && !matter.is_ours();
    let stopped = |plan: &Plan<'_>| plan.matters.iter().find(stops).map(remedy);
    // One coding agent that can begin is enough.
    let stopped: Option<Vec<String>> = plans.iter().map(stopped).collect();
    let stopped = stopped.and_then(|remedies| remedies.into_iter().next());
    Ok(match () {
        () if harnesses.is_empty() => {
            Some("next: install a coding agent, then `orange setup` again".to_owned())
        }
        () if is_without_project => {
            Some("next: go into a repository of yours, and run `orange setup` there".to_owned())
        }
        () if left > 0 => None,
        () => Some(match stopped {
            Some(remedy) => format!("next: {remedy}"),
            None => format!("next: {CREATE} makes a task in the repository and starts its agent"),
        }),
    })
}

fn plans<'h>(
    app: &App,
    harnesses: &'h [String],
    new: Option<&Project>,
    around: &Around,
) -> Result<Vec<Plan<'h>>> {
    let record = SetupRecord::read(&app.home)?;
    let mut plans = Vec::new();
    for project in projects::read(&app.home)?.into_iter().chain(new.cloned()) {
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
fn shown_all(plans: &[Plan<'_>], missing: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = plans.iter().flat_map(describe).collect();
    lines.extend(
        missing.iter().map(|harness| format!("{harness}: its skill is missing, which every prompt names")),
    );
    lines
}

/// One thing that a person can agree to.
#[derive(Clone, Copy)]
enum SetupOffer<'p> {
    /// To add this repository.
    Project(&'p Project),
    /// The questions of a harness in a repository.
    Plan(&'p Plan<'p>),
    /// The skill of a harness.
    Skill(&'p str),
}

/// The offers that a person has accepted.
#[derive(Default)]
struct Consent<'p> {
    project: Option<&'p Project>,
    plans: Vec<&'p Plan<'p>>,
    skills: Vec<&'p str>,
    is_asked: bool,
}

impl<'p> Consent<'p> {
    fn all(new: Option<&'p Project>, plans: &'p [Plan<'p>], missing: &[&'p str]) -> Consent<'p> {
        Consent { project: new, plans: plans.iter().collect(), skills: missing.to_vec(), is_asked: false }
    }

    fn has(&self, open: &SetupOffer<'_>) -> bool {
        match open {
            SetupOffer::Project(_) => self.project.is_some(),
            SetupOffer::Plan(plan) => self.plans.iter().any(|it| std::ptr::eq(*it, *plan)),
            SetupOffer::Skill(harness) => self.skills.contains(harness),
        }
    }
}

fn open<'p>(new: Option<&'p Project>, plans: &'p [Plan<'p>], missing: &[&'p str]) -> Vec<SetupOffer<'p>> {
    let plans = plans.iter().filter(|plan| plan.matters.iter().any(is_to_agree)).map(SetupOffer::Plan);
    let new = new.into_iter().map(SetupOffer::Project);
    new.chain(plans).chain(missing.iter().copied().map(SetupOffer::Skill)).collect()
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
    let mut declined = None;
    for open in open {
        let question = match open {
            SetupOffer::Plan(plan) if declined == Some(&plan.project.path) => continue,
            SetupOffer::Project(new) => format!("Add {} as the project {}?", new.path.display(), new.name),
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
            ("y" | "Y" | "yes", SetupOffer::Project(new)) => consent.project = Some(new),
            (_, SetupOffer::Project(new)) => declined = Some(&new.path),
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
