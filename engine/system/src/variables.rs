//! Variables of the environment: those with which `orange` tells a process whose it is, and those of git.

/// The task whose agent this process belongs to.
pub const TASK: &str = "ORANGE_TASK";
/// The folder of everything that is stored.
pub const HOME: &str = "ORANGE_HOME";
/// The actor of this agent, `worker` or `reviewer`; or [`ENGINE`].
pub const ACTOR: &str = "ORANGE_ACTOR";
/// The number of the spawn that started it.
pub const SPAWN: &str = "ORANGE_SPAWN";
/// The secret of this spawn, so that no process takes itself for that agent by mistake.
pub const SECRET: &str = "ORANGE_SECRET";
/// The mission whose agent this process belongs to, for the agent's own use.
pub const MISSION: &str = "ORANGE_MISSION";
/// The step at which this agent works.
pub const STEP: &str = "ORANGE_STEP";
/// The number of its attempt at that step.
pub const ATTEMPT: &str = "ORANGE_ATTEMPT";
/// The file into which the program of a step writes its report, as JSON.
pub const OUTPUT: &str = "ORANGE_OUTPUT";
/// Set by the companion for commands that it runs for an agent: these are not relayed again.
pub const RELAYED: &str = "ORANGE_RELAYED";
/// The worktree of a walled agent, whose requests it finds from every folder.
pub const WORKTREE: &str = "ORANGE_WORKTREE";
/// The program that an agent's harness reports to: `orange` itself, as an absolute path.
pub const PROGRAM: &str = "ORANGE_PROGRAM";
/// Set for a process of the engine that carries out a command: `person` or `agent`, whichever asked. It has the environment of
/// that command.
pub const ASKED: &str = "ORANGE_ASKED";
/// The task whose gate has asked this program.
pub const GATE: &str = "ORANGE_GATE";
/// The variable that tells `orange`, when an agent calls it, what the agent's harness overrides.
pub const OVERRIDES: &str = "ORANGE_OVERRIDES";
/// The [`ACTOR`] of processes that `orange` starts for itself, which belong to no agent.
pub const ENGINE: &str = "engine";

/// The variables by which a process belongs to an agent, or says for whom it acts.
pub const IDENTITY: &[&str] =
    &[TASK, ACTOR, SPAWN, SECRET, MISSION, STEP, ATTEMPT, RELAYED, WORKTREE, PROGRAM, GATE, ASKED, OVERRIDES];

/// The variables that name git's repository, index and configuration for one call. Inside a git hook they name another
/// repository.
pub const GIT: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];
