//! `sandbox`: what a workflow demands of the confinement of agents.

use orange_core::wall::{Demand, GitAccess, Level, Network, WorktreeAccess};

use super::decoder::{Decoder, Field};
use super::keys::CONFINEMENT;
use super::{Hook, Spawn, StateId, Workflow};
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::span::Span;
use crate::syntax::NodeKind;

const LEVELS: [(&str, Level); 2] = [(Level::Off.as_str(), Level::Off), (Level::Wall.as_str(), Level::Wall)];

/// Demands on the confinement of agents, as they are written.
#[derive(Clone, Copy, Debug)]
pub struct WrittenSandbox {
    /// The key and its value.
    pub span: Span,
    /// The demands. Those on the inside of a wall demand the wall, too.
    pub demand: Demand,
}

impl Workflow {
    /// The demand on an agent that is started for this state by this hook, or again without one.
    pub fn demand(&self, state: StateId, spawn: Option<&Spawn>) -> Demand {
        let of_state = self.states.get(usize::from(state.0)).and_then(|it| it.sandbox);
        joined([self.sandbox, of_state, spawn.and_then(|it| it.sandbox)])
    }

    /// Every `sandbox` of the file: that of the workflow, of its states, and of its hooks.
    pub fn sandboxes(&self) -> impl Iterator<Item = &WrittenSandbox> {
        let hooks = self.transitions.iter().flat_map(|it| &it.hooks);
        let of_hooks = hooks.filter_map(|it: &Hook| it.spawn.as_ref()?.sandbox.as_ref());
        self.sandbox.iter().chain(self.states.iter().filter_map(|it| it.sandbox.as_ref())).chain(of_hooks)
    }
}

/// The demand that meets all of these.
pub(super) fn joined(all: impl IntoIterator<Item = Option<WrittenSandbox>>) -> Demand {
    all.into_iter().flatten().fold(Demand::NONE, |demand, it| demand.and(it.demand))
}

