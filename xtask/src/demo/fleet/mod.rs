//! `cargo xtask demo --fleet`: a gateway and three crabs, two missions at once, while a crab and the gateway are killed.

mod processes;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use self::processes::Processes;
use super::page::DemoPage;
use super::{AGENT, built};
use crate::Result;
use crate::scratch::ScratchHome;
use crate::workspace::OwnRepository;

/// The time limit for one step.
const PATIENCE: Duration = Duration::from_secs(180);

/// The branch whose first review fails, and the branch whose worker is killed.
const BRANCHES: [&str; 2] = ["add/form", "add/theme"];

/// Script of the reviewer's agent: it waits on the first branch until the gateway has been killed, and fails that branch once.
const REVIEW: &str = "\
if [ \"$(git branch --show-current)\" = add/form ] && ! [ -e tests.txt ]; then
  touch GO/reviewing; until [ -e GO/review ]; do sleep 0.05; done
  touch GO/reviewed; complete FAIL 'The form has no tests'
else complete PASS 'It is good'; fi
";

/// Script of the worker's agent: on the second branch it waits until its crab has been killed.
const IMPLEMENT: &str = "\
if [ \"$(git branch --show-current)\" = add/theme ]; then
  touch GO/implementing; until [ -e GO/implement ]; do sleep 0.05; done
fi
commit; complete PASS 'It is written'
";

/// Script of the worker's agent after a failed review. It commits nothing: its crab does.
const FIX: &str = "echo 'one test' >tests.txt; complete PASS 'The test is there'\n";

/// The fleet of the demo.
struct DemoFleet<'s> {
    scratch: &'s ScratchHome,
    page: &'s DemoPage,
    processes: Processes<'s>,
    /// The missions with their branches, in the order in which they were started.
    missions: Vec<(String, &'static str)>,
    /// Last printed state of each run.
    shown: BTreeMap<String, String>,
    crabs: BTreeMap<String, String>,
}

/// Plays the scene, and stops with the reason when it ends differently.
pub(super) fn run(workspace: &OwnRepository) -> Result<ExitCode> {
    let page = DemoPage::new();
    let (orange, fleet) = (built(workspace, "orange")?, built(workspace, "orange-fleet")?);
    let scratch = ScratchHome::empty(&orange, AGENT)?;
    page.text(
        "A scratch folder, a bare origin, a gateway, three crabs with a home and a tmux server each, and a script that is \
         called `claude`. Everything else is the real thing.",
    );
    let played = DemoFleet::new(&scratch, &page, &fleet).and_then(|mut fleet| {
        let played = fleet.play();
        fleet.processes.end();
        played.map_err(|reason| format!("{reason}{}", fleet.processes.logs()))
    });
    played?;
    scratch.remove()?;
    page.text("The scratch folder is removed. Everything came out as this text says.");
    Ok(ExitCode::SUCCESS)
}

