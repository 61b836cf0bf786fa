//! Real crabs with real git and scripted agents, while they and their gateway are killed and stopped: no worktree ever has two agents.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::Result;
use crate::audit::{StoreContents, audit};
use crate::dice::Dice;
use crate::ledger::{AcknowledgedRun, MissionScript, Notes};
use crate::process::FleetProcess;
use crate::store::StoreKind;
use crate::table::{PartRow, say};
use crate::world::{PATIENCE, World};

/// Duration of a lease.
const LEASE: Duration = Duration::from_secs(3);

const CRABS: [&str; 2] = ["atlas", "sage"];

/// Number of missions that they run.
const MISSIONS: usize = 4;

/// An agent holds the lock of its worktree for as long as it lives, commits, and reports. What it starts does not hold it.
const AGENT: &str = r#"
name=$(pwd | tr / _)
exec 9>"LOCKS/$name"
if ! flock -n 9; then echo "$PWD: $ORANGE_MISSION $ORANGE_STEP $ORANGE_ATTEMPT" >>LOCKS/broken; fi
echo x >>LOCKS/agents
sleep 0.3 9>&-
echo "$ORANGE_STEP" >>work.txt
git add work.txt 9>&-
git commit --quiet --message "$ORANGE_STEP" 9>&-
orange step complete --result PASS --summary "$ORANGE_STEP is done" 9>&- >>"$notes.answers" 2>&1
exec sleep 1000000
"#;

/// A fault, as a function that does it to a fleet.
type Strike = fn(&mut AgentFleet, &mut Dice) -> Result<()>;

/// Faults of the crabs and the gateway, in an order that the seed decides.
const FAULTS: [(&str, Strike); 5] = [
    ("kill -9 of a crab with an agent", kill_crab),
    ("a crab stands still for three leases, and its agent works on", stop_crab),
    ("kill -9 of the gateway", kill_gateway),
    ("the gateway stands still for three leases", stop_gateway),
    ("kill -9 of the gateway and every crab", kill_all),
];

struct AgentFleet {
    // The crabs end before the folder goes.
    crabs: Vec<FleetProcess>,
    world: World,
    root: tempfile::TempDir,
}

/// Runs some missions with two crabs. Gives what came of it.
pub(crate) fn run(kind: &StoreKind, program: &Path, orange: &Path, seed: u64) -> Result<PartRow> {
    let missing = ["tmux", "git", "flock"].iter().find(|it| !is_there(it));
    if let Some(missing) = missing {
        say(&format!("SKIPPED: real crabs on {}: there is no `{missing}` on this machine", kind.name));
        return Ok(PartRow::new(
            &format!("{}, real crabs: SKIPPED", kind.name),
            0,
            &Notes::default(),
            &Default::default(),
        ));
    }
    let mut dice = Dice::new(seed, &format!("{} agents", kind.name));
    let mut fleet = AgentFleet::start(kind, program, orange, &dice)?;
    let mut stuck = None;
    let mut faults = FAULTS.to_vec();
    let mut count = 0;
    for number in 0..MISSIONS {
        fleet.start_mission(number)?;
    }
    while !faults.is_empty() && stuck.is_none() {
        let (name, strike) =
            faults.swap_remove(usize::try_from(dice.below(faults.len() as u64)).unwrap_or_default());
        count += 1;
        let agents = fleet.agents();
        let struck = strike(&mut fleet, &mut dice).and_then(|()| fleet.until_works(agents));
        match struck {
            Ok(()) => say(&format!("{}, real crabs: {name}: goes on", kind.name)),
            Err(why) => stuck = Some(format!("{name}: {why}")),
        }
    }
    fleet.world.until_all_end();
    let found = fleet.world.read();
    fleet.world.is_over.store(true, Ordering::Relaxed);
    fleet.end();
    let mut notes = fleet.world.ledger.notes();
    let mut row = match found {
        Ok(found) => {
            take_reports(&mut notes, &found);
            let mut row = PartRow::new(
                &format!("{}, {} real crabs", kind.name, CRABS.len()),
                count,
                &notes,
                &fleet.world.counts,
            );
            row.found(&found, audit(&notes, &found));
            row.broken.extend(fleet.look(&notes, &found));
            row
        }
        Err(why) => {
            let mut row =
                PartRow::new(&format!("{}, real crabs", kind.name), count, &notes, &fleet.world.counts);
            row.broken.push(why);
            row
        }
    };
    row.broken.splice(0..0, stuck);
    if !row.broken.is_empty() {
        row.broken
            .push(fleet.world.logs() + &fleet.crabs.iter().map(FleetProcess::logged).collect::<String>());
    }
    drop(notes);
    Ok(row)
}

