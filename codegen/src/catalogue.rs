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
    ($($code:ident $name:literal $level:ident;)*) => {
        $(
            #[doc = concat!("`", $name, "`: its page says what it means.")]
            pub static $code: Check = Check {
                code: stringify!($code),
                name: $name,
                level: Level::$level,
            };
        )*

        /// The checks that are made before anything can be emitted.
        pub static CHECKS: &[&Check] = &[$(&$code),*];

        /// Their pages.
        pub static PAGES: &[CheckPage] =
            &[$((&$code, include_str!(concat!("../../docs/lints/", $name, ".md")))),*];
    };
}

catalogue! {
    S01 "syntax-error" Error;
    S02 "unknown-key" Error;
    S03 "duplicate-key" Error;
    S04 "invalid-value" Error;
    S05 "unsupported-version" Error;
    S06 "name-mismatch" Warn;
    S07 "yaml-trap" Warn;
    S08 "unreadable-file" Error;
    S09 "missing-key" Error;
    S10 "limit-exceeded" Error;
    S11 "suppression-without-reason" Warn;
    S12 "unused-suppression" Warn;
    S13 "invalid-suppression" Warn;
    A01 "unknown-to" Error;
    A02 "unknown-from" Error;
    A03 "from-terminal" Error;
    A04 "unknown-prompt" Error;
    A05 "unknown-respawn-prompt" Error;
    A06 "unknown-then" Error;
    A07 "ambiguous-transitions" Error;
    A08 "when-syntax" Error;
    A09 "then-when-gap" Error;
    A10 "undecided" Warn;
    A11 "name-collision" Error;
    A12 "unknown-state" Error;
    A13 "false-wait" Error;
    A14 "terminal-initial" Error;
    A15 "command-not-final" Error;
    A16 "hook-failure-target" Error;
    A17 "unknown-gate" Error;
    A18 "pointless-deadline" Error;
    A19 "inconsistent-reviewers" Error;
    B01 "cycle" Error;
    B02 "unknown-dep" Error;
    B03 "duplicate-step" Error;
    B04 "condition-syntax" Error;
    B05 "condition-unknown-step" Error;
    B06 "condition-unknown-field" Error;
    B07 "condition-not-ancestor" Error;
    B13 "loop-unbounded" Error;
    B16 "unknown-role" Error;
    B18 "missing-prompt-file" Error;
    B19 "unknown-template-var" Error;
    B26 "handler-misplaced" Error;
    B27 "requeue-not-upstream" Error;
    C40 "exit-target-illegal" Deny;
    C46 "crash-no-stuck" Warn;
    C4D "bad-threshold" Deny;
    C84 "unknown-placeholder" Warn;
}

impl Check {
    /// True if it has this code, in any case, or this name.
    pub fn is(&self, code_or_name: &str) -> bool {
        self.code.eq_ignore_ascii_case(code_or_name) || self.name == code_or_name
    }
}
