//! `Step`, `Role`, the results of steps and `PLAN`: what stands in the module of a step workflow.

use std::collections::HashMap;

use orange_core::Permissions;
use orange_core::plan::{
    self, Ask, Comparison, Effort, Execution, FanOut, Field, Input, Intervene, ItemList, Items, Operand,
    Output, Plan, Policy, Relation, RoleId, Step, StepCondition, StepGate, StepId, StepPiece, StepPrompt,
    StepTest, StepValue, ValueType, WorktreeUse,
};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::named::{NamedEnum, Number};
use super::{outputs, tables, text};
use crate::names;

pub(super) fn contents(plan: &Plan<'_>) -> TokenStream {
    let emission = PlanEmission::new(plan);
    let enums = emission.enums();
    let functions = emission.functions();
    let tables = emission.tables();
    quote!(#enums #functions #tables)
}

/// One plan, and what everything in it is called in Rust.
struct PlanEmission<'e> {
    plan: &'e Plan<'e>,
    steps: Vec<Ident>,
    roles: Vec<Ident>,
}

impl<'e> PlanEmission<'e> {
    fn new(plan: &'e Plan<'e>) -> Self {
        let steps = idents(plan.steps.iter().map(|step| step.id));
        Self { plan, steps, roles: idents(plan.roles.iter().copied()) }
    }

