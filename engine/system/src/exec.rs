//! The only file that starts processes: captured calls with a time limit, detached ones, and those in the terminal.

mod captured;
mod gather;

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, IsTerminal, PipeReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal};

use self::captured::{Bound, Copied};
use self::gather::Gathering;
use crate::nofollow;
use crate::{Error, ErrorKind, Result, fault};
use orange_api::Unfit;

/// The flags for the log.
const LOG: OFlags = OFlags::WRONLY.union(OFlags::APPEND).union(OFlags::CREATE);

/// The length of a command line in an error message.
const LONGEST: usize = 160;

/// A call of another program: an argument vector, never a shell.
#[derive(Debug)]
pub struct ProgramCall {
    command: Command,
    program: String,
    what: String,
    folder: Option<PathBuf>,
    input: Option<ProgramInput>,
    bound: Duration,
    most: usize,
    ends: Option<usize>,
    copy: Option<OutputCopy>,
    /// Open files that it gets under their numbers here.
    passed: Vec<OwnedFd>,
}

/// The writer of a program's standard input.
struct ProgramInput(Box<InputWriter>);

type InputWriter = dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send;

impl fmt::Debug for ProgramInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgramInput")
    }
}

/// The file to which the output of a call is copied.
#[derive(Debug)]
struct OutputCopy {
    end: usize,
    file: PathBuf,
    longest: u64,
}

/// The process group of a program in the terminal.
#[derive(Clone, Copy, Debug)]
pub enum ProcessGroup {
    /// That of this process, which has no number here if it is from outside of a container.
    Inherited,
    /// A new one, which it leads.
    New,
    /// One that is there.
    Other(Pid),
}

/// The result of a captured call, whatever its exit status.
#[derive(Debug)]
pub struct CallOutput {
    what: String,
    status: ExitStatus,
    /// Bytes of its standard output.
    pub stdout: Vec<u8>,
    /// Bytes of its standard error.
    pub stderr: Vec<u8>,
}

/// A captured call that may have been stopped.
#[derive(Debug)]
pub struct CallEnd {
    /// Its output, up to then.
    pub output: CallOutput,
    /// Reason for which it was stopped, if it did not end by itself.
    pub stopped: Option<StopReason>,
}

/// Reason for which a call was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Its time was over.
    Late,
    /// Nobody wants its answer any more.
    Unwanted,
}

/// A process that is not a descendant of this one, started by [`ProgramCall::detach`].
#[derive(Debug)]
pub struct Detached {
    go_between: Child,
    /// The program has the other end, and nothing is written to it.
    end: PipeReader,
    what: String,
}

