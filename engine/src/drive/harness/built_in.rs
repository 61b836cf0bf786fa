//! The built-in harnesses.

use super::{Harness, HarnessSandbox, reporting};

/// Its own sandbox breaks `git add -A`, and the wall is around it.
const CLAUDE_UNCONFINED: &str = r#"--settings={"sandbox":{"enabled":false}}"#;

const PROMPT: &str = "{prompt}";
const EFFORT: &str = "{effort}";
const MODEL: &[&str] = &["--model", "{model}"];

/// The built-in harnesses.
pub fn built_in() -> Vec<Harness> {
    vec![claude(), codex(), opencode(), pi(), gemini(), copilot()]
}

fn claude() -> Harness {
    Harness {
        name: "claude".to_owned(),
        binary: "claude".to_owned(),
        full: words(&["--permission-mode=bypassPermissions", "--", PROMPT]),
        reduced: words(&["--permission-mode=acceptEdits", CLAUDE_TOOLS, "--", PROMPT]),
        effort: words(&["--effort", EFFORT]),
        max_effort: "max".to_owned(),
        consent: words(&[r#"--settings={"skipDangerousModePermissionPrompt":true}"#]),
        mcp: words(&[r#"--mcp-config={"mcpServers":{"orange":{"command":"{orange:json}","args":["mcp"]}}}"#]),
        report: words(&[reporting::CLAUDE]),
        workspace_files: words(&[".claude/settings.local.json"]),
        session: words(&["--session-id={session}"]),
        resume: words(&["--resume={session}"]),
        resume_errors: words(&["No conversation found"]),
        transcripts: words(&[
            "$CLAUDE_CONFIG_DIR/projects/*/{session}.jsonl",
            "~/.claude/projects/*/{session}.jsonl",
        ]),
        unset: words(&["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"]),
        sandbox: HarnessSandbox {
            hosts: words(&["api.anthropic.com:443"]),
            env: words(&[
                "ANTHROPIC_API_KEY",
                "ANTHROPIC_AUTH_TOKEN",
                "ANTHROPIC_BASE_URL",
                "CLAUDE_CODE_OAUTH_TOKEN",
                "DISABLE_AUTOUPDATER",
                "IS_SANDBOX",
            ]),
            seed: words(&[
                ".claude.json",
                ".claude/CLAUDE.md",
                ".claude/agents",
                ".claude/commands",
                ".claude/settings.json",
                ".claude/skills",
            ]),
            full: Some(words(&["--permission-mode=bypassPermissions", CLAUDE_UNCONFINED, "--", PROMPT])),
            reduced: Some(words(&[
                "--permission-mode=acceptEdits",
                CLAUDE_TOOLS,
                CLAUDE_UNCONFINED,
                "--",
                PROMPT,
            ])),
        },
        model: words(MODEL),
        install: "`npm install -g @anthropic-ai/claude-code`, then run `claude` once to log in".to_owned(),
        ..Harness::default()
    }
}

fn codex() -> Harness {
    Harness {
        name: "codex".to_owned(),
        binary: "codex".to_owned(),
        full: words(&[
            "--dangerously-bypass-approvals-and-sandbox",
            KEEP_PATH,
            NO_UPDATE,
            NO_OFFER,
            "--",
            PROMPT,
        ]),
        reduced: words(&[
            "--sandbox=workspace-write",
            "--ask-for-approval=on-request",
            KEEP_PATH,
            NO_UPDATE,
            NO_OFFER,
            "--",
            PROMPT,
        ]),
        effort: words(&["--config", "model_reasoning_effort={effort}"]),
        max_effort: "xhigh".to_owned(),
        consent: words(&["--config", r#"projects={"{repo:json}"={trust_level="trusted"}}"#]),
        mcp: words(&["--config", CODEX_MCP]),
        report: words(&["--config", reporting::CODEX]),
        report_version: reporting::CODEX_VERSION.to_owned(),
        answer_screen: "$ {text} 1. Yes, proceed (y)".to_owned(),
        answer_keys: words(&["y", "Escape"]),
        resume: words(&["resume", "{session}"]),
        resume_errors: words(&["No saved session found"]),
        transcripts: words(&[
            "$CODEX_HOME/sessions/*/*/*/rollout-????-??-??T??-??-??-{session}.jsonl",
            "~/.codex/sessions/*/*/*/rollout-????-??-??T??-??-??-{session}.jsonl",
        ]),
        sandbox: HarnessSandbox {
            hosts: words(&["api.openai.com:443", "auth.openai.com:443", "chatgpt.com:443"]),
            env: words(&["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"]),
            seed: words(&[".codex/AGENTS.md", ".codex/config.toml", ".codex/prompts", ".codex/skills"]),
            full: None,
            // It cannot make its own sandbox in a wall.
            reduced: Some(words(&[
                "--sandbox=danger-full-access",
                "--ask-for-approval=on-request",
                KEEP_PATH,
                NO_UPDATE,
                NO_OFFER,
                "--",
                PROMPT,
            ])),
        },
        model: words(MODEL),
        install: "`npm install -g @openai/codex`, then run `codex` once to log in".to_owned(),
        ..Harness::default()
    }
}

fn opencode() -> Harness {
    Harness {
        name: "opencode".to_owned(),
        binary: "opencode".to_owned(),
        full: words(&["--auto", "--prompt={prompt}"]),
        // Its own configuration says what it may do without asking.
        reduced: words(&["--prompt={prompt}"]),
        report_set: words(&[reporting::OPENCODE]),
        report_defaults: words(reporting::OPENCODE_INSTALLS),
        // No `resume`: it leaves out the prompt when it continues a conversation (1.18). No `transcripts`: it has a database.
        model: words(MODEL),
        install: "`npm install -g opencode-ai`, then run `opencode` once to log in".to_owned(),
        ..Harness::default()
    }
}

fn pi() -> Harness {
    Harness {
        name: "pi".to_owned(),
        binary: "pi".to_owned(),
        // It never asks.
        full: words(&[PROMPT]),
        reduced: words(&[PROMPT]),
        effort: words(&["--thinking", EFFORT]),
        max_effort: "xhigh".to_owned(),
        report: words(&["--extension", reporting::PI]),
        resume: words(&["--session", "{session}"]),
        resume_errors: words(&["No session found"]),
        transcripts: words(&[
            "$PI_CODING_AGENT_DIR/sessions/*/*_{session}.jsonl",
            "~/.pi/agent/sessions/*/*_{session}.jsonl",
        ]),
        model: words(MODEL),
        install: "`npm install -g @earendil-works/pi-coding-agent`, then run `pi` once to log in".to_owned(),
        ..Harness::default()
    }
}

fn gemini() -> Harness {
    Harness {
        name: "gemini".to_owned(),
        binary: "gemini".to_owned(),
        full: words(&["--approval-mode=yolo", "--prompt-interactive={prompt}"]),
        reduced: words(&["--approval-mode=auto_edit", GEMINI_TOOLS, "--prompt-interactive={prompt}"]),
        consent: words(&["--skip-trust"]),
        set: words(USER_GIT_CONFIG),
        overrides: words(&[
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_SYSTEM",
            "GIT_CONFIG_NOSYSTEM",
            "GIT_ASKPASS",
            "SSH_ASKPASS",
        ]),
        sandbox: HarnessSandbox {
            hosts: words(&[
                "cloudcode-pa.googleapis.com:443",
                "generativelanguage.googleapis.com:443",
                "oauth2.googleapis.com:443",
            ]),
            env: words(&["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
            seed: words(&[".gemini/GEMINI.md", ".gemini/settings.json"]),
            ..HarnessSandbox::default()
        },
        model: words(MODEL),
        install: "`npm install -g @google/gemini-cli`, then run `gemini` once to log in".to_owned(),
        ..Harness::default()
    }
}

fn copilot() -> Harness {
    Harness {
        name: "copilot".to_owned(),
        binary: "copilot".to_owned(),
        full: words(&["--yolo", "--interactive={prompt}"]),
        reduced: words(&[
            "--allow-tool=write",
            "--allow-tool=shell(orange:*)",
            "--allow-tool=shell({orange}:*)",
            "--allow-tool=shell(git diff)",
            "--allow-tool=shell(git log)",
            "--allow-tool=shell(git show)",
            "--allow-tool=shell(git status)",
            "--interactive={prompt}",
        ]),
        effort: words(&["--reasoning-effort", EFFORT]),
        max_effort: "xhigh".to_owned(),
        model: words(MODEL),
        install:
            "`npm install -g @github/copilot`, then run `copilot` once to log in and to trust the repository"
                .to_owned(),
        ..Harness::default()
    }
}

const CLAUDE_TOOLS: &str = "--allowedTools=Bash(orange:*),Bash({orange}:*),Bash(git diff:*),Bash(git log:*),\
                            Bash(git show:*),Bash(git status:*),mcp__orange";

/// With a list of allowed tools, gemini refuses every other command instead of asking.
const GEMINI_TOOLS: &str = "--allowed-tools=run_shell_command(orange),run_shell_command({orange}),\
                            run_shell_command(git diff),run_shell_command(git log),run_shell_command(git show),\
                            run_shell_command(git status),activate_skill";

/// Gemini hides the user's git settings, such as the name of commits, from its agent, but not those in the environment.
pub(super) const USER_GIT_CONFIG: &[&str] = &[
    "GIT_CONFIG_COUNT=2",
    "GIT_CONFIG_KEY_0=include.path",
    "GIT_CONFIG_VALUE_0=~/.config/git/config",
    "GIT_CONFIG_KEY_1=include.path",
    "GIT_CONFIG_VALUE_1=~/.gitconfig",
];

/// Codex runs commands in a login shell, whose profile sets another `PATH`. Any setting on its command line also makes codex start
/// a server of its own, instead of one daemon for all sessions of a user with the environment of the first.
pub(super) const KEEP_PATH: &str = "--config=allow_login_shell=false";

/// Codex must not ask about an update.
pub(super) const NO_UPDATE: &str = "--config=check_for_update_on_startup=false";

/// Codex must not offer a cheaper model near a limit: it would read the next message as the answer, and Enter as a yes.
pub(super) const NO_OFFER: &str = "--config=notice.hide_rate_limit_model_nudge=true";

/// Codex starts such servers outside its sandbox, with the named variables and few others, and asks before each call unless it is
/// told to approve. An agent that a tool starts has the variables of the server, so all are named.
const CODEX_MCP: &str = r#"mcp_servers.orange={command="{orange:json}",args=["mcp"],default_tools_approval_mode="approve",env_vars=["ORANGE_TASK","ORANGE_ACTOR","ORANGE_SPAWN","ORANGE_SECRET","ORANGE_PROGRAM",{variables}]}"#;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
