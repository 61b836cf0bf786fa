//! Results of the compiler's search about an abstract task, held against real ones: equal steps, taken with the real `orange` on
//! real agents, have equal results.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use orange_analysis::search::ends::{self, RuleIndex};
use orange_analysis::search::task::Agent;
use orange_analysis::search::{
    ConfigurationId, Edge, EdgeId, ExitResult, OWN_HOOK, Search, SearchStep, Wrote,
};
use orange_codegen::{Source, compile, lower};
use orange_core::{Actor, StateId};

use crate::sample::RunSample;
use crate::task::{Task, is_alive, kill};
use crate::world::{PROJECT, World, binary, seeds};

#[test]
fn default_does_what_the_search_says() {
    check(binary(), "../workflows/default.yml");
}

#[test]
fn minimal_does_what_the_search_says() {
    check(binary(), "../workflows/minimal.yml");
}

#[test]
fn persistent_does_what_the_search_says() {
    check(binary(), "../workflows/persistent.yml");
}

#[test]
fn agents_that_end_in_every_way_do_what_the_search_says() {
    check(binary(), "fixtures/ends.yml");
}

#[test]
fn a_workflow_with_faults_does_what_the_search_says() {
    check(seeds(), "fixtures/seed-default.yml");
}

/// Takes runs that show every kind of step there is.
#[track_caller]
fn check(program: &'static Path, workflow: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(workflow);
    let source = Source::read(&file).unwrap();
    let checked = compile(&source).checked.unwrap();
    let arena = lower::Arena::default();
    let machine = lower::lower(&checked, &arena).unwrap();
    let search = Search::run(&machine);
    assert_eq!(search.cut(), None);
    let world = World::of(program);
    // Where it is compiled in, that comes first.
    world.workflow(&format!("{}.yml", machine.name), &fs::read_to_string(&file).unwrap());
    for run in RunSample::of(&search) {
        take(&world, &search, &run);
    }
}

fn take(world: &World, search: &Search<'_>, run: &[EdgeId]) {
    let mut real = Real::create(world, search, search.start_of(run, 0));
    for id in run {
        let edge = search.edge(*id);
        real.take(edge);
        // What is still to be asked about an end, the engine asks at once.
        if search.task(edge.to).unhandled_exit.is_none() {
            real.compare(edge.to);
        }
    }
    // Another task must find nothing of this one.
    if !search.machine.states.iter().any(|it| it.terminal && it.name == real.task.status()) {
        real.task.ok("cancel", &["--yes"]);
    }
}

/// Visible state of a task, abstract or real.
#[derive(Debug, PartialEq, Eq)]
struct VisibleTask {
    status: String,
    /// Those that are followed, up to where guards tell them apart.
    counters: BTreeMap<String, u32>,
    has_worktree: bool,
    has_session: bool,
    alive: Vec<&'static str>,
    /// The states that a person may move it to.
    open: Vec<String>,
    /// The hooks of the last step that failed.
    failed: Vec<String>,
}

/// A real task, and what was done with it.
struct Real<'r> {
    world: &'r World,
    search: &'r Search<'r>,
    task: Task<'r>,
    story: Vec<String>,
    /// Number of events before the last step.
    before: usize,
    /// The hooks that are to have failed since.
    failing: Vec<String>,
}

impl<'r> Real<'r> {
    fn create(world: &'r World, search: &'r Search<'r>, status: StateId) -> Self {
        let agents = "scripted ".repeat(60);
        let summary = format!("Mend it [agents: {}]", agents.trim_end());
        let (workflow, name) = (search.machine.name, search.machine.state(status).name);
        // A review is about work that is there.
        if world.git(&world.repo(), &["branch", "--list", "fix"]).is_empty() {
            world.git(&world.repo(), &["branch", "fix"]);
        }
        let task = world.create("fix", &summary, &["--workflow", workflow, "--status", name, "--no-spawn"]);
        Self {
            world,
            search,
            task,
            story: vec![format!("created in {name}")],
            before: 0,
            failing: Vec::new(),
        }
    }

