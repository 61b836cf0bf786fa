//! The checks that the compiler makes: each with its code, its name, its default level and its page.

/// One check of the catalogue.
#[derive(Debug, PartialEq, Eq)]
pub struct Check {
    /// `A07`: the group's letter and a number.
    pub code: &'static str,
    /// `ambiguous-transitions`: what is wrong, reading well after "allow".
    pub name: &'static str,
    /// The level of its findings unless they say otherwise.
    pub level: Level,
    /// The workflows that it looks at.
    pub language: Language,
}

/// Workflows that a check looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Workflows for tasks: state machines.
    Machines,
    /// Step workflows.
    Steps,
    /// All workflows.
    Both,
}

impl Language {
    /// Its name in lists of checks.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Machines => "tasks",
            Self::Steps => "steps",
            Self::Both => "both",
        }
    }
}

/// Level of a finding, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The workflow has no meaning and nothing can be emitted from it; no flag changes that.
    Error,
    /// A lint that fails the run.
    Deny,
    /// Printed; fails the run only when asked to.
    Warn,
    /// Printed for information.
    Info,
    /// Not reported; a flag can give the lint another level.
    Allow,
}

impl Level {
    /// Its name as flags and JSON spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Deny => "deny",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Allow => "allow",
        }
    }
}

/// A check and its page in Markdown: what, why, an example that fires, the mended example.
///
/// The two are apart so that a program which finds and never explains carries no pages.
pub type CheckPage = (&'static Check, &'static str);

macro_rules! catalogue {
    ($($code:ident $name:literal $level:ident $language:ident;)*) => {
        $(
            #[doc = concat!("`", $name, "`: its page says what it means.")]
            pub static $code: Check = Check {
                code: stringify!($code),
                name: $name,
                level: Level::$level,
                language: Language::$language,
            };
        )*

        /// The checks that are made before anything can be emitted.
        pub static CHECKS: &[&Check] = &[$(&$code),*];

        /// Their pages.
        pub static PAGES: &[CheckPage] =
            &[$((&$code, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/lints/", $name, ".md")))),*];
    };
}

catalogue! {
    S01 "syntax-error" Error Both;
    S02 "unknown-key" Error Both;
    S03 "duplicate-key" Error Both;
    S04 "invalid-value" Error Both;
    S05 "unsupported-version" Error Machines;
    S06 "name-mismatch" Warn Both;
    S07 "yaml-trap" Warn Both;
    S08 "unreadable-file" Error Both;
    S09 "missing-key" Error Both;
    S10 "limit-exceeded" Error Both;
    S11 "suppression-without-reason" Warn Both;
    S12 "unused-suppression" Warn Both;
    S13 "invalid-suppression" Warn Both;
    A01 "unknown-to" Error Machines;
    A02 "unknown-from" Error Machines;
    A03 "from-terminal" Error Machines;
    A04 "unknown-prompt" Error Machines;
    A05 "unknown-respawn-prompt" Error Machines;
    A06 "unknown-then" Error Machines;
    A07 "ambiguous-transitions" Error Machines;
    A08 "when-syntax" Error Machines;
    A09 "then-when-gap" Error Machines;
    A10 "undecided" Warn Both;
    A11 "name-collision" Error Both;
    A12 "unknown-state" Error Machines;
    A13 "false-wait" Error Machines;
    A14 "terminal-initial" Error Machines;
    A15 "command-not-final" Error Machines;
    A16 "hook-failure-target" Error Machines;
    A17 "unknown-gate" Error Machines;
    A18 "pointless-deadline" Error Machines;
    A19 "inconsistent-reviewers" Error Machines;
    A20 "gate-without-merge" Error Machines;
    A21 "watch-target-illegal" Error Machines;
    A22 "watch-overlap" Warn Machines;
    A23 "delegation-unused" Error Machines;
    A24 "budget-target-illegal" Error Machines;
    A25 "budget-pointless" Warn Machines;
    A26 "budget-unknown" Warn Machines;
    B01 "cycle" Error Steps;
    B02 "unknown-dep" Error Steps;
    B03 "duplicate-step" Error Steps;
    B04 "condition-syntax" Error Steps;
    B05 "condition-unknown-step" Error Steps;
    B06 "condition-unknown-field" Error Steps;
    B07 "condition-not-ancestor" Error Steps;
    B13 "loop-unbounded" Error Steps;
    B16 "unknown-role" Error Steps;
    B18 "missing-prompt-file" Error Both;
    B19 "unknown-template-var" Error Steps;
    B26 "handler-misplaced" Error Steps;
    B27 "requeue-not-upstream" Error Steps;
    B32 "output-unknown" Error Steps;
    B33 "fan-out-shape" Error Steps;
    B40 "value-in-shell" Error Steps;
    B41 "unsafe-path" Error Both;
    B47 "condition-type" Error Steps;
    C40 "exit-target-illegal" Deny Machines;
    C46 "crash-no-stuck" Warn Machines;
    C4D "bad-threshold" Deny Machines;
    C84 "unknown-placeholder" Warn Both;
}

impl Check {
    /// True if it has this code, in any case, or this name.
    pub fn is(&self, code_or_name: &str) -> bool {
        self.code.eq_ignore_ascii_case(code_or_name) || self.name == code_or_name
    }
}