impl<'s> DemoFleet<'s> {
    fn new(scratch: &'s ScratchHome, page: &'s DemoPage, program: &Path) -> Result<DemoFleet<'s>> {
        let processes = Processes::new(scratch, program)?;
        let (missions, shown, crabs) = Default::default();
        Ok(DemoFleet { scratch, page, processes, missions, shown, crabs })
    }

    fn play(&mut self) -> Result<()> {
        self.begin()?;
        self.page.heading("Two missions at once");
        for branch in BRANCHES {
            self.start(branch)?;
        }
        self.kill_a_crab()?;
        self.kill_the_gateway()?;
        self.page.heading("Both missions come out");
        self.until("both missions are complete", |fleet| fleet.are_complete())?;
        self.compare()
    }

    fn begin(&mut self) -> Result<()> {
        self.page.heading("A gateway, a colony and three crabs");
        self.page.command("orange-fleet serve");
        self.processes.serve()?;
        self.page.command("orange-fleet colony create toy --repository toy.git");
        let repository = self.scratch.path("toy.git").display().to_string();
        self.processes.ask(&["colony", "create", "toy", "--repository", &repository])?;
        self.processes.make_token()?;
        let folder = self.go("");
        fs::create_dir_all(&folder)
            .map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
        let go = folder.display().to_string();
        for (crab, step, script) in
            [("worker", "implement", IMPLEMENT), ("worker", "fix", FIX), ("reviewer", "review", REVIEW)]
        {
            self.processes.acts(crab, step, &script.replace("GO", go.trim_end_matches('/')))?;
        }
        for crab in ["planner", "worker", "reviewer"] {
            self.page.command(&format!("orange-fleet crab --colony toy --role {crab} --name {crab} --agree"));
            self.processes.crab(crab)?;
        }
        self.until("three crabs are registered", |fleet| {
            let listed = fleet.processes.ask(&["colony", "crabs", "toy"])?;
            let crabs = listed["crabs"].as_array().cloned().unwrap_or_default();
            let word = |crab: &Value, key: &str| crab[key].as_str().unwrap_or_default().to_owned();
            fleet.crabs = crabs.iter().map(|it| (word(it, "crab_id"), word(it, "name"))).collect();
            Ok(fleet.crabs.len() == 3)
        })
    }

    fn start(&mut self, branch: &'static str) -> Result<()> {
        let prompt = format!("Work on {branch}");
        self.page.command(&format!(
            "orange-fleet mission start dev-task \"{prompt}\" --colony toy --branch {branch}"
        ));
        let words = ["mission", "start", "dev-task", &prompt, "--colony", "toy", "--branch", branch];
        let started = self.processes.ask(&words)?;
        self.missions.push((started["mission_id"].as_str().unwrap_or_default().to_owned(), branch));
        Ok(())
    }

    fn kill_a_crab(&mut self) -> Result<()> {
        self.until_there("implementing")?;
        self.page.heading("The worker's crab is killed in the middle of a step");
        self.page.command("kill -9 CRAB");
        self.processes.kill("worker")?;
        self.page.text("Its agent goes on in tmux. The crab is started again, and takes the step up.");
        self.processes.crab("worker")?;
        self.let_go("implement")
    }

    fn kill_the_gateway(&mut self) -> Result<()> {
        self.until_there("reviewing")?;
        self.page.heading("The gateway is killed in the middle of a step");
        self.page.command("kill -9 GATEWAY");
        self.processes.kill("gateway")?;
        self.let_go("review")?;
        let reviewed = self.go("reviewed");
        self.wait("the reviewer has ended", |_| Ok(reviewed.exists()))?;
        self.page
            .text("The reviewer's agent has reported meanwhile, to its crab. The gateway is started again.");
        self.page.command("orange-fleet serve");
        self.processes.serve()
    }

    fn are_complete(&mut self) -> Result<bool> {
        for (mission, _) in &self.missions {
            let shown = self.processes.ask(&["mission", "show", mission])?;
            match shown["status"].as_str() {
                Some("completed") => {}
                Some("failed" | "cancelled" | "paused") => {
                    return Err(format!("a mission is not complete: {shown}"));
                }
                Some(_) | None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Compares what was run with what should have been.
    fn compare(&self) -> Result<()> {
        self.page.heading("What is on the branches");
        let expected =
            ["plan.1, implement.1, review.1, fix.1, review.2, pr.1", "plan.1, implement.1, review.1, pr.1"];
        for ((mission, branch), expected) in self.missions.iter().zip(expected) {
            let runs = self.processes.ask(&["mission", "runs", mission])?;
            let runs = runs["runs"].as_array().into_iter().flatten();
            let ran = runs.filter_map(|it| Some(it["run_id"].as_str()?.split_once('.')?.1.to_owned()));
            let ran = ran.collect::<Vec<_>>().join(", ");
            self.page.text(&format!("{branch}: {ran}."));
            if ran != expected {
                return Err(format!("{branch} took {ran}, and not {expected}"));
            }
            self.page.command(&format!("git -C toy.git log --format=%s {branch}"));
            self.processes.log_of(branch)?.lines().for_each(|line| self.page.row(&format!("  {line}")));
        }
        let agents = self.processes.agents();
        self.page.text(&format!("{agents} agents were started for 10 attempts."));
        if agents == 10 { Ok(()) } else { Err(format!("{agents} agents were started, and not 10")) }
    }

    /// Prints what has become of each run since it was last printed.
    fn tell(&mut self) -> Result<()> {
        for (mission, branch) in self.missions.clone() {
            let runs = self.processes.ask(&["mission", "runs", &mission])?;
            for run in runs["runs"].as_array().into_iter().flatten() {
                let word = |key: &str| run[key].as_str().unwrap_or_default();
                let is_new = self.shown.get(word("run_id")).is_none_or(|it| it != word("status"));
                if is_new && ["running", "completed", "failed", "lost", "abandoned"].contains(&word("status"))
                {
                    let name = word("run_id").split_once('.').map_or("", |it| it.1);
                    let crab = self.crabs.get(word("crab_id")).map_or("", String::as_str);
                    let said = [word("result"), word("summary")].join(" ");
                    let who =
                        format!("{branch}, on {crab} {}", if said.trim().is_empty() { "" } else { &said });
                    self.page.step(&format!("{} {name}", word("status")), who.trim_end());
                    self.shown.insert(word("run_id").to_owned(), word("status").to_owned());
                }
            }
        }
        Ok(())
    }

    fn until_there(&mut self, name: &str) -> Result<()> {
        let file = self.go(name);
        self.until(&format!("an agent is at `{name}`"), |_| Ok(file.exists()))
    }

    fn let_go(&self, name: &str) -> Result<()> {
        let file = self.go(name);
        fs::write(&file, "").map_err(|error| format!("{} cannot be written: {error}", file.display()))
    }

    /// A file by which an agent and this demo wait for each other.
    fn go(&self, name: &str) -> PathBuf {
        self.scratch.path("go").join(name)
    }

    /// Prints what happens until this holds.
    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut DemoFleet<'s>) -> Result<bool>) -> Result<()> {
        self.wait(what, |fleet| {
            let is_so = holds(fleet)?;
            fleet.tell()?;
            Ok(is_so)
        })
    }

    fn wait(&mut self, what: &str, mut holds: impl FnMut(&mut DemoFleet<'s>) -> Result<bool>) -> Result<()> {
        let start = Instant::now();
        while !holds(self)? {
            if start.elapsed() >= PATIENCE {
                return Err(format!("waited {} s in vain until {what}", PATIENCE.as_secs()));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}