    /// Takes a step as those who take it do.
    fn take(&mut self, edge: &Edge) {
        let before = *self.search.task(edge.from);
        self.story.push(format!("{:?}", edge.step));
        if before.unhandled_exit.is_none() {
            self.before = self.task.events().len();
            self.failing.clear();
            self.write(edge.step.wrote());
            self.act(&edge.step);
        }
        self.failing.extend(self.search.events(edge).iter().filter_map(|(index, event)| {
            let hook = match edge.step.transition() {
                Some(id) => &self.search.machine.transition(id).hooks[usize::from(*index)],
                None => self
                    .search
                    .machine
                    .state(before.status)
                    .respawn
                    .as_ref()
                    .filter(|_| *index == OWN_HOOK)?,
            };
            event.is_failure_of(hook).then(|| hook.name().to_owned())
        }));
    }

    fn act(&self, step: &SearchStep) {
        match *step {
            SearchStep::Start => drop(self.task.ok("spawn", &[])),
            SearchStep::Write(_) => {}
            SearchStep::Commit(_) => self.commit(),
            SearchStep::EndWhileWaiting(agent) => self.end(agent, None),
            SearchStep::Request { transition, by, .. } => {
                let to = self.search.machine.state(self.search.machine.transition(transition).to).name;
                self.request(to, by);
            }
            SearchStep::Exit { agent, end, outcome, .. } => {
                self.end(agent, end);
                if outcome == (ExitResult::Waits { resumed: true }) {
                    self.task.ok("respawn", &[]);
                }
            }
            SearchStep::Respawn => drop(self.task.ok("respawn", &[])),
            SearchStep::Retry { .. } => drop(self.task.ok("update", &["--retry-hooks"])),
            SearchStep::Failure { .. } => panic!("no hook of these workflows stops the others"),
        }
    }

    /// Writes a section as an agent does, at the end. Its last line tells it from all that was there before.
    fn write(&self, wrote: Option<Wrote>) {
        let Some(wrote) = wrote else { return };
        let section = self.search.sections.get(usize::from(wrote.section));
        let text = section.contents[usize::from(wrote.content)].text.as_deref().unwrap_or_default();
        let mark =
            if text.is_empty() { String::new() } else { format!("\nWritten in step {}.", self.story.len()) };
        self.task.write(&format!("{}\n{text}{mark}", section.heading));
    }

    /// Changes the work, as an agent does.
    fn commit(&self) {
        let (worktree, file) = (self.task.worktree(), format!("step-{}", self.story.len()));
        fs::write(worktree.join(&file), "done\n").unwrap();
        self.world.git(&worktree, &["add", &file]);
        self.world.git(&worktree, &["commit", "--quiet", "--message", &file]);
    }

    fn request(&self, to: &str, by: Actor) {
        let mut command = self.world.command(self.world.program);
        command.current_dir(self.world.repo());
        if let Some((spawn, _)) = self.agents().into_iter().find(|(_, actor)| *actor == by) {
            command.current_dir(self.task.worktree());
            command.env("ORANGE_TASK", &self.task.id).env("ORANGE_ACTOR", by.kind());
            command.env("ORANGE_SPAWN", spawn.to_string());
            command.envs(self.task.secret(&spawn.to_string()).map(|secret| ("ORANGE_SECRET", secret)));
        }
        let said = self.world.said(command.args(["--json", "task", "update", &self.task.id, "--status", to]));
        // Who asks as an agent ends with that agent, if it comes to that.
        assert!([0, -1].contains(&said.status), "{said:?}\n{:#?}", self.story);
        self.task.reaches(to);
    }

    /// Ends an agent, as a rule says or as nobody expects, and waits until what follows has been done.
    fn end(&self, agent: Actor, rule: Option<RuleIndex>) {
        let (spawn, _) = self.agents().into_iter().find(|(_, actor)| *actor == agent).unwrap();
        let exits = self.task.events_of("agent.exited").len();
        let process = self.task.agent(spawn).begun();
        match rule {
            None => kill(process),
            Some(_) => {
                let example = ends::example(self.search.machine, rule);
                let end = example.end();
                let last = match (end.code, end.signal) {
                    (_, Some(signal)) => format!("kill -{signal} $$"),
                    (code, None) => format!("exit {}", code.unwrap_or(1)),
                };
                self.task.agent(spawn).tell(&format!("echo '{}'\n{last}\n", end.output));
            }
        }
        self.task.has_events(exits + 1, "agent.exited");
    }

