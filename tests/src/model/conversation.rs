//! Decides the model's next step in a conversation, and records it.

use serde_json::Value;

use super::plan::{Act, Fault, Plan};
use super::protocol::{Asked, Reply};
use super::tools::{self, Call};

/// One act of a plan and its result.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The index of the plan.
    pub plan: usize,
    /// The index of the act in the plan.
    pub act: usize,
    /// The harness's tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// Its answer; `None` if the model never got one.
    pub answer: Option<String>,
    /// True if the harness says that it failed.
    pub is_error: bool,
}

/// The execution of a plan.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The calls, in order.
    pub exchanges: Vec<Exchange>,
    /// The number of requests in its conversations.
    pub requests: usize,
    /// The size of the largest of them, in bytes.
    pub largest: usize,
    /// The message that began it, as the harness sent it.
    pub prompt: String,
    /// The person's messages in the same conversation before that message.
    pub earlier: Vec<String>,
    /// True if every act is done.
    pub is_over: bool,
}

/// The answer to a request.
#[derive(Debug)]
pub(super) enum Next {
    Reply(Reply),
    Fail(Fault),
    /// Ask again when a gate is opened.
    Wait,
}

/// The plans, and the progress of each.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub(super) plans: Vec<Plan>,
    pub(super) reports: Vec<Report>,
    /// The requests that have failed so far, by plan and act.
    failed: Vec<(usize, usize, u32)>,
    pub(super) open: Vec<String>,
    /// The gates that a conversation has reached.
    pub(super) reached: Vec<String>,
}

impl Book {
    pub(super) fn add(&mut self, plan: Plan) -> usize {
        self.plans.push(plan);
        self.reports.push(Report::default());
        self.plans.len() - 1
    }

    /// The plan of a conversation: that of the newest message that begins one.
    pub(super) fn plan_of(&self, asked: &Asked) -> Option<usize> {
        let begins = |(place, plan): (usize, &Plan)| Some((plan.begins_at(&asked.messages)?, place));
        let newest = self.plans.iter().enumerate().filter_map(begins).max();
        newest.map(|(_, place)| place).filter(|_| !asked.tools.is_empty())
    }

    /// The summary of a conversation that its harness compacts: the message that began its plan.
    pub(super) fn summary(&self, asked: &Asked) -> Option<String> {
        let is_wanted = asked.messages.last()?.to_lowercase().contains("summar");
        let begins = self.plans.iter().filter_map(|plan| plan.begins_at(&asked.messages)).max();
        begins.filter(|_| is_wanted).map(|message| asked.messages[message].clone())
    }

    /// The answer to the next request of a conversation.
    pub(super) fn next(&mut self, place: usize, asked: &Asked) -> Next {
        let plan = self.plans[place].clone();
        self.note(place, &plan, asked);
        for (number, act) in plan.acts.iter().enumerate().skip(done(place, &plan, asked)) {
            match act {
                Act::Hold(gate) if !self.open.contains(gate) => {
                    if !self.reached.contains(gate) {
                        self.reached.push(gate.clone());
                    }
                    return Next::Wait;
                }
                Act::Hold(_) => (),
                Act::Fail(fault, times) if self.may_fail(place, number, *times) => return Next::Fail(*fault),
                Act::Fail(..) => (),
                Act::Say(text) => return Next::Reply(Reply::Text(text.clone())),
                Act::Run(_)
                | Act::Asking(_)
                | Act::Orange(_)
                | Act::Quoted(_)
                | Act::Read(_)
                | Act::Write { .. }
                | Act::Edit { .. }
                | Act::Append { .. }
                | Act::Extend { .. }
                | Act::Tool { .. } => {
                    if let Some(call) = self.call(place, number, act, asked) {
                        return Next::Reply(Reply::Call { id: id(place, number), call });
                    }
                }
            }
        }
        self.reports[place].is_over = true;
        Next::Reply(Reply::Text(format!("All that plan {place} asks for is done.")))
    }

    fn call(&mut self, place: usize, number: usize, act: &Act, asked: &Asked) -> Option<Call> {
        let seen = self.seen(place, number, act, asked);
        let act = &act.resolved(&asked.messages.join("\n"));
        let call = tools::call(act, &asked.tools, asked.folder(), seen.as_deref())?;
        let exchanges = &mut self.reports[place].exchanges;
        let is_repeated = exchanges.last().is_some_and(|last| last.act == number && last.answer.is_none());
        if !is_repeated {
            let Call { tool, input } = call.clone();
            exchanges.push(Exchange { plan: place, act: number, tool, input, answer: None, is_error: false });
        }
        Some(call)
    }

    /// The contents that were last read of the file of an act.
    fn seen(&self, place: usize, number: usize, act: &Act, asked: &Asked) -> Option<String> {
        let (Act::Append { path, .. } | Act::Extend { path, .. }) = act else { return None };
        let before = self.plans[place].acts.iter().enumerate().take(number);
        let reads = before.filter(|(_, act)| matches!(act, Act::Read(read) if read == path));
        let mut answers = reads.filter_map(|(number, _)| asked.result(&id(place, number)));
        answers.next_back().map(|answer| tools::contents(&answer.text))
    }

    fn may_fail(&mut self, place: usize, number: usize, times: u32) -> bool {
        let known = self.failed.iter().position(|(plan, act, _)| (*plan, *act) == (place, number));
        let known = known.unwrap_or_else(|| {
            self.failed.push((place, number, 0));
            self.failed.len() - 1
        });
        self.failed[known].2 += 1;
        self.failed[known].2 <= times
    }

    /// Records the answers of tools since the last request.
    fn note(&mut self, place: usize, plan: &Plan, asked: &Asked) {
        let report = &mut self.reports[place];
        report.requests += 1;
        report.largest = report.largest.max(asked.raw.len());
        if report.prompt.is_empty()
            && let Some(begun) = plan.begins_at(&asked.messages)
        {
            report.prompt = asked.messages[begun].clone();
            report.earlier = asked.messages[..begun].to_vec();
        }
        for exchange in report.exchanges.iter_mut().filter(|exchange| exchange.answer.is_none()) {
            if let Some(answer) = asked.result(&id(place, exchange.act)) {
                exchange.answer = Some(answer.text.clone());
                exchange.is_error = answer.is_error;
            }
        }
    }
}

/// The number of acts that a conversation has done: up to the newest one in its messages.
fn done(place: usize, plan: &Plan, asked: &Asked) -> usize {
    let remembers = |(number, act): (usize, &Act)| match act {
        Act::Say(text) => asked.raw.contains(&quoted(text)),
        Act::Run(_)
        | Act::Asking(_)
        | Act::Orange(_)
        | Act::Quoted(_)
        | Act::Read(_)
        | Act::Write { .. }
        | Act::Edit { .. }
        | Act::Append { .. }
        | Act::Extend { .. }
        | Act::Tool { .. } => asked.result(&id(place, number)).is_some(),
        Act::Hold(_) | Act::Fail(..) => false,
    };
    let newest = plan.acts.iter().enumerate().rfind(|act| remembers(*act));
    newest.map_or(0, |(number, _)| number + 1)
}

/// The id of a call.
fn id(plan: usize, act: usize) -> String {
    format!("call_plan{plan}_act{act}")
}

/// A text as in JSON, without its quotes.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().trim_matches('"').to_owned()
}