impl ProgramCall {
    /// A call of a program, by a name on `PATH` or by a path, with a limit of 60 seconds.
    pub fn new(program: impl AsRef<OsStr>) -> ProgramCall {
        let name = program.as_ref().to_string_lossy().into_owned();
        ProgramCall {
            command: Command::new(program),
            what: name.clone(),
            program: name,
            folder: None,
            input: None,
            bound: Duration::from_secs(60),
            most: usize::MAX,
            ends: None,
            copy: None,
            passed: Vec::new(),
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> ProgramCall {
        if self.what.len() < LONGEST {
            self.what = format!("{} {}", self.what, arg.as_ref().to_string_lossy());
        }
        self.command.arg(arg);
        self
    }

    /// Adds arguments that are omitted from error messages.
    pub fn preset<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> ProgramCall {
        self.command.args(args);
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(self, args: impl IntoIterator<Item = A>) -> ProgramCall {
        args.into_iter().fold(self, ProgramCall::arg)
    }

    /// Sets another folder.
    pub fn folder(mut self, folder: &Path) -> ProgramCall {
        self.command.current_dir(folder);
        self.folder = Some(folder.to_path_buf());
        self
    }

    /// Adds a variable to its environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> ProgramCall {
        self.command.env(name, value);
        self
    }

    /// Removes these variables from its environment.
    pub fn without(mut self, names: &[&str]) -> ProgramCall {
        for name in names {
            self.command.env_remove(name);
        }
        self
    }

    /// Limits its environment to those variables of this process whose name `is_kept` accepts.
    pub fn only(mut self, is_kept: impl Fn(&OsStr) -> bool) -> ProgramCall {
        self.command.env_clear();
        self.command.envs(std::env::vars_os().filter(|(name, _)| is_kept(name)));
        self
    }

    /// Passes on an open file, such as one of [`readable`], which stays open here until it was started.
    pub fn passing(mut self, file: OwnedFd) -> ProgramCall {
        self.passed.push(file);
        self
    }

    /// The call of another program that runs this one: this program and its arguments are the last arguments of that call. It has
    /// the environment of that call, and of this one only the variables that were set or removed. Messages name this program.
    pub fn within(self, outer: ProgramCall) -> ProgramCall {
        let changed = |(name, value): (&OsStr, Option<&OsStr>)| (name.to_owned(), value.map(OsStr::to_owned));
        let variables: Vec<_> = self.command.get_envs().map(changed).collect();
        let program = self.command.get_program().to_owned();
        let mut call = outer.arg(program).args(self.command.get_args());
        for (name, value) in variables {
            match value {
                Some(value) => drop(call.command.env(name, value)),
                None => drop(call.command.env_remove(name)),
            }
        }
        call.what = self.what;
        call
    }

    /// Sets the bytes on its standard input, which is empty otherwise.
    pub fn input(self, bytes: &[u8]) -> ProgramCall {
        let bytes = bytes.to_vec();
        if bytes.is_empty() { self } else { self.input_by(move |pipe| pipe.write_all(&bytes)) }
    }

    /// Sets the writer of its standard input, for more than should be in memory. If the writer fails, the input ends there.
    pub fn input_by(
        mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
    ) -> ProgramCall {
        self.input = Some(ProgramInput(Box::new(write)));
        self
    }

    /// Sets another time limit.
    pub fn bound(mut self, bound: Duration) -> ProgramCall {
        self.bound = bound;
        self
    }

    /// Its time limit.
    pub fn limit(&self) -> Duration {
        self.bound
    }

    /// Keeps only the first `most` bytes of its standard output.
    pub fn most(mut self, most: usize) -> ProgramCall {
        self.most = most;
        self
    }

    /// Keeps only `end` bytes of the beginning and about as many of the end of each output.
    pub fn ends(mut self, end: usize) -> ProgramCall {
        self.ends = Some(end);
        self
    }

    /// Keeps only `end` bytes of the beginning and about as many of the end of each output in memory. Both outputs are
    /// written to a new file, up to its longest length.
    pub fn copied(mut self, end: usize, file: &Path, longest: u64) -> ProgramCall {
        self.copy = Some(OutputCopy { end, file: file.to_path_buf(), longest });
        self
    }

    /// Runs it and returns its output, whatever its exit status. It has no terminal; at the time limit, its process group is
    /// killed, and the call fails.
    pub fn run(self) -> Result<CallOutput> {
        let late = self.late();
        let CallEnd { output, stopped } = self.run_while(&|| true)?;
        match stopped {
            None => Ok(output),
            Some(StopReason::Late | StopReason::Unwanted) => Err(late),
        }
    }

    /// Runs it until it ends, its time is over, or `is_wanted` does not hold, and returns its output, even if it
    /// was stopped.
    pub fn run_while(mut self, is_wanted: &dyn Fn() -> bool) -> Result<CallEnd> {
        let stdin = if self.input.is_none() { Stdio::null() } else { Stdio::piped() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let ends = self.ends.map(|end| Bound { end, file: None });
        let bound = self.copy.as_ref().map(OutputCopy::begin).transpose()?.or(ends);
        fault::step("call", brief(&self.what));
        let mut child = self.command.spawn().map_err(|cause| self.cannot_start(&cause))?;
        fault::step("wait for", &self.program);
        let gathering = Gathering::begin(&mut child, self.input, self.most, bound);
        let stopped = gathering.ends_within(self.bound, is_wanted).err();
        if stopped.is_some() {
            end_group(&child);
        }
        let status = reap(&mut child, &self.what)?;
        fault::step("hear from", &self.program);
        let (stdout, stderr) = gathering.taken();
        Ok(CallEnd { output: CallOutput { what: self.what, status, stdout, stderr }, stopped })
    }

    /// The error of a call whose time is over.
    pub fn late(&self) -> Error {
        let message =
            format!("`{}` did not end within {} s and was killed", brief(&self.what), self.bound.as_secs());
        Error::new(ErrorKind::Environment, message)
            .help("find out what it waits for by running it by hand, then repeat the command")
    }

    /// Runs it and returns its standard output as text without the last line break.
    pub fn text(self) -> Result<String> {
        Ok(self.run()?.checked()?.text())
    }

    /// Starts it in the terminal of this process.
    pub fn attended(mut self, group: ProcessGroup) -> Result<Child> {
        fault::step("attend", &self.program);
        match group {
            ProcessGroup::Inherited => {}
            ProcessGroup::New => drop(self.command.process_group(0)),
            ProcessGroup::Other(group) => drop(self.command.process_group(group.as_raw_nonzero().get())),
        }
        self.command.spawn().map_err(|cause| self.cannot_start(&cause))
    }

    /// Sends its complaints to the terminal if another program reads those of this process.
    pub fn complaining_here(mut self) -> ProgramCall {
        let terminal = io::stdin();
        if terminal.is_terminal()
            && !io::stderr().is_terminal()
            && let Ok(terminal) = terminal.as_fd().try_clone_to_owned()
        {
            self.command.stderr(terminal);
        }
        self
    }

    /// Discards its complaints when it is started.
    pub fn silent(mut self) -> ProgramCall {
        self.command.stderr(Stdio::null());
        self
    }

    /// Starts it as the leader of a new process group, with a standard input that this process keeps open.
    pub fn held(mut self) -> Result<Child> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
        self.command.spawn().map_err(|cause| self.cannot_start(&cause))
    }

    /// Starts it with its standard input and output as pipes of this process; its complaints are appended to `log`. The started
    /// process must first call [`become_independent`](crate::process::become_independent).
    pub fn companion(mut self, log: &Path) -> Result<Child> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(open_log(log)?);
        fault::step("start", "a companion");
        self.command.spawn().map_err(|cause| self.cannot_start(&cause))
    }

    /// Starts it in a process group of its own without a terminal; its standard output is a pipe of this process.
    pub fn beside(mut self) -> Result<Child> {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        self.command.spawn().map_err(|cause| self.cannot_start(&cause))
    }

    /// Replaces this process by the program; it returns only on failure.
    pub fn become_it(mut self) -> Error {
        let cause = self.command.exec();
        self.cannot_start(&cause)
    }

    /// Starts it as a go-between, which calls [`become_independent`](crate::process::become_independent) and [`ProgramCall::leave_running`] and ends: the program that
    /// it leaves running outlives this process and its terminal, and is not a descendant of it. Output is appended to `log`; the
    /// standard input only shows the end.
    pub fn detach(mut self, log: &Path) -> Result<Detached> {
        let (out, err) = (open_log(log)?, open_log(log)?);
        let (end, held) = io::pipe().map_err(|cause| self.cannot_start(&cause))?;
        self.command.stdin(held).stdout(out).stderr(err);
        fault::step("detach", "itself");
        let go_between = self.command.spawn().map_err(|cause| self.cannot_start(&cause))?;
        fault::step("leave", "itself");
        Ok(Detached { go_between, end, what: self.what })
    }

    /// Starts it in this process's session, with its input and output, without waiting.
    pub fn leave_running(mut self) -> Result<()> {
        fault::step("start", "itself");
        self.command.spawn().map(drop).map_err(|cause| self.cannot_start(&cause))
    }

    fn cannot_start(&self, cause: &io::Error) -> Error {
        let broken = |message: String| Error::new(ErrorKind::Environment, message);
        if let Some(folder) = self.folder.as_ref().filter(|folder| !folder.is_dir()) {
            return broken(format!("`{}` cannot run in {}: no such folder", self.program, folder.display()))
                .help("put it back; if a project's repository has moved, `orange project update NAME --path PATH` says so");
        }
        if cause.kind() == io::ErrorKind::NotFound {
            not_installed(&self.program)
        } else if cause.kind() == io::ErrorKind::ArgumentListTooLong {
            broken(format!("the arguments of `{}` are longer than the system allows", self.program))
        } else {
            broken(format!("cannot start `{}`: {cause}", self.program))
        }
    }
}

/// Opens the log for appending. If something else is at its path, the output is lost: nothing depends on the log, and
/// `orange doctor` reports it.
fn open_log(log: &Path) -> Result<Stdio> {
    match nofollow::open(log, LOG) {
        Ok(file) => Ok(file.into()),
        Err(cause) if Unfit::of(&cause).is_some() => Ok(Stdio::null()),
        Err(cause) => Err(Error::io("open", log, &cause)),
    }
}

impl OutputCopy {
    fn begin(&self) -> Result<Bound> {
        const NEW: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL);
        let OutputCopy { end, file: path, longest } = self;
        let file = nofollow::open(path, NEW).map_err(|cause| Error::io("create", path, &cause))?;
        Ok(Bound { end: *end, file: Some(Arc::new(Mutex::new(Copied { file, left: *longest }))) })
    }
}