/// A level in a word, or a mapping with several demands.
pub(super) fn sandbox(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<WrittenSandbox> {
    let demand = if matches!(field.value.kind, NodeKind::Mapping(_)) {
        several(decoder, field)?
    } else {
        Demand { level: level(decoder, field)?, ..Demand::NONE }
    };
    Some(WrittenSandbox { span: field.key.to(field.value.span), demand })
}

fn level(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Level> {
    // `off` is a word of the language, which YAML 1.1 would read as a truth value.
    if let Some((_, level)) = LEVELS.iter().find(|(word, _)| field.value.text() == Some(*word)) {
        return Some(*level);
    }
    let found = decoder.word_or(field, &LEVELS, |word| {
        (word == "own").then(|| "the sandbox of a harness is a setting of the harness".to_owned())
    });
    found.map(|it| it.value)
}

fn several(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Demand> {
    let fields = decoder.object(field.value, &CONFINEMENT)?;
    let written = fields.get("level");
    let git = fields.get("git").and_then(|it| decoder.word(&it, &GitAccess::ALL.map(|it| (it.as_str(), it))));
    let networks = [Network::None, Network::Model, Network::Listed].map(|it| (it.as_str(), it));
    let network = fields.get("network").and_then(|it| {
        decoder.word_or(&it, &networks, |word| {
            (word == Network::Open.as_str())
                .then(|| "only a person opens the network, with `sandbox.network` of the project".to_owned())
        })
    });
    let worktree = fields
        .get("worktree")
        .and_then(|it| decoder.word(&it, &WorktreeAccess::ALL.map(|it| (it.as_str(), it))));
    let level = written.as_ref().map(|it| level(decoder, it));
    let inside = ["git", "network", "worktree"].into_iter().find_map(|it| fields.get(it));
    match (&inside, level) {
        (Some(inside), Some(Some(Level::Off))) => {
            let message = format!("`{}` is about the inside of a wall, and `level` is `off`", inside.name);
            let found = Diagnostic::new(&S04, inside.key, message);
            decoder.report(found.help("write `level: wall`, or delete this key"));
        }
        (None, None) => {
            let found = Diagnostic::new(&S04, field.value.span, "`sandbox` demands nothing");
            decoder.report(found.help("write `sandbox: wall`, or `sandbox: {level: wall, network: model}`"));
        }
        (Some(_) | None, _) => {}
    }
    let level = match level {
        Some(level) => level?,
        None => Level::Wall,
    };
    Some(Demand {
        level,
        git: git.map(|it| it.value),
        network: network.map(|it| it.value),
        worktree: worktree.map(|it| it.value),
    })
}

#[cfg(test)]
mod tests {
    use orange_core::wall::{Demand, GitAccess, Level, Network, WorktreeAccess};

    use crate::lower::{Arena, PlanArena, lower, lower_plan};
    use crate::{Source, compile};

    fn machine(file: &str, state: &str, hook: &str) -> Source {
        let text = format!(
            "name: w\n{file}states:\n  a: {{}}\n  b: {{respawn_prompt: p{state}}}\n  c: {{terminal: true}}\ntransitions:\n\
             - {{from: a, to: b, hooks: [{{action: spawn_agent, prompt: p{hook}}}]}}\n- {{from: b, to: [a, c]}}\nprompts: {{p: go}}\n"
        );
        Source::new("w.yml", text)
    }

    /// The demands on the agent of the hook and on the one that is started again.
    #[track_caller]
    fn demands(file: &str, state: &str, hook: &str) -> [Demand; 2] {
        let compiled = compile(&machine(file, state, hook));
        let checked = compiled.checked.as_ref().unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        let arena = Arena::default();
        let machine = lower(checked, &arena).unwrap();
        let first = machine.transitions.iter().flat_map(|it| it.hooks).find_map(|it| it.spawn);
        let again = machine.states.iter().find_map(|it| it.respawn).and_then(|it| it.spawn);
        [first, again].map(|it| it.unwrap().sandbox)
    }

    #[test]
    fn the_strictest_of_file_state_and_hook_holds() {
        let wall = Demand { level: Level::Wall, ..Demand::NONE };
        let cases = [
            ("", "", "", Demand::NONE),
            ("", "", ", sandbox: off", Demand::NONE),
            ("sandbox: wall\n", "", "", wall),
            ("", ", sandbox: wall", "", wall),
            ("", "", ", sandbox: wall", wall),
            ("sandbox: wall\n", ", sandbox: off", ", sandbox: {level: off}", wall),
            (
                "sandbox: {level: wall, network: listed}\n",
                ", sandbox: {git: read, network: model}",
                ", sandbox: {git: own, worktree: read}",
                Demand {
                    git: Some(GitAccess::Read),
                    network: Some(Network::Model),
                    worktree: Some(WorktreeAccess::Read),
                    ..wall
                },
            ),
            ("", ", sandbox: {network: none}", "", Demand { network: Some(Network::None), ..wall }),
        ];
        for (file, state, hook, expect) in cases {
            assert_eq!(demands(file, state, hook), [expect; 2], "{file} {state} {hook}");
        }
    }

    #[track_caller]
    fn check(file: &str, expect: &[(&str, &str)]) {
        let found = compile(&machine(file, "", "")).diagnostics;
        let found: Vec<_> = found.iter().map(|it| (&*it.message, it.help.as_deref().unwrap_or(""))).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn words_without_a_meaning_are_reported() {
        check(
            "sandbox: own\n",
            &[(
                "unknown value `own` of `sandbox`",
                "the values of `sandbox` are `off`, `wall`; the sandbox of a harness is a setting of the harness",
            )],
        );
        check(
            "sandbox: {network: open}\n",
            &[(
                "unknown value `open` of `network`",
                "the values of `network` are `none`, `model`, `listed`; only a person opens the network, with `sandbox.network` of the project",
            )],
        );
        check(
            "sandbox: {level: off, git: read}\n",
            &[(
                "`git` is about the inside of a wall, and `level` is `off`",
                "write `level: wall`, or delete this key",
            )],
        );
        check(
            "sandbox: {}\n",
            &[(
                "`sandbox` demands nothing",
                "write `sandbox: wall`, or `sandbox: {level: wall, network: model}`",
            )],
        );
        check("sandbox: {level: wal}\n", &[("unknown value `wal` of `level`", "did you mean `wall`?")]);
        check(
            "sandbox: {read: ['~/.cargo']}\n",
            &[
                (
                    "`sandbox` demands nothing",
                    "write `sandbox: wall`, or `sandbox: {level: wall, network: model}`",
                ),
                (
                    "unknown key `read` in `sandbox`",
                    "the keys of `sandbox` are `level`, `git`, `network`, `worktree`",
                ),
            ],
        );
    }

    #[test]
    fn a_reviewer_has_no_private_repository() {
        let found = |hook: &str| -> Vec<String> {
            compile(&machine("", "", hook)).diagnostics.iter().map(|it| it.message.clone()).collect()
        };
        let message = "a reviewer reads the repository of the project, and has no private one";
        assert_eq!(found(", as: reviewer, sandbox: {git: own}"), [message]);
        assert!(found(", as: reviewer, sandbox: {git: read}").is_empty());
    }

    #[test]
    fn steps_have_the_demands_of_file_and_role() {
        let text = r#"
[workflow]
name = "w"
sandbox = "wall"
[roles.reviewer]
sandbox = { git = "read" }
[[steps]]
id = "one"
prompt = "Do it."
[[steps]]
id = "two"
depends_on = ["one"]
role = "reviewer"
prompt = "Look."
sandbox = { git = "own", network = "model" }
"#;
        let compiled = compile(&Source::new("w.toml", text));
        let checked = compiled.checked.as_ref().unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        let arena = PlanArena::default();
        let plan = lower_plan(checked, &arena).unwrap();
        let wall = Demand { level: Level::Wall, ..Demand::NONE };
        let strict = Demand { git: Some(GitAccess::Read), network: Some(Network::Model), ..wall };
        let demands: Vec<_> = plan.steps.iter().map(|it| it.sandbox).collect();
        assert_eq!(demands, [wall, strict]);
    }
}
