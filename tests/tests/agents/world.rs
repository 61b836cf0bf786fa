//! A world of its own for each life: a user's home, a repository with a bare origin, a tmux server, a model.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use orange_tests::harnesses;
use orange_tests::model::{Model, Plan, PlanReport};
use serde_json::Value;
use tempfile::TempDir;

use crate::suite::{LifeSuite, PATIENCE};
use crate::task::Task;

/// The name of the project.
pub(crate) const PROJECT: &str = "toy";

/// Folder of all worlds: no folder for temporary files of the agents' own. Codex may write to all of `/tmp` from its sandbox, and
/// has no sandbox at all for a home below it.
const OUTSIDE: &str = "/var/tmp";

/// Address of the model for agents in walls. Programs in a wall ask its proxy for every address but those by which they mean themselves.
const NOT_THEIR_OWN: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// True if every life has a wall around its agents.
fn all_walled() -> bool {
    std::env::var_os("ORANGE_AGENTS_WALL").is_some()
}

/// Everything that one life touches. It goes away with its end, whether that is good or bad.
pub(crate) struct World {
    root: TempDir,
    suite: &'static LifeSuite,
    /// The folder with `orange`.
    bin: PathBuf,
    pub(crate) model: Model,
    plans: std::cell::Cell<usize>,
}

impl World {
    /// A home in which somebody has logged in to every harness and done nothing else; a project that `orange` knows.
    pub(crate) fn fresh(suite: &'static LifeSuite) -> World {
        World::with(suite, &suite.bin, all_walled())
    }

    /// A home in which the person has agreed once to what agents need, and a wall around those of the project.
    pub(crate) fn walled(suite: &'static LifeSuite) -> World {
        let world = World::with(suite, &suite.bin, true);
        world.ok(&["setup", "--yes"]);
        world
    }

    /// Puts a wall around the agents of the project, with what they need of the model.
    fn build_walls(&self) {
        let address = self.model.url();
        let host = address.trim_start_matches("http://");
        let mut words =
            vec!["project", "update", PROJECT, "--sandbox-level", "wall", "--sandbox-hosts", host];
        let variables = harnesses::variables(&address);
        let own = variables.iter().map(|(name, _)| *name).filter(|name| !name.ends_with("_PROXY"));
        words.extend(own.flat_map(|name| ["--sandbox-env", name]));
        self.ok(&words);
    }

    /// A home in which the person has agreed once to what agents need, with `orange-mcp` beside `orange`.
    pub(crate) fn with_server(suite: &'static LifeSuite) -> World {
        let world = World::with(suite, &suite.bin_with_server, all_walled());
        world.ok(&["setup", "--yes"]);
        world
    }