impl CallOutput {
    /// True if it exited with 0.
    pub fn success(&self) -> bool {
        self.status.success()
    }

    /// Its exit status; `None` if a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The beginning of its command line.
    pub fn call(&self) -> String {
        brief(&self.what)
    }

    /// Its standard output as text, without the last line break.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches('\n').to_owned()
    }

    /// Its standard output as text, with every line break.
    pub fn text_as_it_is(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Its standard error as text.
    pub fn complaint(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim().to_owned()
    }

    /// The output of a call that had to succeed.
    pub fn checked(self) -> Result<CallOutput> {
        if self.success() { Ok(self) } else { Err(self.failure()) }
    }

    /// The answer of a program that exits with 0 for yes and with 1 for no. Any other end is a failure.
    pub fn yes_or_no(self) -> Result<bool> {
        match self.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            Some(_) | None => Err(self.failure()),
        }
    }

    /// The `environment` error with the program's own words.
    pub fn failure(&self) -> Error {
        let complaint = self.complaint();
        let said = if complaint.is_empty() { self.status.to_string() } else { complaint };
        Error::new(ErrorKind::Environment, format!("`{}` failed: {said}", brief(&self.what)))
    }
}

impl Detached {
    /// Waits until the go-between has ended; from then on the program can outlive this process. The end of a session's leader, for
    /// example, ends every process in the terminal's foreground.
    pub fn until_independent(&mut self) -> Result<()> {
        let status = reap(&mut self.go_between, &self.what)?;
        if status.success() {
            return Ok(());
        }
        let message = format!("`{}` was not started: its go-between ended with {status}", brief(&self.what));
        Err(Error::new(ErrorKind::Environment, message).help("`orange log` may say why"))
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Result<()> {
        self.until_independent()?;
        let read = self.end.read_to_end(&mut Vec::new());
        fault::step("hear from", "itself");
        read.map(drop).map_err(|cause| cannot_wait(&self.what, &cause))
    }
}

/// Keeps the files that this process was started with from the programs that it starts, but for the three standard streams: what
/// outlives an agent, such as the process that starts the next one, would hold the locks of those files.
pub fn keep_files() {
    const BEHIND_STREAMS: i32 = 3;
    close_fds::set_fds_cloexec(BEHIND_STREAMS, &[]);
}

/// The error about a missing program, with where to get it.
pub fn not_installed(program: &str) -> Error {
    Error::new(ErrorKind::Environment, format!("`{program}` is not installed or not on PATH"))
        .help(how_to_install(program))
}

/// An open file with these bytes, at most a page of them, which a program gets by [`ProgramCall::passing`].
pub fn readable(bytes: &[u8]) -> io::Result<OwnedFd> {
    let (read, mut write) = io::pipe()?;
    write.write_all(bytes)?;
    rustix::io::fcntl_setfd(&read, rustix::io::FdFlags::empty())?;
    Ok(read.into())
}

/// The file of a program on a `PATH`.
pub fn find_on_path(program: &str, path: &OsStr) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|file| is_executable(file));
    }
    std::env::split_paths(path).map(|folder| folder.join(program)).find(|file| is_executable(file))
}

