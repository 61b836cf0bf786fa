//! A world of its own for each test: a home, a repository with a bare origin, a tmux server, the scripted agent.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

pub(crate) use orange_testkit::{until, write_program};
use orange_tests::programs::built;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::said::ProgramOutput;
use crate::task::{Task, try_kill};

/// Limit for a whole test. A command that runs longer is ended, so that its test fails and says what did not end.
const LIFE: Duration = Duration::from_secs(15 * 60);

/// The name of the project that every world begins with.
pub(crate) const PROJECT: &str = "toy";

/// Everything that one test touches. It goes away with its end, whether that is good or bad.
pub(crate) struct World {
    root: TempDir,
    /// The `orange` that is run.
    pub program: &'static Path,
    /// Open until the world ends: what watches over its life waits for that.
    _life: Sender<()>,
}

impl World {
    /// A world with one project, whose pool has two worktrees.
    pub(crate) fn new() -> World {
        World::of(binary())
    }

    /// A world with one project, and with this `orange`.
    pub(crate) fn of(program: &'static Path) -> World {
        let mut world = World::empty();
        world.program = program;
        world.ok(&["project", "add", "--name", PROJECT, "--pool-size", "2"]);
        world
    }

    /// A world in which `orange` knows of no project yet.
    pub(crate) fn empty() -> World {
        World::at("orange-")
    }

    /// A world without a project, in a folder whose name begins like this.
    pub(crate) fn at(name: &str) -> World {
        // A socket's path is short, and a temporary folder may be far down.
        let root = tempfile::Builder::new().prefix(name).tempdir_in("/tmp").unwrap();
        let life = limited(root.path().join("orange"));
        let world = World { root, program: binary(), _life: life };
        for folder in ["home", "agents", "tools"] {
            fs::create_dir(world.path(folder)).unwrap();
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/claude");
        symlink(script, world.path("agents/claude")).unwrap();
        let settings =
            "[user]\n\tname = Toy Maker\n\temail = toy@example.org\n[init]\n\tdefaultBranch = main\n";
        fs::write(world.path("home/.gitconfig"), settings).unwrap();
        world.make_repository();
        world.answer_claude();
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

    /// Runs `orange` in the project's main checkout.
    pub(crate) fn orange(&self, args: &[&str]) -> ProgramOutput {
        self.orange_in(&self.repo(), args)
    }

    /// Runs `orange` in a folder.
    pub(crate) fn orange_in(&self, folder: &Path, args: &[&str]) -> ProgramOutput {
        self.said(self.command(self.program).args(args).current_dir(folder))
    }

    /// Runs `orange … --json`, which must succeed, and gives its answer.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> Value {
        self.json(args).ok()
    }

    /// Runs `orange … --json`, which must fail in this way, and gives message and help.
    #[track_caller]
    pub(crate) fn fails(&self, status: i32, code: &str, args: &[&str]) -> String {
        self.json(args).fails(status, code)
    }

    /// Runs `orange --json …`.
    pub(crate) fn json(&self, args: &[&str]) -> ProgramOutput {
        self.orange(&[&["--json"], args].concat())
    }

    /// Writes a file into the folder of custom workflows, and gives its path.
    pub(crate) fn workflow(&self, file: &str, text: &str) -> PathBuf {
        let folder = self.home().join("workflows");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(file), text).unwrap();
        folder.join(file)
    }

    /// Puts the scripted `gh` on the `PATH`.
    pub(crate) fn with_github(self) -> World {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/gh");
        symlink(script, self.path("agents/gh")).unwrap();
        self
    }

    /// Puts the scripted `glab` on the `PATH`, and the project on GitLab.
    pub(crate) fn with_gitlab(self) -> World {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/glab");
        symlink(script, self.path("agents/glab")).unwrap();
        self.ok(&["project", "update", "--forge", "gitlab"]);
        self
    }