    /// The agents that are alive by the journal: spawn and actor.
    fn agents(&self) -> Vec<(u32, Actor)> {
        let number = |event: &serde_json::Value| event["spawn"].as_u64().unwrap() as u32;
        let mut agents: BTreeMap<u32, Actor> = BTreeMap::new();
        for event in self.task.events() {
            match event["type"].as_str().unwrap() {
                "agent.spawned" | "agent.respawned" => {
                    let actor = Actor::built_in(event["actor"].as_str().unwrap()).unwrap();
                    agents.insert(number(&event), actor);
                }
                "agent.exited" => drop(agents.remove(&number(&event))),
                _ => {}
            }
        }
        agents.into_iter().collect()
    }

    fn compare(&self, at: ConfigurationId) {
        let (abstract_task, real) = (self.expected(at), self.seen());
        assert_eq!(real, abstract_task, "a real task (left) and the search's: {:#?}", self.story);
        for (spawn, _) in self.agents() {
            let agent = self.task.agent(spawn).begun();
            assert!(is_alive(agent), "agent {spawn} is dead: {:#?}", self.story);
        }
        let session = format!("{PROJECT}/fix ");
        let panes = || self.world.panes().iter().filter(|pane| pane.starts_with(&session)).count();
        self.world.until("each agent has its pane", || panes() == real.alive.len());
    }

    fn expected(&self, at: ConfigurationId) -> VisibleTask {
        let Self { search, .. } = self;
        let (machine, task) = (search.machine, search.task(at));
        let followed = (0u16..).map(orange_core::CounterId).zip(machine.counters);
        let followed = followed.filter(|(id, _)| search.counters.slot(*id).is_some());
        let requests = search.edges_from(at).iter().filter(|edge| edge.step.wrote().is_none());
        let open = requests.filter_map(|edge| match edge.step {
            SearchStep::Request { transition, .. } => Some(machine.transition(transition)),
            SearchStep::Start
            | SearchStep::Write(_)
            | SearchStep::Commit(_)
            | SearchStep::EndWhileWaiting(_)
            | SearchStep::Exit { .. }
            | SearchStep::Failure { .. }
            | SearchStep::Retry { .. }
            | SearchStep::Respawn => None,
        });
        let mut open: Vec<_> = open
            .filter(|it| it.by.allows(Actor::Human))
            .map(|it| machine.state(it.to).name.to_owned())
            .collect();
        open.sort();
        let agents = [Actor::Worker, Actor::Reviewer].into_iter();
        VisibleTask {
            status: machine.state(task.status).name.to_owned(),
            counters: followed.map(|(id, it)| (it.name.to_owned(), search.value(task, id))).collect(),
            has_worktree: task.has_worktree(),
            has_session: task.session,
            alive: agents.filter(|it| task.agent(*it) == Agent::Live).map(Actor::kind).collect(),
            open,
            failed: self.failing.clone(),
        }
    }

    fn seen(&self) -> VisibleTask {
        let machine = self.search.machine;
        let followed = (0u16..).map(orange_core::CounterId).zip(machine.counters);
        let counters = followed.filter_map(|(id, it)| {
            let ceiling = self.search.counters.ceiling(id)?;
            let value = self.task.owned(it.name).as_u64().unwrap_or_default() as u32;
            Some((it.name.to_owned(), value.min(ceiling)))
        });
        let next = self.task.ok("next", &[]);
        let choices = next.as_array().unwrap().iter().filter(|it| it["allowed"] == true);
        let mut open: Vec<_> = choices.map(|it| it["to"].as_str().unwrap().to_owned()).collect();
        open.sort();
        let mut alive: Vec<_> = self.agents().into_iter().map(|(_, actor)| actor).collect();
        alive.sort();
        let events = self.task.events();
        let failed =
            events[self.before..].iter().filter(|it| it["type"] == "hook.ended" && it["error"].is_string());
        VisibleTask {
            status: self.task.status(),
            counters: counters.collect(),
            has_worktree: self.task.owned("workspace").as_str().is_some_and(|name| name != self.task.id),
            has_session: !self.task.owned("tmux_session").is_null(),
            alive: alive.into_iter().map(Actor::kind).collect(),
            open,
            failed: failed.map(|it| it["hook"].as_str().unwrap().to_owned()).collect(),
        }
    }
}