fn end_group(child: &Child) {
    // A failure means that no process is left.
    rustix::process::kill_process_group(pid_of(child), Signal::KILL).unwrap_or_default();
}

fn reap(child: &mut Child, what: &str) -> Result<ExitStatus> {
    child.wait().map_err(|cause| cannot_wait(what, &cause))
}

fn cannot_wait(what: &str, cause: &io::Error) -> Error {
    Error::new(ErrorKind::Environment, format!("cannot wait for `{}`: {cause}", brief(what)))
}

fn pid_of(child: &Child) -> Pid {
    Pid::from_child(child)
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Advice on installing a program.
pub fn how_to_install(program: &str) -> &'static str {
    match program {
        "tmux" => "install tmux 3.2 or newer (`apt install tmux`, `dnf install tmux`, `brew install tmux`)",
        "git" => "install git 2.38 or newer (`apt install git`, `dnf install git`, `brew install git`)",
        "gh" => "install the GitHub command line (https://cli.github.com) and run `gh auth login`",
        "bwrap" => {
            "install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`, `pacman -S bubblewrap`)"
        }
        "glab" => {
            "install the GitLab command line (https://gitlab.com/gitlab-org/cli) and run `glab auth login`"
        }
        _ => "install it, or put the folder it is in on PATH",
    }
}

fn brief(what: &str) -> String {
    let one_line = what.replace('\n', " ");
    match one_line.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &one_line[..cut]),
        None => one_line,
    }
}

#[cfg(test)]
mod tests;
