//! `orange demo`: the life of one task in a scratch home, with real tmux, real git and a scripted agent.

mod home;
pub mod scratch;

use std::thread;
use std::time::{Duration, Instant};

pub use home::sweep;

use self::home::DemoHome;
use crate::app::App;
use crate::drive::git::Git;
use crate::setup::dashboard;
use crate::store::{Event, Home, WorkItem, WorkItemDir, list};
use crate::{Error, ErrorKind, Result};

/// The time limit for one step.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time in which a person reads a step.
const READING: Duration = Duration::from_millis(1500);

const BRANCH: &str = "add-login";

/// The transitions of the workflow `default` in the order in which they happen, each with its meaning.
const STEPS: &[(&str, &str, &str)] = &[
    (
        "pending",
        "clarification",
        "An agent begins. The task has no description, so the agent asks what is to be done.",
    ),
    ("clarification", "working", "The agent has its answer, and begins to work on a branch of its own."),
    (
        "working",
        "agent-review",
        "It has committed its work and written a handoff. A second agent reviews it.",
    ),
    (
        "agent-review",
        "working",
        "The reviewer finds a fault, and its verdict is FAIL. A new agent corrects it.",
    ),
    ("working", "agent-review", "The fault is corrected. A new reviewer looks at it."),
    (
        "agent-review",
        "reviewing",
        "The verdict is PASS. The agents have ended, and the task waits for a person: you.",
    ),
    ("reviewing", "done", "The branch is merged, and the worktree is free for the next task."),
];

/// The number of steps until the agents are done.
const UNTIL_REVIEWED: usize = STEPS.len() - 1;

/// The person who watches.
pub struct Audience<'a> {
    /// Prints lines.
    pub say: &'a dyn Fn(&str) -> Result<()>,
    /// True if they watch at a terminal, on which a dashboard can be shown.
    pub is_at_terminal: bool,
}

/// The result of a demo.
pub struct PlayedDemo {
    /// The statuses of the task, in order.
    pub statuses: Vec<String>,
    /// The folder, if it was kept.
    pub folder: Option<String>,
}

struct Play<'a> {
    home: DemoHome,
    audience: Audience<'a>,
    has_dashboard: bool,
}

/// Plays the life of a task, and removes what that made, or keeps it.
///
/// # Errors
/// `environment` where a program is missing, or the life takes another course.
pub fn play(app: &App, audience: Audience<'_>, keep: bool) -> Result<PlayedDemo> {
    app.tmux.check()?;
    Git::at(&app.folder).check()?;
    let has_dashboard = audience.is_at_terminal && dashboard::is_installed(app);
    let play = Play { home: DemoHome::begin(app)?, audience, has_dashboard };
    let played = play.life();
    let root = play.home.root().display().to_string();
    let Play { home, audience, .. } = play;
    let ended = home.end(keep);
    let statuses = played?;
    ended?;
    (audience.say)(&if keep {
        format!(
            "\nNo agent and no tmux of the demo is left. Its files are in {root}; `rm -r {root}` removes them."
        )
    } else {
        "\nNo agent, no tmux and no file of the demo is left.".to_owned()
    })?;
    Ok(PlayedDemo { statuses, folder: keep.then_some(root) })
}

