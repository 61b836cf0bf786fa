//! `MACHINE`: the tables as statics.

use orange_core::budget::BudgetKind;
use orange_core::wall::{Demand, GitAccess, Level, Network, WorktreeAccess};
use orange_core::{
    Actor, ActorId, Actors, Budget, Commands, Condition, Deadline, Delegates, Ending, ExitRule, FactKind,
    Fields, Gate, Guard, HarnessOf, Hook, OnFailure, Outcome, Permissions, Piece, Program, Prompt, Range,
    Role, SectionGate, Spawn, State, StateId, Transition, Value, Verdict, VerdictOf, WatchRule, Workspace,
};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::{Emission, text};

pub(super) fn tables(emission: &Emission<'_>) -> TokenStream {
    let machine = emission.machine;
    let states = table("STATES", quote!(State), machine.states.iter().map(|it| state(emission, it)));
    let counters = table(
        "COUNTERS",
        quote!(Counter),
        machine.counters.iter().map(|counter| {
            let (name, default) = (counter.name, Literal::u32_unsuffixed(counter.default));
            quote!(orange::Counter { name: #name, default: #default })
        }),
    );
    let transitions = table(
        "TRANSITIONS",
        quote!(Transition),
        machine.transitions.iter().map(|it| transition(emission, it)),
    );
    let exit_rules = table(
        "EXIT_RULE_TABLE",
        quote!(ExitRule),
        machine.exit_rules.iter().map(|it| exit_rule(emission, it)),
    );
    let watch = table("WATCH", quote!(WatchRule), machine.watch.iter().map(|it| watch_rule(emission, it)));
    let prompts = table("PROMPTS", quote!(Prompt), machine.prompts.iter().map(prompt));
    let fields = fields(emission);
    quote! {
        /// The tables of the workflow.
        pub static MACHINE: orange::Machine<'static> = orange::Machine { #fields };

        #states
        #counters
        #transitions
        #exit_rules
        #watch
        #prompts
    }
}

fn fields(emission: &Emission<'_>) -> TokenStream {
    let machine = emission.machine;
    let version = Literal::u32_unsuffixed(machine.version);
    let description = text::lines(machine.description);
    let initial = state_id(emission, machine.initial);
    let declared = machine.actors;
    let rows = machine.rows.iter().map(|row| Literal::u32_unsuffixed(*row));
    let commands = commands(emission, &machine.commands);
    let poll_interval = Literal::u32_unsuffixed(machine.poll_interval);
    let budget = budget(machine.budget);
    quote! {
        name: NAME,
        version: #version,
        description: #description,
        source_hash: SOURCE_HASH,
        prompts_hash: PROMPTS_HASH,
        states: &STATES,
        initial: #initial,
        counters: &COUNTERS,
        actors: &[#(#declared),*],
        transitions: &TRANSITIONS,
        rows: &[#(#rows),*],
        exit_rules: &EXIT_RULE_TABLE,
        watch: &WATCH,
        prompts: &PROMPTS,
        commands: #commands,
        poll_interval: #poll_interval,
        budget: #budget,
    }
}

fn table(name: &str, of: TokenStream, entries: impl ExactSizeIterator<Item = TokenStream>) -> TokenStream {
    let name = format_ident!("{name}");
    let count = text::number(entries.len());
    quote!(static #name: [orange::#of<'static>; #count] = [#(#entries),*];)
}

fn state(emission: &Emission<'_>, state: &State<'_>) -> TokenStream {
    let State { name, terminal, waits_for_human, entry, .. } = state;
    let description = text::lines(state.description);
    let respawn = option(state.respawn.as_ref().map(|it| hook(emission, it)));
    let agent = actor(state.agent);
    let delegates = option(state.delegates.as_ref().map(delegates));
    let budget = budget(state.budget);
    quote! {
        orange::State {
            name: #name,
            description: #description,
            terminal: #terminal,
            waits_for_human: #waits_for_human,
            entry: #entry,
            respawn: #respawn,
            agent: #agent,
            delegates: #delegates,
            budget: #budget,
        }
    }
}

/// A budget; kinds without a limit are left out.
pub(super) fn budget(budget: Budget) -> TokenStream {
    let limits = BudgetKind::ALL.into_iter().filter_map(|kind| {
        let (name, value) = (format_ident!("{}", kind.as_str()), Literal::u64_unsuffixed(budget.get(kind)?));
        Some(quote!(#name: Some(#value),))
    });
    let limits: Vec<TokenStream> = limits.collect();
    if limits.is_empty() {
        return quote!(orange::Budget::NONE);
    }
    quote!(orange::Budget { #(#limits)* ..orange::Budget::NONE })
}

fn delegates(delegates: &Delegates<'_>) -> TokenStream {
    let [most, depth] = [delegates.most, delegates.depth].map(Literal::u32_unsuffixed);
    let workflow = option(delegates.workflow.map(|it| text::lines(it).to_token_stream()));
    let into = format_ident!("{}", format!("{:?}", delegates.into));
    quote! {
        orange::Delegates { most: #most, depth: #depth, workflow: #workflow, into: orange::DelegateInto::#into }
    }
}

fn transition(emission: &Emission<'_>, transition: &Transition<'_>) -> TokenStream {
    let [from, to] = [transition.from, transition.to].map(|it| state_id(emission, it));
    let by = actors(transition.by);
    let cause = option(transition.cause.map(fact_kind));
    let guard = option(transition.guard.as_ref().map(guard));
    let gates = gates(transition.gates);
    let hooks = transition.hooks.iter().map(|it| hook(emission, it));
    let on_hook_failure = option(transition.on_hook_failure.map(|it| state_id(emission, it)));
    quote! {
        orange::Transition {
            from: #from,
            to: #to,
            by: #by,
            cause: #cause,
            guard: #guard,
            gates: #gates,
            hooks: &[#(#hooks),*],
            on_hook_failure: #on_hook_failure,
        }
    }
}

fn guard(guard: &Guard<'_>) -> TokenStream {
    let text = text::lines(guard.text);
    let any_of = guard.any_of.iter().map(|ranges| {
        let ranges = ranges.iter().map(range);
        quote!(&[#(#ranges),*])
    });
    quote!(orange::Guard { text: #text, any_of: &[#(#any_of),*] })
}

fn range(range: &Range) -> TokenStream {
    let counter = Literal::u16_unsuffixed(range.counter.0);
    let [low, high] = [range.low, range.high].map(|bound| match bound {
        u32::MAX => quote!(u32::MAX),
        _ => {
            let bound = Literal::u32_unsuffixed(bound);
            quote!(#bound)
        }
    });
    quote!(orange::Range { counter: orange::CounterId(#counter), low: #low, high: #high })
}

fn gates(gates: &[Gate<'_>]) -> TokenStream {
    let each = gates.iter().map(|gate| match gate {
        Gate::Section(gate) => {
            let gate = section_gate(gate);
            quote!(orange::Gate::Section(#gate))
        }
        Gate::AnySection(gates) => {
            let gates = gates.iter().map(section_gate);
            quote!(orange::Gate::AnySection(&[#(#gates),*]))
        }
        Gate::Command(it) => {
            let program = program(it);
            quote!(orange::Gate::Command(#program))
        }
        Gate::OnMerge(it) => {
            let program = program(it);
            quote!(orange::Gate::OnMerge(#program))
        }
        Gate::Checks => quote!(orange::Gate::Checks),
        Gate::Children(wanted) => {
            let wanted = format_ident!("{}", format!("{wanted:?}"));
            quote!(orange::Gate::Children(orange::OpenChildren::#wanted))
        }
    });
    quote!(&[#(#each),*])
}

fn program(Program { argv, timeout }: &Program<'_>) -> TokenStream {
    let argv = argv.iter().map(|argument| text::lines(argument));
    let timeout = Literal::u32_unsuffixed(*timeout);
    quote!(orange::Program { argv: &[#(#argv),*], timeout: #timeout })
}

fn section_gate(gate: &SectionGate<'_>) -> TokenStream {
    let SectionGate { required, strict, fields, fresh, .. } = gate;
    let section = text::lines(gate.section);
    let reviewer = option(gate.reviewer.map(|name| quote!(#name)));
    let verdict = option(gate.verdict.map(|verdict| match verdict {
        Verdict::PASS => quote!(orange::Verdict::PASS),
        Verdict::FAIL => quote!(orange::Verdict::FAIL),
        verdict => {
            let word = verdict.as_str();
            quote!(orange::Verdict::new(#word))
        }
    }));
    let verdicts = gate.verdicts;
    let of = option(gate.of.map(|of| match of {
        VerdictOf::Patch => quote!(orange::VerdictOf::Patch),
        VerdictOf::Commit => quote!(orange::VerdictOf::Commit),
    }));
    let fields = match fields {
        Fields::Any(names) => quote!(Any(&[#(#names),*])),
        Fields::All([]) => quote!(NONE),
        Fields::All(names) => quote!(All(&[#(#names),*])),
    };
    quote! {
        orange::SectionGate {
            section: #section,
            required: #required,
            verdict: #verdict,
            verdicts: &[#(#verdicts),*],
            strict: #strict,
            fields: orange::Fields::#fields,
            fresh: #fresh,
            of: #of,
            reviewer: #reviewer,
        }
    }
}

fn hook(emission: &Emission<'_>, hook: &Hook<'_>) -> TokenStream {
    let action = format_ident!("{}", format!("{:?}", hook.action));
    let text = |text: &str| (!text.is_empty()).then(|| text::lines(text));
    let spawn = hook.spawn.as_ref().map(|it| option(Some(spawn(emission, it))));
    let counter = hook.counter.map(|counter| {
        let counter = Literal::u16_unsuffixed(counter.0);
        quote!(Some(orange::CounterId(#counter)))
    });
    let argv = hook.argv.iter().map(|argument| text::lines(argument));
    let argv = (!hook.argv.is_empty()).then(|| quote!(&[#(#argv),*]));
    let timeout = (hook.timeout > 0).then(|| Literal::u32_unsuffixed(hook.timeout));
    // What the action's own traits say is not written.
    let on_failure = (hook.on_failure != hook.action.traits().on_failure).then(|| match hook.on_failure {
        OnFailure::Stop => quote!(orange::OnFailure::Stop),
        OnFailure::GoOn => quote!(orange::OnFailure::GoOn),
    });
    let parameters: TokenStream = [
        entry("spawn", spawn),
        entry("counter", counter),
        entry("message", text(hook.message)),
        entry("field", text(hook.field)),
        entry("value", text(hook.value)),
        entry("argv", argv),
        entry("timeout", timeout),
        entry("on_failure", on_failure),
    ]
    .into_iter()
    .collect();
    let bare = quote!(orange::Hook::new(orange::Action::#action));
    if parameters.is_empty() { bare } else { quote!(orange::Hook { #parameters ..#bare }) }
}

/// A part of a struct, if there is anything to say of it.
fn entry(name: &str, value: Option<impl ToTokens>) -> TokenStream {
    let name = format_ident!("{name}");
    value.map(|value| quote!(#name: #value,)).unwrap_or_default()
}

fn spawn(emission: &Emission<'_>, spawn: &Spawn<'_>) -> TokenStream {
    let prompt = &emission.prompts[usize::from(spawn.prompt.0)];
    let role = match spawn.role {
        Role::Worker => quote!(Worker),
        Role::Reviewer => quote!(Reviewer),
    };
    let harness = match spawn.harness {
        HarnessOf::Task => quote!(Task),
        HarnessOf::Review => quote!(Review),
        HarnessOf::Named(name) => quote!(Named(#name)),
    };
    let permissions = match spawn.permissions {
        Permissions::Full => quote!(Full),
        Permissions::Reduced => quote!(Reduced),
    };
    let usual = quote!(orange::Spawn::new(
        Prompt::#prompt.id(),
        orange::Role::#role,
        orange::Permissions::#permissions,
    ));
    // What follows from the role is not written.
    let harness = (spawn.harness != spawn.role.harness()).then(|| quote!(orange::HarnessOf::#harness));
    let text = |text: Option<&str>| text.map(|text| quote!(Some(#text)));
    let workspace = match spawn.workspace {
        Workspace::Worktree => None,
        Workspace::Folder => Some(quote!(orange::Workspace::Folder)),
    };
    let said: TokenStream = [
        entry("harness", harness),
        entry("model", text(spawn.model)),
        entry("effort", text(spawn.effort)),
        entry("workspace", workspace),
        entry("reviewer", text(spawn.reviewer)),
        entry("sandbox", demand(spawn.sandbox)),
    ]
    .into_iter()
    .collect();
    if said.is_empty() { usual } else { quote!(orange::Spawn { #said ..#usual }) }
}

/// A demand on the confinement of an agent, if there is one.
pub(super) fn demand(demand: Demand) -> Option<TokenStream> {
    let git = demand.git.map(|it| match it {
        GitAccess::None => quote!(Some(orange::wall::GitAccess::None)),
        GitAccess::Read => quote!(Some(orange::wall::GitAccess::Read)),
        GitAccess::Own => quote!(Some(orange::wall::GitAccess::Own)),
    });
    let network = demand.network.map(|it| match it {
        Network::None => quote!(Some(orange::wall::Network::None)),
        Network::Model => quote!(Some(orange::wall::Network::Model)),
        Network::Listed => quote!(Some(orange::wall::Network::Listed)),
        Network::Open => quote!(Some(orange::wall::Network::Open)),
    });
    let worktree = demand.worktree.map(|it| match it {
        WorktreeAccess::Read => quote!(Some(orange::wall::WorktreeAccess::Read)),
        WorktreeAccess::Write => quote!(Some(orange::wall::WorktreeAccess::Write)),
    });
    let level = match demand.level {
        Level::Off => None,
        Level::Wall => Some(quote!(orange::wall::Level::Wall)),
    };
    let said: TokenStream =
        [entry("level", level), entry("git", git), entry("network", network), entry("worktree", worktree)]
            .into_iter()
            .collect();
    (!demand.is_none()).then(|| quote!(orange::wall::Demand { #said ..orange::wall::Demand::NONE }))
}

fn exit_rule(emission: &Emission<'_>, rule: &ExitRule<'_>) -> TokenStream {
    let state = state_id(emission, rule.state);
    let condition = match &rule.condition {
        Condition::Always => quote!(Always),
        Condition::Spent => quote!(Spent),
        Condition::Artifact(it) => {
            let gates = gates(it);
            quote!(Artifact(#gates))
        }
        Condition::NoArtifact => quote!(NoArtifact),
        Condition::Ended(it) => {
            let ending = ending(it);
            quote!(Ended(#ending))
        }
        Condition::Overdue(Deadline { states, after }) => {
            let states = states.iter().map(|it| state_id(emission, *it));
            let after = Literal::u32_unsuffixed(*after);
            quote!(Overdue(orange::Deadline { states: &[#(#states),*], after: #after }))
        }
    };
    let outcome = outcome(emission, &rule.outcome);
    quote! {
        orange::ExitRule {
            state: #state,
            condition: orange::Condition::#condition,
            outcome: orange::Outcome::#outcome,
        }
    }
}

fn outcome(emission: &Emission<'_>, outcome: &Outcome<'_>) -> TokenStream {
    match outcome {
        Outcome::Then(to) => {
            let to = state_id(emission, *to);
            quote!(Then(#to))
        }
        Outcome::ThenWhen(clauses) => {
            let clauses = clauses.iter().map(|(when, to)| {
                let (when, to) = (guard(when), state_id(emission, *to));
                quote!((#when, #to))
            });
            quote!(ThenWhen(&[#(#clauses),*]))
        }
        Outcome::Crash { stuck_after, respawn } => {
            let stuck_after = Literal::u32_unsuffixed(*stuck_after);
            quote!(Crash { stuck_after: #stuck_after, respawn: #respawn })
        }
        Outcome::MarkDead => quote!(MarkDead),
        Outcome::Wait { resume_after } => {
            let resume_after = Literal::u32_unsuffixed(*resume_after);
            quote!(Wait { resume_after: #resume_after })
        }
    }
}

fn watch_rule(emission: &Emission<'_>, rule: &WatchRule<'_>) -> TokenStream {
    let state = state_id(emission, rule.state);
    let fact = format_ident!("{}", format!("{:?}", rule.fact));
    let guard = option(rule.guard.as_ref().map(guard));
    let rerun = Literal::u8_unsuffixed(rule.rerun);
    let outcome = outcome(emission, &rule.outcome);
    quote! {
        orange::WatchRule {
            state: #state,
            fact: orange::Fact::#fact,
            guard: #guard,
            rerun: #rerun,
            outcome: orange::Outcome::#outcome,
        }
    }
}

fn fact_kind(kind: FactKind) -> TokenStream {
    let kind = format_ident!("{}", format!("{kind:?}"));
    quote!(orange::FactKind::#kind)
}

fn ending(ending: &Ending<'_>) -> TokenStream {
    let numbers = |key: &str, numbers: &[i32]| {
        let (key, items) = (format_ident!("{key}"), numbers.iter().map(|it| Literal::i32_unsuffixed(*it)));
        (!numbers.is_empty()).then(|| quote!(#key: &[#(#items),*],))
    };
    let (codes, signals) = (numbers("codes", ending.codes), numbers("signals", ending.signals));
    let output = ending.output.map(text::lines).map(|it| quote!(output: Some(#it),));
    let after = ending.after.map(Literal::u32_unsuffixed).map(|it| quote!(after: Some(#it),));
    let is_whole = codes.is_some() && signals.is_some() && output.is_some() && after.is_some();
    let rest = (!is_whole).then(|| quote!(..orange::Ending::ANY));
    quote!(orange::Ending { #codes #signals #output #after #rest })
}

fn prompt(prompt: &Prompt<'_>) -> TokenStream {
    let name = prompt.name;
    let pieces = prompt.pieces.iter().map(|piece| match piece {
        Piece::Text(it) => {
            let lines = text::lines(it);
            quote!(orange::Piece::Text(#lines))
        }
        Piece::Value(it) => {
            let value = value(it);
            quote!(orange::Piece::Value(orange::Value::#value))
        }
    });
    quote!(orange::Prompt { name: #name, pieces: &[#(#pieces),*] })
}

fn value(value: &Value) -> TokenStream {
    match value {
        Value::Summary => quote!(Summary),
        Value::Project => quote!(Project),
        Value::Branch => quote!(Branch),
        Value::Status => quote!(Status),
        Value::Id => quote!(Id),
        Value::Workflow => quote!(Workflow),
        Value::Base => quote!(Base),
        Value::Orange => quote!(Orange),
        Value::Reviewer => quote!(Reviewer),
        Value::Port => quote!(Port),
        Value::Counter(counter) => {
            let counter = Literal::u16_unsuffixed(counter.0);
            quote!(Counter(orange::CounterId(#counter)))
        }
    }
}

fn commands(emission: &Emission<'_>, commands: &Commands) -> TokenStream {
    let Commands { spawn, clarify, review, merge, cancel, crash } = *commands;
    let [spawn, clarify, review, merge, cancel, crash] = [spawn, clarify, review, merge, cancel, crash]
        .map(|state| option(state.map(|it| state_id(emission, it))));
    quote! {
        orange::Commands {
            spawn: #spawn,
            clarify: #clarify,
            review: #review,
            merge: #merge,
            cancel: #cancel,
            crash: #crash,
        }
    }
}

fn actors(actors: Actors) -> TokenStream {
    if actors == Actors::ANYONE {
        return quote!(orange::Actors::ANYONE);
    }
    let each = actors.iter().map(actor);
    quote!(orange::Actors::NONE #(.with(#each))*)
}

fn actor(actor: Actor) -> TokenStream {
    match actor {
        Actor::Worker => quote!(orange::Actor::Worker),
        Actor::Reviewer => quote!(orange::Actor::Reviewer),
        Actor::Human => quote!(orange::Actor::Human),
        Actor::Engine => quote!(orange::Actor::Engine),
        Actor::Declared(ActorId(id)) => {
            let id = Literal::u8_unsuffixed(id);
            quote!(orange::Actor::Declared(orange::ActorId(#id)))
        }
    }
}

fn state_id(emission: &Emission<'_>, id: StateId) -> TokenStream {
    let state = emission.state(id);
    quote!(State::#state.id())
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(Some(#value)),
        None => quote!(None),
    }
}