    /// A program with this world's environment and nothing else.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut path = vec![self.path("agents")];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("HOME", self.path("home"))
            .env("ORANGE_HOME", self.home())
            .env("ORANGE_TMUX_SOCKET", self.path("tmux"))
            // On a busy machine a crowd at one lock may take longer than a person would wait.
            .env("ORANGE_LOCK_TIMEOUT", "600")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // The tests may run as root, and claude takes that from a container alone.
            .env("IS_SANDBOX", "1")
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.root.path())
            .stdin(Stdio::null());
        command
    }

    /// `orange` with nothing on its `PATH` but these programs.
    pub(crate) fn with_only(&self, programs: &[&str]) -> Command {
        let tools = self.path("tools");
        for program in programs {
            let stand_in = self.path("agents").join(program);
            let file = if stand_in.exists() { stand_in } else { self.find(program) };
            symlink(file, tools.join(program)).unwrap();
        }
        let mut command = self.command(binary());
        command.env("PATH", tools).current_dir(self.repo());
        command
    }

    /// Path of a program of this machine, also where this world has a wrapper of it.
    pub(crate) fn find(&self, program: &str) -> PathBuf {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.exists()).unwrap()
    }

    /// Output of a command.
    pub(crate) fn said(&self, command: &mut Command) -> ProgramOutput {
        ProgramOutput::of(command)
    }

    /// Runs git, which must succeed, and gives what it writes.
    #[track_caller]
    pub(crate) fn git(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.command("git").args(args).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "git {args:?} in {}: {}", folder.display(), text(&output.stderr));
        text(&output.stdout).trim_end().to_owned()
    }

    /// Commits one file on a new branch that is not checked out afterwards.
    pub(crate) fn commit_on(&self, branch: &str, file: &str) {
        let repo = self.repo();
        self.git(&repo, &["switch", "--quiet", "--create", branch]);
        fs::write(repo.join(file), "somebody was here before\n").unwrap();
        self.git(&repo, &["add", "."]);
        self.git(&repo, &["commit", "--quiet", "--message", "Before"]);
        self.git(&repo, &["switch", "--quiet", "main"]);
    }

    /// The lines of every file that is under a backup.
    pub(crate) fn kept_texts(&self) -> BTreeSet<String> {
        let listed = self.git(&self.repo(), &["rev-list", "--objects", "--glob=refs/orange/backup/*"]);
        let ids: String =
            listed.lines().filter_map(|line| line.get(..40)).map(|id| format!("{id}\n")).collect();
        let wanted = self.path("kept-objects");
        fs::write(&wanted, ids).unwrap();
        let mut command = self.command("git");
        command.args(["cat-file", "--batch"]).current_dir(self.repo());
        let output = command.stdin(fs::File::open(wanted).unwrap()).output().unwrap();
        text(&output.stdout).lines().map(str::to_owned).collect()
    }

    /// Runs tmux on this world's server.
    pub(crate) fn tmux(&self, args: &[&str]) -> Output {
        self.command("tmux").arg("-S").arg(self.path("tmux")).args(args).output().unwrap()
    }

    /// Every pane of the server, as `session window`, sorted.
    pub(crate) fn panes(&self) -> Vec<String> {
        let listed = self.tmux(&["list-panes", "-a", "-F", "#{session_name} #{window_name}"]);
        let mut panes: Vec<_> = text(&listed.stdout).lines().map(str::to_owned).collect();
        panes.sort();
        panes
    }

    /// The process id of the wrapper around the only agent of a session.
    pub(crate) fn wrapper(&self, session: &str) -> i32 {
        let listed = self.tmux(&["list-panes", "-s", "-t", &format!("={session}:"), "-F", "#{pane_pid}"]);
        text(&listed.stdout).trim().parse().unwrap()
    }

    /// Creates a task with `orange task create BRANCH SUMMARY …`; an empty summary is left out.
    #[track_caller]
    pub(crate) fn create(&self, branch: &str, summary: &str, more: &[&str]) -> Task<'_> {
        let about = [branch, summary];
        let about = if summary.is_empty() { &about[..1] } else { &about[..] };
        let words = [&["task", "create"], more, &["--"], about].concat();
        self.task(&self.ok(&words))
    }

    /// Starts a mission with `orange mission start WORKFLOW PROMPT …`.
    #[track_caller]
    pub(crate) fn start(&self, workflow: &str, more: &[&str]) -> Task<'_> {
        let answer = self.ok(&[&["mission", "start", workflow, "Make it faster"], more].concat());
        Task::mission(self, answer["id"].as_str().unwrap())
    }

    /// Gives the agent of this step its acts: a script of the scripted agent.
    pub(crate) fn acts(&self, step: &str, script: &str) {
        let folder = self.home().join("agents");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{step}.sh")), script).unwrap();
    }

    /// The task that an answer is about.
    pub(crate) fn task(&self, answer: &Value) -> Task<'_> {
        Task::new(self, answer["id"].as_str().unwrap())
    }

    /// Waits until this holds.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, holds: impl FnMut() -> bool) {
        until(what, holds);
    }

    fn make_repository(&self) {
        let (origin, repo) = (self.path("toy.git"), self.repo());
        self.git(self.root.path(), &["init", "--quiet", "--bare", &origin.to_string_lossy()]);
        self.git(self.root.path(), &["init", "--quiet", PROJECT]);
        fs::write(repo.join("README.md"), "A toy.\n").unwrap();
        self.git(&repo, &["add", "."]);
        self.git(&repo, &["commit", "--quiet", "--message", "Begin"]);
        self.git(&repo, &["remote", "add", "origin", &origin.to_string_lossy()]);
        self.git(&repo, &["push", "--quiet", "--set-upstream", "origin", "main"]);
        self.git(&repo, &["remote", "set-head", "origin", "main"]);
    }

    /// The user of this home has answered what claude asks in its first dialogs.
    fn answer_claude(&self) {
        let trusted = json!({ "hasTrustDialogAccepted": true });
        let known = json!({
            "hasCompletedOnboarding": true,
            "projects": {
                self.repo().to_string_lossy(): trusted,
                self.path("home/code/coffee").to_string_lossy(): trusted,
                self.home().join("workspaces").to_string_lossy(): trusted,
            },
        });
        fs::write(self.path("home/.claude.json"), known.to_string()).unwrap();
        fs::create_dir(self.path("home/.claude")).unwrap();
        let settings = json!({ "skipDangerousModePermissionPrompt": true });
        fs::write(self.path("home/.claude/settings.json"), settings.to_string()).unwrap();
    }

    /// Everything that explains why a test has failed.
    fn report(&self) -> String {
        let mut report = format!("\n=== the world of the failed test ===\npanes: {:?}\n", self.panes());
        for pane in text(&self.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]).stdout).lines() {
            let shown = self.tmux(&["capture-pane", "-p", "-t", pane]);
            report += &format!("--- pane {pane}\n{}\n", text(&shown.stdout).trim_end());
        }
        for file in files_in(&self.home()) {
            let wanted = ["jsonl", "log", "answers", "heard"];
            let is_wanted = |extension: &std::ffi::OsStr| wanted.iter().any(|wanted| extension == *wanted);
            if file.ends_with("TASK.md")
                || file.ends_with("MISSION.md")
                || file.extension().is_some_and(is_wanted)
            {
                let contents = fs::read(&file).unwrap_or_default();
                report += &format!("--- {}\n{}\n", file.display(), text(&contents).trim_end());
            }
        }
        report
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", self.report());
        }
        self.tmux(&["kill-server"]);
        // Agents that had no terminal yet and programs that a test has held outlive the server.
        for pid in processes(&self.home()) {
            try_kill(pid);
        }
    }
}

