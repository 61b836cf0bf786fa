//! Every life that is tried, and with which harnesses.

mod at_once;
mod delegation;
mod doing;
mod faults;
mod fleet;
mod hangs;
mod mcp;
mod missions;
mod others;
mod people;
mod refused;
mod resume;
mod sandbox;
mod wall;
mod workflows;

use crate::suite::LifeSuite;

/// The harness that works and the one that reviews.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HarnessPair(pub(crate) &'static str, pub(crate) &'static str);

/// A life that is tried.
pub(crate) struct Life {
    name: &'static str,
    pub(crate) pairs: &'static [HarnessPair],
    pub(crate) live: fn(&'static LifeSuite, HarnessPair),
}

/// Each harness alone.
const EACH: &[HarnessPair] = &[
    HarnessPair("claude", "claude"),
    HarnessPair("codex", "codex"),
    HarnessPair("opencode", "opencode"),
    HarnessPair("pi", "pi"),
];

/// The one that cannot continue a conversation.
const OPENCODE: &[HarnessPair] = &[HarnessPair("opencode", "opencode")];

/// The one that is answered on its screen alone.
const CODEX: &[HarnessPair] = &[HarnessPair("codex", "codex")];

/// One that works while a person decides.
const ASKED: &[HarnessPair] = &[HarnessPair("claude", "claude")];

/// Those whose permissions can be answered from outside.
const ANSWERED: &[HarnessPair] = &[HarnessPair("claude", "claude"), HarnessPair("opencode", "opencode")];

/// One that works, another that reviews.
const MIXED: &[HarnessPair] = &[
    HarnessPair("opencode", "pi"),
    HarnessPair("pi", "opencode"),
    HarnessPair("claude", "codex"),
    HarnessPair("codex", "claude"),
];

/// Those that ask before they start, unless a person has agreed once.
const ASKING: &[HarnessPair] = &[HarnessPair("claude", "codex")];

/// Those that ask before they start, report what they do, and have a sandbox.
const REPORTING: &[HarnessPair] = &[HarnessPair("claude", "claude"), HarnessPair("codex", "codex")];

/// Those that keep a log of their conversations, which says more than a screen.
const LOGGED: &[HarnessPair] =
    &[HarnessPair("claude", "claude"), HarnessPair("codex", "codex"), HarnessPair("pi", "pi")];

/// Every life.
pub(crate) const LIVES: &[Life] = &[
    Life { name: "default", pairs: EACH, live: workflows::default },
    Life { name: "default, reviewed by another", pairs: MIXED, live: workflows::default },
    Life { name: "minimal", pairs: EACH, live: workflows::minimal },
    Life { name: "persistent: FAIL, fix, PASS", pairs: EACH, live: workflows::persistent },
    Life { name: "default: FAIL, fix, PASS", pairs: EACH, live: workflows::fail_fix_pass },
    Life { name: "split: a part is merged into the whole", pairs: REPORTING, live: delegation::split },
    Life { name: "three tasks at once", pairs: EACH, live: at_once::three },
    Life { name: "two tasks at once for each way to pair them", pairs: ASKING, live: at_once::two_for_each },
    Life { name: "cancel while another works", pairs: EACH, live: at_once::cancel_one },
    Life { name: "one that goes no further says why", pairs: EACH, live: hangs::says_why },
    Life { name: "killed and started again", pairs: OPENCODE, live: faults::killed },
    Life { name: "limits, overload, a lost stream", pairs: EACH, live: faults::troubled },
    Life { name: "a limit of the account", pairs: REPORTING, live: faults::used_up },
    Life { name: "out of context", pairs: EACH, live: faults::out_of_context },
    Life { name: "killed, its conversation continued", pairs: LOGGED, live: resume::continued },
    Life { name: "review in a sandbox, headless", pairs: REPORTING, live: sandbox::headless },
    Life { name: "tools of the protocol", pairs: REPORTING, live: mcp::tools },
    Life { name: "dev-task: PASS at once, step by step", pairs: EACH, live: missions::pass_at_once },
    Life { name: "dev-task: FAIL, fix, PASS", pairs: EACH, live: missions::fail_fix_pass },
    Life { name: "dev-task: exhausted", pairs: REPORTING, live: missions::exhausted },
    Life { name: "takt-magi: three judge side by side", pairs: REPORTING, live: others::panel },
    Life { name: "design-and-code: a person approves", pairs: ASKED, live: others::approvals },
    Life { name: "dev-task through crabs: FAIL, fix, PASS", pairs: EACH, live: fleet::fail_fix_pass },
    Life { name: "a fresh home", pairs: REPORTING, live: refused::fresh_home },
    Life { name: "review in a sandbox", pairs: REPORTING, live: sandbox::interactive },
    Life { name: "three at once in a wall: FAIL, fix, PASS", pairs: REPORTING, live: wall::three },
    Life { name: "says what it does", pairs: EACH, live: doing::reported },
    Life { name: "permissions are asked for and answered", pairs: ANSWERED, live: doing::answered },
    Life { name: "answers are typed where a project allows it", pairs: CODEX, live: doing::typed },
    Life { name: "a person answers questions", pairs: EACH, live: people::clarification },
    Life { name: "sessions of one's own survive", pairs: EACH, live: people::own_sessions },
];

impl Life {
    /// The name with its harnesses: `default: FAIL, fix, PASS [claude]`.
    pub(crate) fn name_with(&self, HarnessPair(worker, reviewer): HarnessPair) -> String {
        let with = if worker == reviewer { worker.to_owned() } else { format!("{worker} and {reviewer}") };
        format!("{} [{with}]", self.name)
    }
}