    fn enums(&self) -> TokenStream {
        let steps = NamedEnum {
            ident: format_ident!("Step"),
            kind: "step",
            plural: "steps",
            doc: "The steps of the workflow, in the order of the source.".to_owned(),
            number: Some(Number { id: quote!(plan::StepId), repr: "u16" }),
            names: self.plan.steps.iter().map(|step| step.id).collect(),
            variants: &self.steps,
        };
        let roles = NamedEnum {
            ident: format_ident!("Role"),
            kind: "role",
            plural: "roles",
            doc: "The roles that may take steps, in the order of the tables.".to_owned(),
            number: Some(Number { id: quote!(plan::RoleId), repr: "u16" }),
            names: self.plan.roles.to_vec(),
            variants: &self.roles,
        };
        let [steps, roles] = [steps, roles].map(|it| it.tokens());
        let results =
            self.plan.steps.iter().filter(|step| !step.results.is_empty()).map(|step| self.results(step));
        let outputs = outputs::types(self.plan, &self.steps);
        quote!(#steps #roles #(#results)* #outputs)
    }

    /// The enum of the words that an attempt at this step may report.
    fn results(&self, step: &Step<'_>) -> TokenStream {
        let handler = step.on_fail.map(|it| self.plan.step(it)).filter(|it| it.results.is_empty());
        let handler = handler.map(|it| format!(", and one at `{}`, which handles its failure", it.id));
        let results = NamedEnum {
            ident: result(step),
            kind: &format!("result of `{}`", step.id),
            plural: "results",
            doc: format!("Possible results of an attempt at `{}`{}.", step.id, handler.unwrap_or_default()),
            number: None,
            names: step.results.to_vec(),
            variants: &idents(step.results.iter().copied()),
        };
        results.tokens()
    }

    /// The facts about each step, as exhaustive matches.
    fn functions(&self) -> TokenStream {
        let role = self.by_step(|_, step| {
            let role = &self.roles[usize::from(step.role.0)];
            quote!(Role::#role)
        });
        let depends_on = self.by_step(|_, step| {
            let steps = step.depends_on.iter().map(|it| self.step(*it));
            quote!(&[#(Self::#steps),*])
        });
        let on_fail = self.by_step(|_, step| {
            option(step.on_fail.map(|it| {
                let handler = self.step(it);
                quote!(Self::#handler)
            }))
        });
        let results = self.by_step(|id, step| {
            let declared = [Some(step), step.handles.map(|it| self.plan.step(it))]
                .into_iter()
                .flatten()
                .find(|it| !it.results.is_empty());
            debug_assert_eq!(declared.map_or(&[][..], |it| it.results), self.plan.results_of(id));
            match declared.map(result) {
                Some(results) => quote!(&#results::NAMES),
                None => quote!(&[]),
            }
        });
        let condition_holds = self.condition_holds();
        quote! {
            impl Step {
                /// The role that may take it.
                pub const fn role(self) -> Role {
                    #role
                }

                /// The steps that end before it is decided.
                pub const fn depends_on(self) -> &'static [Self] {
                    #depends_on
                }

                /// The step that handles its failure.
                pub const fn on_fail(self) -> Option<Self> {
                    #on_fail
                }

                /// The words that an attempt may report; empty when any word may be.
                pub const fn results(self) -> &'static [&'static str] {
                    #results
                }

                #condition_holds
            }
        }
    }

    /// The conditions as a function of what they read: of results and summaries where they read nothing else.
    fn condition_holds(&self) -> TokenStream {
        let mut conditions = self.plan.steps.iter().filter_map(|it| it.condition.as_ref());
        if conditions.any(|it| it.tests().iter().any(|it| it.items.is_some())) {
            return quote! {
                /// True if its condition holds with these answers of its tests; a step without a condition runs always. A test of a
                /// value that is not there has no answer.
                pub fn condition_holds(
                    self,
                    answer: &dyn Fn(&orange::plan::StepTest<'_>) -> Option<bool>,
                ) -> bool {
                    PLAN.step(self.id()).condition.is_none_or(|it| it.holds_by(answer))
                }
            };
        }
        if self.plan.steps.iter().filter_map(|it| it.condition.as_ref()).any(|it| equality(it).is_none()) {
            return quote! {
                /// True if its condition holds, given the value that `value` finds; a step without a condition runs always. A test of
                /// a value that is not there is not true.
                pub fn condition_holds<'r>(
                    self,
                    value: &dyn Fn(orange::plan::Operand) -> Option<orange::plan::ValueRef<'r>>,
                ) -> bool {
                    PLAN.step(self.id()).condition.is_none_or(|it| it.holds(value))
                }
            };
        }
        let holds = self.by_step(|_, step| match step.condition.as_ref().and_then(equality) {
            None => quote!(true),
            Some((step, part, value)) => {
                let (step, value) = (self.step(step), text::lines(value));
                let field = field(part);
                quote!(latest(Self::#step, #field) == Some(#value))
            }
        });
        quote! {
            /// True if its condition holds, given the part of a step's latest report that `latest` finds; a step without a
            /// condition runs always.
            #[allow(unused_variables)]
            pub fn condition_holds<'r>(
                self,
                latest: impl Fn(Self, orange::plan::Field) -> Option<&'r str>,
            ) -> bool {
                #holds
            }
        }
    }

    /// A match with one arm for all steps of one value.
    fn by_step(&self, value: impl Fn(StepId, &'e Step<'e>) -> TokenStream) -> TokenStream {
        let mut places = HashMap::new();
        let mut arms: Vec<(TokenStream, Vec<&Ident>)> = Vec::new();
        for id in self.plan.step_ids() {
            let value = value(id, self.plan.step(id));
            let place = *places.entry(value.to_string()).or_insert(arms.len());
            match arms.get_mut(place) {
                Some((_, steps)) => steps.push(self.step(id)),
                None => arms.push((value, vec![self.step(id)])),
            }
        }
        let arms = arms.iter().map(|(value, steps)| quote!(#(Self::#steps)|* => #value,));
        quote!(match self { #(#arms)* })
    }

    fn tables(&self) -> TokenStream {
        let Plan { version, notices, policy, .. } = self.plan;
        let (version, description) = (text::lines(version), text::lines(self.plan.description));
        let policy = tokens_of(*policy);
        let steps = self.plan.steps.iter().map(|it| self.table(it));
        let count = text::number(self.plan.steps.len());
        let order = self.ids(self.plan.order);
        let budget = tables::budget(self.plan.budget);
        let inputs = self.plan.inputs.iter().map(input);
        let inputs = optional("inputs", (!self.plan.inputs.is_empty()).then(|| quote!(&[#(#inputs),*])));
        let max_attempts = self.plan.max_attempts.map(|it| {
            let most = Literal::u32_unsuffixed(it);
            quote!(max_attempts: Some(#most),)
        });
        let is_other = self.plan.parallel != plan::DEFAULT_PARALLEL;
        let parallel = optional(
            "parallel",
            is_other.then(|| Literal::u8_unsuffixed(self.plan.parallel).into_token_stream()),
        );
        quote! {
            /// The tables of the workflow.
            pub static PLAN: orange::plan::Plan<'static> = orange::plan::Plan {
                name: NAME,
                version: #version,
                description: #description,
                source_hash: SOURCE_HASH,
                policy: #policy,
                notices: #notices,
                roles: &Role::NAMES,
                steps: &STEPS,
                order: #order,
                budget: #budget,
                #inputs
                #max_attempts
                #parallel
                ..orange::plan::Plan::EMPTY
            };

            static STEPS: [orange::plan::Step<'static>; #count] = [#(#steps),*];
        }
    }

    fn table(&self, step: &Step<'_>) -> TokenStream {
        let Step { id, results, .. } = step;
        let title = text::lines(step.title);
        let role = self.role(step.role);
        let prompt = self.prompt(&step.prompt);
        let (depends_on, requeue) = (self.ids(step.depends_on), self.ids(step.requeue));
        let condition = option(step.condition.as_ref().map(|it| self.condition(it)));
        let max_retries = Literal::u16_unsuffixed(step.max_retries);
        let [on_fail, handles] = [step.on_fail, step.handles].map(|it| option(it.map(|it| self.id(it))));
        let harness = option(step.harness.map(text::lines));
        let run = step.is_program().then(|| {
            let argv = step.run.iter().map(|it| self.prompt(it));
            quote!(run: &[#(#argv),*],)
        });
        let ask = step.ask.map(|it| {
            let ask = ask(it);
            quote!(ask: Some(&#ask),)
        });
        let gates = step.gates.iter().map(|it| self.gate(it));
        let gates = optional("gates", (!step.gates.is_empty()).then(|| quote!(&[#(#gates),*])));
        let worktree = optional("worktree", worktree(step.worktree));
        let fan_out = optional("fan_out", step.fan_out.as_ref().map(|it| self.fan_out(it)));
        let model = step.model.map(|it| {
            let model = text::lines(it);
            quote!(model: Some(#model),)
        });
        let effort = step.effort.map(|it| {
            let effort = effort(it);
            quote!(effort: Some(orange::plan::Effort::#effort),)
        });
        let permissions = match step.permissions {
            Permissions::Full => quote!(Full),
            Permissions::Reduced => quote!(Reduced),
        };
        let sandbox = optional("sandbox", tables::demand(step.sandbox));
        let timeout = option(step.timeout.map(Literal::u32_unsuffixed));
        let stuck_after = Literal::u16_unsuffixed(step.stuck_after);
        let outputs = step.outputs.iter().map(output);
        let outputs = optional("outputs", (!step.outputs.is_empty()).then(|| quote!(&[#(#outputs),*])));
        quote! {
            orange::plan::Step {
                id: #id,
                title: #title,
                role: #role,
                prompt: #prompt,
                #run
                #ask
                #gates
                depends_on: #depends_on,
                #worktree
                #fan_out
                condition: #condition,
                results: &[#(#results),*],
                max_retries: #max_retries,
                requeue: #requeue,
                on_fail: #on_fail,
                handles: #handles,
                harness: #harness,
                #model
                #effort
                permissions: orange::Permissions::#permissions,
                #sandbox
                timeout: #timeout,
                stuck_after: #stuck_after,
                #outputs
                ..orange::plan::Step::EMPTY
            }
        }
    }

    fn fan_out(&self, fan_out: &FanOut<'_>) -> TokenStream {
        let list = match fan_out.list {
            ItemList::Output(step, output) => {
                let (step, number) = (self.id(step), Literal::u16_unsuffixed(output.0));
                quote!(Output(#step, orange::plan::OutputId(#number)))
            }
            ItemList::Input(input) => {
                let number = Literal::u16_unsuffixed(input.0);
                quote!(Input(orange::plan::InputId(#number)))
            }
            ItemList::Fixed(items) => {
                let items = items.iter().map(|it| text::lines(it));
                quote!(Fixed(&[#(#items),*]))
            }
        };
        let enough = option(fan_out.enough.map(Literal::u16_unsuffixed));
        quote!(Some(orange::plan::FanOut { list: orange::plan::ItemList::#list, enough: #enough }))
    }

    fn gate(&self, gate: &StepGate<'_>) -> TokenStream {
        match gate {
            StepGate::Program { run, timeout } => {
                let argv = run.iter().map(|it| self.prompt(it));
                let timeout = Literal::u32_unsuffixed(*timeout);
                quote!(orange::plan::StepGate::Program { run: &[#(#argv),*], timeout: #timeout })
            }
            StepGate::File { file, contains } => {
                let [file, contains] = [file, contains].map(|it| text::lines(it));
                quote!(orange::plan::StepGate::File { file: #file, contains: #contains })
            }
        }
    }

    fn condition(&self, condition: &StepCondition<'_>) -> TokenStream {
        if let Some((step, part, value)) = condition.equality() {
            let (step, field, value) = (self.id(step), field(part), text::lines(value));
            return quote!(orange::plan::StepCondition::equal(#step, #field, #value));
        }
        match condition {
            StepCondition::Or(parts) => {
                let parts = parts.iter().map(|it| self.condition(it));
                quote!(orange::plan::StepCondition::Or(&[#(#parts),*]))
            }
            StepCondition::And(parts) => {
                let parts = parts.iter().map(|it| self.condition(it));
                quote!(orange::plan::StepCondition::And(&[#(#parts),*]))
            }
            StepCondition::Not(part) => {
                let part = self.condition(part);
                quote!(orange::plan::StepCondition::Not(&#part))
            }
            StepCondition::Test(test) => self.test(test),
        }
    }

    fn test(&self, StepTest { of, items, is }: &StepTest<'_>) -> TokenStream {
        let of = self.operand(*of);
        let items = option(items.map(|it| match it {
            Items::All => quote!(orange::plan::Items::All),
            Items::Any => quote!(orange::plan::Items::Any),
        }));
        let is = match is {
            Comparison::Is(relation, value) => {
                let relation = match relation {
                    Relation::Equal => quote!(Equal),
                    Relation::Unequal => quote!(Unequal),
                    Relation::Less => quote!(Less),
                    Relation::AtMost => quote!(AtMost),
                    Relation::Greater => quote!(Greater),
                    Relation::AtLeast => quote!(AtLeast),
                };
                let value = literal(value);
                quote!(orange::plan::Comparison::Is(orange::plan::Relation::#relation, #value))
            }
            Comparison::In(words) => {
                let words = words.iter().map(|it| text::lines(it));
                quote!(orange::plan::Comparison::In(&[#(#words),*]))
            }
            Comparison::Has(word) => {
                let word = text::lines(word);
                quote!(orange::plan::Comparison::Has(#word))
            }
        };
        quote! {
            orange::plan::StepCondition::Test(orange::plan::StepTest { of: #of, items: #items, is: #is })
        }
    }

    fn operand(&self, operand: Operand) -> TokenStream {
        match operand {
            Operand::Step(step, part) => {
                let (step, field) = (self.id(step), field(part));
                quote!(orange::plan::Operand::Step(#step, #field))
            }
            Operand::Input(input) => {
                let number = Literal::u16_unsuffixed(input.0);
                quote!(orange::plan::Operand::Input(orange::plan::InputId(#number)))
            }
        }
    }

    fn prompt(&self, prompt: &StepPrompt<'_>) -> TokenStream {
        let pieces = prompt.pieces.iter().map(|piece| match piece {
            StepPiece::Text(it) => {
                let lines = text::lines(it);
                quote!(orange::plan::StepPiece::Text(#lines))
            }
            StepPiece::Value(it) => {
                let value = value(*it);
                quote!(orange::plan::StepPiece::Value(orange::plan::StepValue::#value))
            }
            StepPiece::Read(it) => {
                let operand = self.operand(*it);
                quote!(orange::plan::StepPiece::Read(#operand))
            }
        });
        quote!(orange::plan::StepPrompt { pieces: &[#(#pieces),*] })
    }

    fn ids(&self, steps: &[StepId]) -> TokenStream {
        let ids = steps.iter().map(|it| self.id(*it));
        quote!(&[#(#ids),*])
    }

    fn id(&self, id: StepId) -> TokenStream {
        let step = self.step(id);
        quote!(Step::#step.id())
    }

    fn role(&self, id: RoleId) -> TokenStream {
        let role = &self.roles[usize::from(id.0)];
        quote!(Role::#role.id())
    }

    fn step(&self, id: StepId) -> &Ident {
        &self.steps[id.index()]
    }
}

fn idents<'n>(names: impl Iterator<Item = &'n str>) -> Vec<Ident> {
    names.map(|name| format_ident!("{}", names::variant(name))).collect()
}

/// Name of the enum of a step's results.
fn result(step: &Step<'_>) -> Ident {
    format_ident!("{}", names::result(step.id))
}

fn value(value: StepValue) -> TokenStream {
    match value {
        StepValue::MissionPrompt => quote!(MissionPrompt),
        StepValue::WorktreePath => quote!(WorktreePath),
        StepValue::Context => quote!(Context),
        StepValue::Step => quote!(Step),
        StepValue::Attempt => quote!(Attempt),
        StepValue::Branch => quote!(Branch),
        StepValue::Base => quote!(Base),
        StepValue::Item => quote!(Item),
    }
}

fn ask(ask: &Ask<'_>) -> TokenStream {
    let Ask { who, shows_context, shows_diff, is_approval, on_timeout } = ask;
    let on_timeout = option(*on_timeout);
    quote! {
        orange::plan::Ask {
            who: &[#(#who),*],
            shows_context: #shows_context,
            shows_diff: #shows_diff,
            is_approval: #is_approval,
            on_timeout: #on_timeout,
        }
    }
}

/// Use of the worktree of a step that does not write there alone.
fn worktree(worktree: WorktreeUse) -> Option<TokenStream> {
    match worktree {
        WorktreeUse::Write => None,
        WorktreeUse::Read => Some(quote!(orange::plan::WorktreeUse::Read)),
        WorktreeUse::Own => Some(quote!(orange::plan::WorktreeUse::Own)),
    }
}

fn effort(effort: Effort) -> TokenStream {
    match effort {
        Effort::Low => quote!(Low),
        Effort::Medium => quote!(Medium),
        Effort::High => quote!(High),
        Effort::Max => quote!(Max),
    }
}

fn field(field: Field) -> TokenStream {
    match field {
        Field::Result => quote!(orange::plan::Field::Result),
        Field::Summary => quote!(orange::plan::Field::Summary),
        Field::Output(output) => {
            let number = Literal::u16_unsuffixed(output.0);
            quote!(orange::plan::Field::Output(orange::plan::OutputId(#number)))
        }
        Field::Ran => quote!(orange::plan::Field::Ran),
        Field::Rounds => quote!(orange::plan::Field::Rounds),
    }
}

/// The parts of `step.result == 'PASS'`, and of the same with a summary.
fn equality<'a>(condition: &StepCondition<'a>) -> Option<(StepId, Field, &'a str)> {
    condition.equality().filter(|(_, field, _)| matches!(field, Field::Result | Field::Summary))
}

fn output(Output { name, kind }: &Output<'_>) -> TokenStream {
    let kind = value_type(kind);
    quote!(orange::plan::Output { name: #name, kind: #kind })
}

fn input(Input { name, kind, default }: &Input<'_>) -> TokenStream {
    let (kind, default) = (value_type(kind), option(default.as_ref().map(literal)));
    quote!(orange::plan::Input { name: #name, kind: #kind, default: #default })
}

fn value_type(kind: &ValueType<'_>) -> TokenStream {
    match kind {
        ValueType::Words(words) => quote!(orange::plan::ValueType::Words(&[#(#words),*])),
        ValueType::Text => quote!(orange::plan::ValueType::Text),
        ValueType::Number { min, max } => {
            let [min, max] = [*min, *max].map(Literal::i64_unsuffixed);
            quote!(orange::plan::ValueType::Number { min: #min, max: #max })
        }
        ValueType::Bool => quote!(orange::plan::ValueType::Bool),
        ValueType::List { max_items } => {
            let max_items = Literal::u16_unsuffixed(*max_items);
            quote!(orange::plan::ValueType::List { max_items: #max_items })
        }
    }
}

fn literal(value: &plan::Literal<'_>) -> TokenStream {
    match value {
        plan::Literal::Text(it) => {
            let lines = text::lines(it);
            quote!(orange::plan::Literal::Text(#lines))
        }
        plan::Literal::Number(it) => {
            let number = Literal::i64_unsuffixed(*it);
            quote!(orange::plan::Literal::Number(#number))
        }
        plan::Literal::Bool(it) => quote!(orange::plan::Literal::Bool(#it)),
        plan::Literal::List(items) => {
            let items = items.iter().map(|it| text::lines(it));
            quote!(orange::plan::Literal::List(&[#(#items),*]))
        }
    }
}

/// A field of a table that is left out where it has nothing.
fn optional(name: &str, value: Option<TokenStream>) -> TokenStream {
    let name = format_ident!("{name}");
    value.map_or_else(TokenStream::new, |value| quote!(#name: #value,))
}

fn tokens_of(Policy { execution, intervene }: Policy) -> TokenStream {
    let execution = match execution {
        Execution::Step => quote!(Step),
        Execution::Auto => quote!(Auto),
    };
    let intervene = match intervene {
        Intervene::Never => quote!(Never),
        Intervene::OnWarning => quote!(OnWarning),
        Intervene::OnError => quote!(OnError),
        Intervene::Always => quote!(Always),
    };
    quote! {
        orange::plan::Policy {
            execution: orange::plan::Execution::#execution,
            intervene: orange::plan::Intervene::#intervene,
        }
    }
}

fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(Some(#value)),
        None => quote!(None),
    }
}
