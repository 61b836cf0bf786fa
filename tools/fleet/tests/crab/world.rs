//! A world of its own for each test: a bare origin, a scripted agent, and crabs with homes of their own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;

pub(crate) use orange_testkit::{PATIENCE, until};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::gateway::ScriptedGateway;

/// Everything that one test touches. It goes away with its end.
pub(crate) struct World {
    root: TempDir,
    /// The scripted gateway.
    pub(crate) gateway: ScriptedGateway,
    /// The address and the colony of another gateway.
    other: Option<(String, String)>,
}

/// A crab of a world, as a process.
pub(crate) struct TestCrab<'w> {
    world: &'w World,
    name: String,
    more: Vec<String>,
    child: Option<Child>,
}

impl World {
    /// A world with a repository that has one commit.
    pub(crate) fn new() -> World {
        // A socket's path is short, and a temporary folder may be far down.
        let root = tempfile::Builder::new().prefix("orange-crab-").tempdir_in("/tmp").unwrap();
        let world = World { root, gateway: ScriptedGateway::start(), other: None };
        for folder in ["home/.claude", "agents", "seed"] {
            fs::create_dir_all(world.path(folder)).unwrap();
        }
        let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agents");
        symlink(agents.join("claude"), world.path("agents/claude")).unwrap();
        let settings =
            "[user]\n\tname = Toy Maker\n\temail = toy@example.org\n[init]\n\tdefaultBranch = main\n";
        fs::write(world.path("home/.gitconfig"), settings).unwrap();
        // The user of this home has answered what claude asks at its first start; crabs agree to the rest.
        fs::write(world.path("home/.claude.json"), "{\"hasCompletedOnboarding\": true}").unwrap();
        let settings = json!({ "skipDangerousModePermissionPrompt": true });
        fs::write(world.path("home/.claude/settings.json"), settings.to_string()).unwrap();
        fs::write(world.path("token"), "secret\n").unwrap();
        world.git(".", &["init", "--quiet", "--bare", "toy.git"]);
        world.git("seed", &["init", "--quiet"]);
        fs::write(world.path("seed/README.md"), "A toy.\n").unwrap();
        world.git("seed", &["add", "."]);
        world.git("seed", &["commit", "--quiet", "--message", "Begin"]);
        world.git("seed", &["push", "--quiet", "../toy.git", "main"]);
        world
    }

    /// A place in this world.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A program with this world's environment and nothing else.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [self.path("agents")].into_iter().chain(std::env::split_paths(&path));
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // The tests may run as root, and claude takes that from a container alone.
            .env("IS_SANDBOX", "1")
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.root.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs git, which must succeed, and gives what it writes.
    #[track_caller]
    pub(crate) fn git(&self, folder: &str, args: &[&str]) -> String {
        let output = self.command("git").args(args).current_dir(self.path(folder)).output().unwrap();
        assert!(output.status.success(), "git {args:?} in {folder}: {}", text(&output.stderr));
        text(&output.stdout).trim_end().to_owned()
    }

    /// The commit of a ref of the origin.
    pub(crate) fn origin(&self, name: &str) -> Option<String> {
        let mut command = self.command("git");
        command.args(["rev-parse", "--quiet", "--verify", name]).current_dir(self.path("toy.git"));
        let output = command.output().unwrap();
        output.status.success().then(|| text(&output.stdout).trim().to_owned())
    }

    /// A file of a branch of the origin.
    pub(crate) fn origin_file(&self, branch: &str, file: &str) -> Option<String> {
        let mut command = self.command("git");
        command.args(["show", &format!("{branch}:{file}")]).current_dir(self.path("toy.git"));
        let output = command.output().unwrap();
        output.status.success().then(|| text(&output.stdout))
    }