impl Play<'_> {
    fn life(&self) -> Result<Vec<String>> {
        let root = self.home.root().display();
        self.say(&format!(
            "This is the life of a task, in the scratch folder {root}. Nothing else of yours is touched.\n\
             A script plays the coding agent: it does what its prompt says. orange, git and tmux are the real ones."
        ))?;
        self.person("A project is a repository that tasks belong to.", &["project", "add"])?;
        self.person("A task gets a branch, a worktree and an agent.", &["task", "create", BRANCH])?;
        let dir = self.task()?;
        self.follow(&dir, 0, 1)?;
        let question = self.question(&dir)?;
        self.say(&format!("  The agent asks: {question}"))?;
        let answer = ["task", "send", BRANCH, "Add a login form"];
        self.person("You answer. The text goes to the agent's terminal.", &answer)?;
        self.follow(&dir, 1, UNTIL_REVIEWED)?;
        self.person("The list says what needs you.", &["task", "list"])?;
        self.dashboard()?;
        self.person("You read what was done.", &["task", "diff", BRANCH])?;
        // A person may have merged it in the dashboard.
        if self.statuses(&dir)?.len() <= UNTIL_REVIEWED + 1 {
            self.person("You agree, and merge.", &["task", "merge", BRANCH, "--local"])?;
        }
        self.follow(&dir, UNTIL_REVIEWED, STEPS.len())?;
        self.say("\nThat was the life of a task. Yours begins in a repository: `orange setup` there, then `orange task create`.")?;
        self.statuses(&dir)
    }

    fn say(&self, text: &str) -> Result<()> {
        (self.audience.say)(text)
    }

    /// Explains a command as a person would type it, and runs it.
    fn person(&self, why: &str, words: &[&str]) -> Result<()> {
        let typed = words
            .iter()
            .map(|word| if word.contains(' ') { format!("\"{word}\"") } else { (*word).to_owned() });
        self.say(&format!("\n{why}\n$ orange {}", typed.collect::<Vec<_>>().join(" ")))?;
        let output = self.home.orange(words)?.text();
        let lines: Vec<String> =
            output.lines().map(|line| format!("  {line}").trim_end().to_owned()).collect();
        self.say(&lines.join("\n"))?;
        self.let_read();
        Ok(())
    }

    fn let_read(&self) {
        if self.audience.is_at_terminal {
            thread::sleep(READING);
        }
    }

    fn task(&self) -> Result<WorkItemDir> {
        let listed = list(&Home::at(self.home.orange_home()), None)?;
        let first = listed.into_iter().next().map(|listed| listed.dir);
        first.ok_or_else(|| Error::new(ErrorKind::Environment, "the demo has no task"))
    }

    /// The statuses of the task so far.
    fn statuses(&self, dir: &WorkItemDir) -> Result<Vec<String>> {
        let (_, journal) = WorkItem::read(&Home::at(self.home.orange_home()), dir)?;
        let entered = journal.records.iter().filter_map(|record| {
            if let Event::StatusChanged { to, .. } = &record.event { Some(to.clone()) } else { None }
        });
        Ok([STEPS[0].0.to_owned()].into_iter().chain(entered).collect())
    }

    /// Explains each of these steps when it has happened.
    fn follow(&self, dir: &WorkItemDir, from: usize, until: usize) -> Result<()> {
        for (number, (before, after, meaning)) in STEPS.iter().enumerate().take(until).skip(from) {
            let statuses = self.until(after, || {
                let statuses = self.statuses(dir)?;
                Ok((statuses.len() > number + 1).then_some(statuses))
            })?;
            if (statuses[number].as_str(), statuses[number + 1].as_str()) != (*before, *after) {
                let message = format!("the task went {}, and not to {after}", statuses.join(" → "));
                return Err(Error::new(ErrorKind::Environment, message));
            }
            self.say(&format!(
                "{}  {before} → {after}\n  {meaning}",
                if number == from { "\n" } else { "" }
            ))?;
            self.let_read();
        }
        Ok(())
    }

    /// The first question that the agent has written into its file.
    fn question(&self, dir: &WorkItemDir) -> Result<String> {
        self.until("a question of the agent", || {
            let shown = self.home.orange(&["task", "show", &dir.id])?.text();
            let mut lines = shown.lines().map(str::trim).skip_while(|line| *line != "## Questions").skip(1);
            Ok(lines.next().map(str::to_owned))
        })
    }

    fn dashboard(&self) -> Result<()> {
        const WHY: &str = "`orange` alone opens the dashboard, which shows the same and stays up to date.";
        if !self.has_dashboard {
            let lacks = if self.audience.is_at_terminal {
                "`orange-dashboard` is not installed"
            } else {
                "there is no terminal"
            };
            return self.say(&format!("\n{WHY} It is left out here: {lacks}."));
        }
        self.say(&format!("\n{WHY}\n`?` lists its keys, `q` leaves it, and the demo goes on.\n$ orange"))?;
        self.let_read();
        self.home.dashboard()
    }

    fn until<T>(&self, what: &str, look: impl Fn() -> Result<Option<T>>) -> Result<T> {
        const PAUSE: Duration = Duration::from_millis(20);
        let start = Instant::now();
        loop {
            if let Some(found) = look()? {
                return Ok(found);
            }
            if start.elapsed() > PATIENCE {
                let message = format!("the demo waited {} s in vain for {what}", PATIENCE.as_secs());
                return Err(Error::new(ErrorKind::Environment, message)
                    .help("try it again on a machine that is less busy"));
            }
            thread::sleep(PAUSE);
        }
    }
}