    fn with(suite: &'static LifeSuite, bin: &Path, is_walled: bool) -> World {
        let model = if is_walled { NOT_THEIR_OWN } else { Ipv4Addr::LOCALHOST };
        let root = tempfile::Builder::new().prefix("orange-agents-").tempdir_in(OUTSIDE).unwrap();
        let model = Model::start_at(model, 0).unwrap();
        let world = World { root, suite, bin: bin.to_owned(), model, plans: std::cell::Cell::new(0) };
        for (file, text) in harnesses::files(&world.model.url()) {
            let file = world.path("home").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let settings =
            "[user]\n\tname = Toy Maker\n\temail = toy@example.org\n[init]\n\tdefaultBranch = main\n";
        fs::write(world.path("home/.gitconfig"), settings).unwrap();
        world.suite.user.owns(world.root.path());
        world.make_repository();
        world.ok(&["project", "add", "--name", PROJECT, "--pool-size", "4"]);
        if is_walled {
            world.build_walls();
        }
        world
    }

    /// A home in which the person has agreed once to what agents need.
    pub(crate) fn new(suite: &'static LifeSuite) -> World {
        let world = World::fresh(suite);
        // Otherwise each opencode looks for it in a registry that cannot be reached.
        for (file, text) in harnesses::opencode_package() {
            world.write(&format!("home/{file}"), &text);
        }
        world.ok(&["setup", "--yes"]);
        world
    }

    /// A home that is ready for several opencode at a time as `docs/agents.md` says: its package is installed beside
    /// its configuration, and each task has a database of its own.
    pub(crate) fn for_several(suite: &'static LifeSuite) -> World {
        let world = World::new(suite);
        world.write("orange/harnesses.toml", "[opencode]\nset = [\"OPENCODE_DB={task_dir}/opencode.db\"]\n");
        world
    }

    /// A place in this world.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// `ORANGE_HOME`.
    pub(crate) fn home(&self) -> PathBuf {
        self.path("orange")
    }

    /// The main checkout of the project.
    pub(crate) fn repo(&self) -> PathBuf {
        self.path(PROJECT)
    }

    /// A program as this world's user has it, in their checkout.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut path = vec![self.bin.clone(), self.suite.installed.programs()];
        path.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from));
        let node = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .find(|folder| folder.join("node").exists());
        path.extend(node);
        let path = std::env::join_paths(path).unwrap();
        // Not `Command::new(program)`: that looks for the program on the PATH of the tests.
        let mut command = Command::new("env");
        command
            .env_clear()
            .arg(program)
            .env("PATH", path)
            .env("HOME", self.path("home"))
            .env("USER", &self.suite.user.name)
            .env("LOGNAME", &self.suite.user.name)
            .env("SHELL", "/bin/bash")
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("ORANGE_HOME", self.home())
            .env("ORANGE_TMUX_SOCKET", self.path("tmux"))
            .envs(harnesses::variables(&self.model.url()))
            .current_dir(self.repo().parent().unwrap())
            .stdin(Stdio::null());
        self.suite.user.runs(&mut command);
        command
    }

    /// Runs `orange … --json`, which must succeed, and gives its answer.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> Value {
        let output = self.orange(args);
        let said = || format!("orange {args:?}: {}{}", text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{}", said());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said()))
    }

    fn orange(&self, args: &[&str]) -> Output {
        self.command("orange").arg("--json").args(args).current_dir(self.repo()).output().unwrap()
    }

    /// Runs `orange … --json`, which must refuse, and gives its exit status and error.
    #[track_caller]
    pub(crate) fn refused(&self, args: &[&str]) -> (i32, Value) {
        let output = self.orange(args);
        assert!(!output.status.success(), "orange {args:?}: {}", text(&output.stdout));
        let answer =
            [&output.stdout, &output.stderr].map(|bytes| serde_json::from_slice::<Value>(bytes).ok());
        let answer = answer.into_iter().flatten().next().unwrap_or_default();
        (output.status.code().unwrap_or(-1), answer["error"].clone())
    }

    /// Writes a file of this world's user.
    pub(crate) fn write(&self, name: &str, contents: &str) {
        let file = self.path(name);
        let folder = file.parent().unwrap();
        fs::create_dir_all(folder).unwrap();
        fs::write(&file, contents).unwrap();
        self.suite.user.owns(folder);
    }

    /// The tasks that there are.
    pub(crate) fn tasks(&self) -> Vec<Value> {
        let rows = self.ok(&["task", "list", "--all"]);
        rows.as_array().or_else(|| rows["tasks"].as_array()).cloned().unwrap_or_default()
    }

    /// The files in which harnesses keep conversations.
    pub(crate) fn conversations(&self) -> Vec<PathBuf> {
        let folders = [".claude/projects", ".codex/sessions", ".pi/agent/sessions"];
        let files = folders.iter().flat_map(|folder| files_in(&self.path("home").join(folder)));
        files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl")).collect()
    }

    /// Kills the processes of this spawn.
    pub(crate) fn kills_agent(&self, task: &str, spawn: u32) {
        for pid in self.agents_of(task, spawn) {
            drop(Command::new("kill").args(["-9", &pid.to_string()]).output());
        }
    }

    /// Runs git, which must succeed, and gives what it writes.
    #[track_caller]
    pub(crate) fn git(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.command("git").args(args).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", text(&output.stderr));
        text(&output.stdout).trim_end().to_owned()
    }

    /// Runs tmux on the server of this socket.
    pub(crate) fn tmux_at(&self, socket: &str, args: &[&str]) -> Output {
        self.command("tmux").arg("-S").arg(self.path(socket)).args(args).output().unwrap()
    }

    /// Runs tmux on the server of the agents.
    pub(crate) fn tmux(&self, args: &[&str]) -> Output {
        self.tmux_at("tmux", args)
    }

    /// Text on a pane.
    pub(crate) fn screen(&self, socket: &str, pane: &str) -> String {
        text(&self.tmux_at(socket, &["capture-pane", "-p", "-t", pane]).stdout)
    }

    /// Gives the model a plan.
    pub(crate) fn plan(&self, plan: Plan) -> usize {
        self.plans.set(self.plans.get() + 1);
        self.model.add(plan)
    }

    /// Report on the execution of a plan.
    pub(crate) fn report(&self, plan: usize) -> PlanReport {
        self.model.report(plan)
    }

    /// Creates a task, which starts.
    #[track_caller]
    pub(crate) fn create(&self, branch: &str, summary: &str, more: &[&str]) -> Task<'_> {
        let named = [branch, summary];
        let named = if summary.is_empty() { &named[..1] } else { &named };
        let words = [&["task", "create"], more, &["--"], named].concat();
        Task::new(self, self.ok(&words)["id"].as_str().unwrap())
    }

    /// Starts a mission.
    #[track_caller]
    pub(crate) fn start(&self, workflow: &str, prompt: &str, more: &[&str]) -> Task<'_> {
        let words = [&["mission", "start", workflow, prompt], more].concat();
        Task::mission(self, self.ok(&words)["id"].as_str().unwrap())
    }

    /// Waits until this holds.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, holds: impl FnMut() -> bool) {
        orange_testkit::until_within(PATIENCE, what, holds);
    }

    /// Waits until the model holds somebody at this gate.
    #[track_caller]
    pub(crate) fn until_held(&self, gate: &str) {
        self.until(&format!("an agent is at {gate}"), || self.model.is_reached(gate));
    }

    fn make_repository(&self) {
        let (origin, repo) = (self.path("toy.git"), self.repo());
        self.git(self.root.path(), &["init", "--quiet", "--bare", &origin.to_string_lossy()]);
        self.git(self.root.path(), &["init", "--quiet", PROJECT]);
        self.git(&repo, &["commit", "--quiet", "--allow-empty", "--message", "Begin"]);
        self.git(&repo, &["remote", "add", "origin", &origin.to_string_lossy()]);
        self.git(&repo, &["push", "--quiet", "--set-upstream", "origin", "main"]);
    }

    /// The processes of this world's user: whatever has this home in its environment.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let mark = format!("HOME={}", self.path("home").display());
        let is_ours = |folder: &Path| {
            let environment = fs::read(folder.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let folders = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let pid = |folder: PathBuf| folder.file_name()?.to_str()?.parse().ok().filter(|_| is_ours(&folder));
        folders.filter_map(pid).collect()
    }

    /// The processes of this spawn, without what the engine itself runs beside the agent.
    pub(crate) fn agents_of(&self, task: &str, spawn: u32) -> Vec<i32> {
        let marks = [format!("ORANGE_TASK={task}"), format!("ORANGE_SPAWN={spawn}")];
        let is_agent = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let has = |mark: &String| environment.split(|byte| *byte == 0).any(|it| it == mark.as_bytes());
            let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
            marks.iter().all(has) && !program.ends_with("orange")
        };
        self.processes().into_iter().filter(is_agent).collect()
    }

    /// Types a line into a pane, as a person does: the words, and Enter until they are heard. A terminal program takes keys that
    /// come in one burst for a paste, and Enter in it for a new line.
    pub(crate) fn types(&self, socket: &str, pane: &str, line: &str, are_heard: impl Fn() -> bool) {
        self.tmux_at(socket, &["send-keys", "-t", pane, "-l", line]);
        self.until("the line is on the screen", || self.screen(socket, pane).contains(line));
        self.until("the line is heard", || self.press(socket, pane, "Enter", &are_heard));
    }

    /// Presses a key and waits until this holds, for as long as a person would before pressing it again.
    fn press(&self, socket: &str, pane: &str, key: &str, holds: &dyn Fn() -> bool) -> bool {
        let pressed = Instant::now();
        self.tmux_at(socket, &["send-keys", "-t", pane, key]);
        while !holds() && pressed.elapsed() < Duration::from_secs(2) {
            thread::sleep(Duration::from_millis(20));
        }
        holds()
    }

    /// A person starts this harness in their own checkout, in a terminal that has nothing to do with `orange`.
    pub(crate) fn opens_own(&self, harness: &str) {
        let repo = self.repo();
        let mut command = self.command("tmux");
        command.arg("-S").arg(self.path("own")).args([
            "new-session",
            "-d",
            "-x",
            "150",
            "-y",
            "50",
            "-s",
            "own",
        ]);
        let output = command.arg("-c").arg(repo).arg(harness).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        self.until("one's own agent waits for words", || self.is_ready("own"));
    }

    /// True if an agent of a person's own shows a prompt to type at, and nothing else to answer.
    fn is_ready(&self, pane: &str) -> bool {
        let screen = self.screen("own", pane);
        if screen.contains("rust this folder") || screen.contains("Trust and continue") {
            let key = if screen.contains("❯ No, exit") { "Down" } else { "Enter" };
            self.press("own", pane, key, &|| self.screen("own", pane) != screen);
            return false;
        }
        let is_loading = screen.lines().any(|line| line.trim() == "loading");
        let signs = ["shift+tab to cycle", "? for shortcuts", "Ask anything", "scripted"];
        !is_loading && signs.iter().any(|sign| screen.contains(sign))
    }

    /// The program in the terminal of a person's own session, and the server that codex starts for all their sessions. Agents start
    /// short-lived helpers of their own, too.
    pub(crate) fn own_processes(&self) -> Vec<i32> {
        let pane = text(&self.tmux_at("own", &["display-message", "-p", "-t", "own", "#{pane_pid}"]).stdout);
        let pane: i32 = pane.trim().parse().unwrap();
        let is_wanted = |pid: &i32| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            *pid == pane || text(&words).contains("--listen")
        };
        let has_task = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(b"ORANGE_TASK="))
        };
        self.processes().into_iter().filter(|pid| is_wanted(pid) && !has_task(pid)).collect()
    }

    /// Everything that explains why a life has failed.
    pub(crate) fn explanation(&self) -> String {
        let mut explanation = String::from("\n=== the world of the failed life ===\n");
        for pane in text(&self.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]).stdout).lines() {
            explanation += &format!("--- pane {pane}\n{}\n", self.screen("tmux", pane).trim_end());
        }
        explanation += &format!("--- one's own\n{}\n", self.screen("own", "own").trim_end());
        for place in 0..self.plans.get() {
            let report = self.report(place);
            explanation += &format!("--- plan {place}: {} requests\n", report.requests);
            for exchange in report.exchanges {
                let mark = if exchange.is_error { "FAILED " } else { "" };
                explanation +=
                    &format!("{} {}\n  = {mark}{:?}\n", exchange.tool, exchange.input, exchange.answer);
            }
        }
        for side in self.model.sides().iter().filter(|side| side.target.starts_with("POST")) {
            explanation += &format!("--- aside {}: {:.300}\n", side.target, side.text);
        }
        for file in files_in(&self.home().join("tasks")) {
            let is_wanted = |extension: &std::ffi::OsStr| extension == "jsonl" || extension == "md";
            if file.extension().is_some_and(is_wanted) {
                explanation += &format!(
                    "--- {}\n{}\n",
                    file.display(),
                    text(&fs::read(&file).unwrap_or_default()).trim_end()
                );
            }
        }
        explanation
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", self.explanation());
        }
        self.tmux(&["kill-server"]);
        self.tmux_at("own", &["kill-server"]);
        let pids = self.processes().into_iter().map(|pid| pid.to_string());
        drop(Command::new("kill").arg("-9").args(pids).stderr(Stdio::null()).status());
    }
}

/// Bytes as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every file below a folder.
pub(crate) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect()
}