    /// Commits a file on a branch of the origin, as somebody else.
    pub(crate) fn push_as_another(&self, branch: &str, file: &str) {
        self.git("seed", &["fetch", "--quiet", "../toy.git", "+refs/heads/*:refs/remotes/toy/*"]);
        let known = self.origin(branch).is_some();
        let start = if known { format!("refs/remotes/toy/{branch}") } else { "main".to_owned() };
        self.git("seed", &["switch", "--quiet", "--detach", &start]);
        fs::write(self.path("seed").join(file), "by another\n").unwrap();
        self.git("seed", &["add", "."]);
        self.git("seed", &["commit", "--quiet", "--message", "Another"]);
        self.git("seed", &["push", "--quiet", "../toy.git", &format!("HEAD:refs/heads/{branch}")]);
    }

    /// An attempt at a step of the mission `m`, on the branch `m/one`.
    pub(crate) fn attempt(&self, step: &str, attempt: u32) -> Value {
        json!({
            "type": "TaskAssigned", "run_id": format!("m.{step}.{attempt}"), "mission_id": "m", "colony_id": "c",
            "step_id": step, "title": step, "status": "assigned", "attempt": attempt, "role": "worker", "prompt": "In @WORKTREE@: {{step}} it", "worktree_token": "@WORKTREE@",
            "context": "", "branch": "m/one", "repository": self.path("toy.git"), "base": null, "harness": null,
            "permissions": "full", "results": [], "needs_result": false, "timeout": null, "stuck_after": 2,
            "worktree_path": null,
        })
    }

    /// Starts a crab.
    pub(crate) fn crab(&self, name: &str, more: &[&str]) -> TestCrab<'_> {
        let more = more.iter().map(|it| (*it).to_owned()).collect();
        let mut crab = TestCrab { world: self, name: name.to_owned(), more, child: None };
        crab.start();
        crab
    }

    /// Has crabs and commands ask another gateway from now on, with the token in `token`.
    pub(crate) fn asks(&mut self, address: &str, colony: &str, token: &str) {
        fs::write(self.path("token"), token).unwrap();
        self.other = Some((address.to_owned(), colony.to_owned()));
    }

    /// Runs `orange-fleet`, with the gateway and the token in its environment.
    pub(crate) fn fleet(&self, args: &[&str]) -> Output {
        self.fleet_command(args).output().unwrap()
    }

    fn fleet_command(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_orange-fleet"));
        let address = self.other.as_ref().map_or_else(|| self.gateway.address(), |it| it.0.clone());
        command.args(args).env("ORANGE_FLEET_GATEWAY", address);
        command.arg("--token-file").arg(self.path("token"));
        command
    }

    fn end_processes(&self) {
        let mark = self.path("").display().to_string();
        let is_ours = |folder: &Path| {
            let environment = fs::read(folder.join("environ")).unwrap_or_default();
            text(&environment).contains(&mark)
        };
        for folder in fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()) {
            let pid = folder.file_name().and_then(|name| name.to_str()?.parse().ok());
            if let Some(pid) = pid.filter(|_| is_ours(&folder)) {
                kill(pid);
            }
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if thread::panicking() {
            for file in files_in(&self.path("crabs")).iter().filter(|it| is_instruction(it)) {
                eprintln!("--- {}\n{}", file.display(), fs::read_to_string(file).unwrap_or_default());
            }
        }
        self.end_processes();
    }
}