/// Real crabs keep no ledger: what the records have counts as acknowledged, and is then held against the branches.
fn take_reports(notes: &mut Notes, found: &StoreContents) {
    for record in found.records.iter().filter(|it| it.kind == "run.completed") {
        let word = |key: &str| record.data[key].as_str().unwrap_or_default().to_owned();
        let mission = record.mission.as_deref().unwrap_or_default();
        let run = format!("{mission}.{}.{}", word("step"), record.data["attempt"]);
        notes
            .completions
            .entry(run)
            .or_default()
            .push(AcknowledgedRun { crab: word("crab"), summary: word("summary") });
    }
}

impl AgentFleet {
    fn start(kind: &StoreKind, program: &Path, orange: &Path, dice: &Dice) -> Result<AgentFleet> {
        let root = tempfile::Builder::new().prefix("orange-torture-").tempdir_in("/tmp").map_err(cause)?;
        furnish(root.path()).map_err(cause)?;
        let repository = root.path().join("toy.git");
        let world = World::start(kind, program, LEASE, dice, Some(&repository))?;
        fs::write(root.path().join("token"), world.direct.token.as_bytes()).map_err(cause)?;
        let mut crabs: Vec<_> = CRABS
            .iter()
            .map(|name| crab(name, root.path(), &world, program, orange))
            .collect::<Result<_>>()?;
        crabs.iter_mut().try_for_each(FleetProcess::start)?;
        Ok(AgentFleet { crabs, world, root })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn start_mission(&self, number: usize) -> Result<()> {
        let key = format!("pair-{number}");
        let (colony, branch) = (&self.world.colony, format!("pair/{number}"));
        let body = json!({"colony_id": colony, "workflow": "pair", "prompt": "Work", "branch": branch});
        let made = self.world.direct.ask("POST", "/v1/missions", Some(&key), Some(&body));
        let made = made.filter(|it| it.is_success()).ok_or("a mission is refused")?;
        self.world.ledger.made(&key, made.word("mission_id"), MissionScript::Pair);
        Ok(())
    }

    /// Number of agents that have begun.
    fn agents(&self) -> usize {
        fs::read_to_string(self.path("locks/agents")).unwrap_or_default().lines().count()
    }

    fn has_ended(&self) -> bool {
        let status =
            self.world.direct.ask("GET", "/v1/status", None, None).map(|it| it.body).unwrap_or_default();
        status["missions"]["completed"].as_u64() == Some(MISSIONS as u64)
    }

    /// Waits until one more agent has begun, or everything has ended.
    fn until_works(&self, agents: usize) -> Result<()> {
        let begin = Instant::now();
        while self.agents() <= agents && !self.has_ended() {
            if begin.elapsed() > PATIENCE {
                return Err(format!("no agent begins any more, {} s after it", PATIENCE.as_secs()));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn some_crab(&mut self, dice: &mut Dice) -> &mut FleetProcess {
        let number = usize::try_from(dice.below(self.crabs.len() as u64)).unwrap_or_default();
        &mut self.crabs[number]
    }

    /// Problems of worktrees and branches.
    fn look(&self, notes: &Notes, found: &StoreContents) -> Vec<String> {
        let mut broken: Vec<String> = fs::read_to_string(self.path("locks/broken"))
            .unwrap_or_default()
            .lines()
            .map(|it| format!("two agents in one worktree: {it}"))
            .collect();
        let branches =
            notes.creations.iter().filter_map(|(key, mission)| Some((key.strip_prefix("pair-")?, mission)));
        for (number, mission) in branches {
            let branch = format!("pair/{number}");
            for record in found
                .records
                .iter()
                .filter(|it| it.kind == "run.completed" && it.mission.as_ref() == Some(mission))
            {
                let Some(commit) = record.data["commit"].as_str() else {
                    broken.push(format!(
                        "mission {mission}: a completed attempt has no commit: {}",
                        record.data
                    ));
                    continue;
                };
                if !self.git(&["merge-base", "--is-ancestor", commit, &branch]).0 {
                    broken.push(format!("mission {mission}: {commit} was accepted, and is not on {branch}"));
                }
            }
            let work = self.git(&["show", &format!("{branch}:work.txt")]).1;
            let steps: Vec<&str> = work.lines().collect();
            if !steps.starts_with(&["first"]) || !steps.ends_with(&["second"]) {
                broken.push(format!("mission {mission}: {branch} has the work of {steps:?}"));
            }
        }
        broken
    }

    fn git(&self, words: &[&str]) -> (bool, String) {
        let output = Command::new("git").args(words).current_dir(self.path("toy.git")).output();
        output.map_or((false, String::new()), |it| {
            (it.status.success(), String::from_utf8_lossy(&it.stdout).into_owned())
        })
    }

    /// Ends everything, with the tmux servers of the crabs.
    fn end(&mut self) {
        self.crabs.iter_mut().for_each(FleetProcess::kill);
        for name in CRABS {
            let socket = self.path(name).join("tmux");
            // There may be no server.
            Command::new("tmux")
                .arg("-S")
                .arg(socket)
                .arg("kill-server")
                .output()
                .map(drop)
                .unwrap_or_default();
        }
    }
}

impl Drop for AgentFleet {
    fn drop(&mut self) {
        self.end();
    }
}

fn kill_crab(fleet: &mut AgentFleet, dice: &mut Dice) -> Result<()> {
    let crab = fleet.some_crab(dice);
    crab.kill();
    thread::sleep(dice.time(LEASE * 2));
    crab.start()
}

fn stop_crab(fleet: &mut AgentFleet, dice: &mut Dice) -> Result<()> {
    let crab = fleet.some_crab(dice);
    crab.stop();
    thread::sleep(LEASE * 3);
    crab.go_on();
    Ok(())
}

fn kill_gateway(fleet: &mut AgentFleet, dice: &mut Dice) -> Result<()> {
    fleet.world.gateways[0].kill();
    thread::sleep(dice.time(LEASE));
    fleet.world.gateways[0].start()
}

fn stop_gateway(fleet: &mut AgentFleet, _: &mut Dice) -> Result<()> {
    fleet.world.gateways[0].stop();
    thread::sleep(LEASE * 3);
    fleet.world.gateways[0].go_on();
    Ok(())
}

fn kill_all(fleet: &mut AgentFleet, dice: &mut Dice) -> Result<()> {
    fleet.world.gateways.iter_mut().chain(&mut fleet.crabs).for_each(FleetProcess::kill);
    thread::sleep(dice.time(LEASE));
    fleet.world.gateways.iter_mut().chain(&mut fleet.crabs).try_for_each(FleetProcess::start)
}

fn crab(name: &str, root: &Path, world: &World, program: &Path, orange: &Path) -> Result<FleetProcess> {
    let home = root.join(name);
    let scripts = home.join("orange/agents");
    fs::create_dir_all(&scripts).map_err(cause)?;
    let script = AGENT.replace("LOCKS", &root.join("locks").display().to_string());
    for step in ["first", "second"] {
        fs::write(scripts.join(format!("{step}.sh")), &script).map_err(cause)?;
    }
    let words = [
        "crab",
        "--colony",
        "toy",
        "--role",
        "any",
        "--agree",
        "--look",
        "1",
        "--fault-pause",
        "1",
        "--name",
        name,
    ];
    let mut words: Vec<String> = words.map(str::to_owned).into();
    let place = |path: &Path| path.display().to_string();
    for (option, value) in [
        ("--gateway", world.direct.addresses.join(",")),
        ("--token-file", place(&root.join("token"))),
        ("--dir", place(&home)),
        ("--orange", place(orange)),
    ] {
        words.extend([option.to_owned(), value]);
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let environment = [
        ("PATH", format!("{}:{path}", place(&root.join("agents")))),
        ("HOME", place(&root.join("home"))),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        // The torture may run as root, and claude takes that from a container alone.
        ("IS_SANDBOX", "1".to_owned()),
        ("LC_ALL", "C.UTF-8".to_owned()),
    ];
    let environment = environment.map(|(name, value)| (name.to_owned(), value)).into();
    Ok(FleetProcess::new(name, program, words, root.join(format!("{name}.log"))).with(environment))
}

/// A home whose user has answered what claude asks at its first start, a scripted agent, and a bare origin with one commit.
fn furnish(root: &Path) -> std::io::Result<()> {
    for folder in ["home/.claude", "agents", "seed", "locks"] {
        fs::create_dir_all(root.join(folder))?;
    }
    let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agents");
    symlink(agents.join("claude"), root.join("agents/claude"))?;
    let settings = "[user]\n\tname = Toy Maker\n\temail = toy@example.org\n[init]\n\tdefaultBranch = main\n";
    fs::write(root.join("home/.gitconfig"), settings)?;
    fs::write(root.join("home/.claude.json"), "{\"hasCompletedOnboarding\": true}")?;
    fs::write(root.join("home/.claude/settings.json"), "{\"skipDangerousModePermissionPrompt\": true}")?;
    let git = |folder: &str, words: &[&str]| {
        let mut command = Command::new("git");
        let output =
            command.args(words).current_dir(root.join(folder)).env("HOME", root.join("home")).output()?;
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(std::io::Error::other(why)) }
    };
    git(".", &["init", "--quiet", "--bare", "toy.git"])?;
    git("seed", &["init", "--quiet"])?;
    git("seed", &["commit", "--quiet", "--allow-empty", "--message", "Begin"])?;
    git("seed", &["push", "--quiet", "../toy.git", "main"])
}

fn is_there(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|it| it.join(program).is_file())
}

fn cause(error: std::io::Error) -> String {
    error.to_string()
}