/// Ends the processes of a home that run when its limit has passed; its life ends with what is given.
fn limited(home: PathBuf) -> Sender<()> {
    let (life, end) = mpsc::channel();
    thread::spawn(move || {
        while end.recv_timeout(LIFE) == Err(RecvTimeoutError::Timeout) {
            for pid in processes(&home) {
                let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                eprintln!("did not end within {LIFE:?}: {pid} {}", text(&words).replace('\0', " "));
                try_kill(pid);
            }
        }
    });
    life
}

/// The processes whose environment names this `ORANGE_HOME`.
pub(crate) fn processes(home: &Path) -> impl Iterator<Item = i32> {
    let mark = format!("ORANGE_HOME={}", home.display());
    let is_its = move |folder: &Path| {
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let folders = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let numbered = folders.filter_map(|folder| {
        let pid = folder.file_name().and_then(|name| name.to_str()?.parse().ok())?;
        Some((pid, folder))
    });
    numbered.filter(move |(_, folder)| is_its(folder)).map(|(pid, _)| pid)
}

/// The `orange` of this build; cargo tells the tests of its own package only where it is.
pub(crate) fn binary() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built(&["--package", "orange"]).join("orange"))
}

/// The `orange` whose workflows are those of the seeds, as they stand.
pub(crate) fn seeds() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built(&["--package", "orange-tests", "--example", "seeds"]).join("examples/seeds"))
}

/// The program of another of our packages, named as that package is.
pub(crate) fn target_program(package: &'static str) -> PathBuf {
    built(&["--package", package]).join(package)
}

/// Bytes as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect()
}