impl TestCrab<'_> {
    /// Starts its process.
    pub(crate) fn start(&mut self) {
        fs::create_dir_all(self.home()).unwrap();
        let log = self.home().join("crab.log");
        let log = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let home = self.home().display().to_string();
        let colony = self.world.other.as_ref().map_or("c", |it| it.1.as_str());
        let mut words = vec!["crab", "--colony", colony, "--agree", "--look", "1"];
        for (name, value) in [("--role", "worker"), ("--fault-pause", "1")] {
            if !self.more.iter().any(|it| it == name) {
                words.extend([name, value]);
            }
        }
        words.extend(["--name", &self.name, "--dir", &home]);
        words.extend(self.more.iter().map(String::as_str));
        let mut command = self.world.fleet_command(&words);
        command.arg("--orange").arg(orange()).stdout(Stdio::null()).stderr(log);
        self.child = Some(command.spawn().unwrap());
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Kills its process, as a power cut does. Its agents go on.
    pub(crate) fn kill(&mut self) {
        kill(self.pid());
        self.gone();
    }

    /// Waits until its process is gone, and gives its exit status.
    pub(crate) fn gone(&mut self) -> Option<i32> {
        self.child.take().unwrap().wait().unwrap().code()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.world.path("crabs").join(&self.name)
    }

    /// Sets the script of the scripted agent for a step on this crab.
    pub(crate) fn acts(&self, step: &str, script: &str) {
        let folder = self.home().join("orange/agents");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{step}.sh")), script).unwrap();
    }

    /// The answer of its own `orange`.
    #[track_caller]
    pub(crate) fn orange(&self, args: &[&str]) -> Value {
        let mut command = self.world.command(orange());
        command
            .env("ORANGE_HOME", self.home().join("orange"))
            .env("ORANGE_TMUX_SOCKET", self.home().join("tmux"));
        let output = command.arg("--json").args(args).output().unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{args:?}: {}", text(&output.stdout)))
    }

    /// The only mission of its home.
    #[track_caller]
    pub(crate) fn mission(&self) -> Value {
        let all = self.orange(&["mission", "list", "--all", "--all-projects"]);
        let [one] = &all.as_array().unwrap()[..] else { panic!("{all}") };
        self.orange(&["mission", "show", one["id"].as_str().unwrap()])
    }

    /// The notes of the agents that it has started, by their ending.
    pub(crate) fn notes(&self, ending: &str) -> Vec<String> {
        let files = files_in(&self.home().join("orange/agents"));
        let wanted = files.iter().filter(|it| it.extension().is_some_and(|it| it == ending));
        wanted.map(|it| fs::read_to_string(it).unwrap()).collect()
    }

    /// The refs of its clone below this one.
    pub(crate) fn refs(&self, below: &str) -> Vec<String> {
        let clones = fs::read_dir(self.home().join("repositories")).unwrap();
        let clone = clones.flatten().next().unwrap().path();
        let mut command = self.world.command("git");
        let listed =
            command.args(["for-each-ref", "--format=%(refname)", below]).current_dir(clone).output().unwrap();
        text(&listed.stdout).lines().map(str::to_owned).collect()
    }

    /// Waits until it has registered this often.
    #[track_caller]
    pub(crate) fn registers(&self, times: usize) {
        let log = || fs::read_to_string(self.home().join("crab.log")).unwrap_or_default();
        until("the crab has registered", || log().matches(": registered in ").count() >= times);
    }

    /// Waits until it has no job.
    #[track_caller]
    pub(crate) fn is_idle(&self) {
        until("the crab has no job", || !self.home().join("job.json").exists());
    }

    /// Waits until its agent has begun.
    #[track_caller]
    pub(crate) fn has_agent(&self) {
        until("an agent has begun", || !self.notes("pid").is_empty());
    }
}

impl Drop for TestCrab<'_> {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap_or_default();
            child.wait().map(drop).unwrap_or_default();
        }
    }
}

/// Kills a process, if it is there.
pub(crate) fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap_or_default();
}

/// The `orange` of this build; cargo tells the tests of its own package only where it is.
pub(crate) fn orange() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| orange_tests::programs::built(&["--package", "orange"]).join("orange"))
}

/// Bytes as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn is_instruction(file: &Path) -> bool {
    let ends = ["crab.log", "orange.log", "history.jsonl", "job.json", ".answers"];
    ends.iter().any(|end| file.to_string_lossy().ends_with(end))
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let is_folder = |path: &PathBuf| path.symlink_metadata().is_ok_and(|it| it.is_dir());
    paths.flat_map(|path| if is_folder(&path) { files_in(&path) } else { vec![path] }).collect()
}
