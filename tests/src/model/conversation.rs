//! Decides the model's next step in a conversation, and records it.

use serde_json::Value;

use super::plan::{ModelAct, Plan, RequestFault};
use super::protocol::{ModelReply, ModelRequest};
use super::tools::{self, ToolCall};

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
pub struct PlanReport {
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
pub(super) enum NextAnswer {
    Reply(ModelReply),
    Fail(RequestFault),
    /// Ask again when a gate is opened.
    Wait,
}

/// The plans, and the progress of each.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub(super) plans: Vec<Plan>,
    pub(super) reports: Vec<PlanReport>,
    /// The requests that have failed so far, by plan and act.
    failed: Vec<(usize, usize, u32)>,
    pub(super) open: Vec<String>,
    /// The gates that a conversation has reached.
    pub(super) reached: Vec<String>,
}

impl Book {
    pub(super) fn add(&mut self, plan: Plan) -> usize {
        self.plans.push(plan);
        self.reports.push(PlanReport::default());
        self.plans.len() - 1
    }

    /// The plan of a conversation: that of the newest message that begins one.
    pub(super) fn plan_of(&self, asked: &ModelRequest) -> Option<usize> {
        let begins = |(place, plan): (usize, &Plan)| Some((plan.begins_at(&asked.messages)?, place));
        let newest = self.plans.iter().enumerate().filter_map(begins).max();
        newest.map(|(_, place)| place).filter(|_| !asked.tools.is_empty())
    }

    /// The summary of a conversation that its harness compacts: the message that began its plan.
    pub(super) fn summary(&self, asked: &ModelRequest) -> Option<String> {
        let is_wanted = asked.messages.last()?.to_lowercase().contains("summar");
        let begins = self.plans.iter().filter_map(|plan| plan.begins_at(&asked.messages)).max();
        begins.filter(|_| is_wanted).map(|message| asked.messages[message].clone())
    }

    /// The answer to the next request of a conversation.
    pub(super) fn next(&mut self, place: usize, asked: &ModelRequest) -> NextAnswer {
        let plan = self.plans[place].clone();
        self.note(place, &plan, asked);
        for (number, act) in plan.acts.iter().enumerate().skip(done(place, &plan, asked)) {
            match act {
                ModelAct::Hold(gate) if !self.open.contains(gate) => {
                    if !self.reached.contains(gate) {
                        self.reached.push(gate.clone());
                    }
                    return NextAnswer::Wait;
                }
                ModelAct::Hold(_) => (),
                ModelAct::Fail(fault, times) if self.may_fail(place, number, *times) => {
                    return NextAnswer::Fail(*fault);
                }
                ModelAct::Fail(..) => (),
                ModelAct::Say(text) => return NextAnswer::Reply(ModelReply::Text(text.clone())),
                ModelAct::Run(_)
                | ModelAct::Asking(_)
                | ModelAct::Orange(_)
                | ModelAct::Quoted(_)
                | ModelAct::Read(_)
                | ModelAct::Write { .. }
                | ModelAct::Edit { .. }
                | ModelAct::Append { .. }
                | ModelAct::Extend { .. }
                | ModelAct::Tool { .. } => {
                    if let Some(call) = self.call(place, number, act, asked) {
                        return NextAnswer::Reply(ModelReply::Call { id: id(place, number), call });
                    }
                }
            }
        }
        self.reports[place].is_over = true;
        NextAnswer::Reply(ModelReply::Text(format!("All that plan {place} asks for is done.")))
    }

    fn call(
        &mut self,
        place: usize,
        number: usize,
        act: &ModelAct,
        asked: &ModelRequest,
    ) -> Option<ToolCall> {
        let seen = self.seen(place, number, act, asked);
        let act = &act.resolved(&asked.messages.join("\n"));
        let call = tools::call(act, &asked.tools, asked.folder(), seen.as_deref())?;
        let exchanges = &mut self.reports[place].exchanges;
        let is_repeated = exchanges.last().is_some_and(|last| last.act == number && last.answer.is_none());
        if !is_repeated {
            let ToolCall { tool, input } = call.clone();
            exchanges.push(Exchange { plan: place, act: number, tool, input, answer: None, is_error: false });
        }
        Some(call)
    }

    /// The contents that were last read of the file of an act.
    fn seen(&self, place: usize, number: usize, act: &ModelAct, asked: &ModelRequest) -> Option<String> {
        let (ModelAct::Append { path, .. } | ModelAct::Extend { path, .. }) = act else { return None };
        let before = self.plans[place].acts.iter().enumerate().take(number);
        let reads = before.filter(|(_, act)| matches!(act, ModelAct::Read(read) if read == path));
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
    fn note(&mut self, place: usize, plan: &Plan, asked: &ModelRequest) {
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
fn done(place: usize, plan: &Plan, asked: &ModelRequest) -> usize {
    let remembers = |(number, act): (usize, &ModelAct)| match act {
        ModelAct::Say(text) => asked.raw.contains(&quoted(text)),
        ModelAct::Run(_)
        | ModelAct::Asking(_)
        | ModelAct::Orange(_)
        | ModelAct::Quoted(_)
        | ModelAct::Read(_)
        | ModelAct::Write { .. }
        | ModelAct::Edit { .. }
        | ModelAct::Append { .. }
        | ModelAct::Extend { .. }
        | ModelAct::Tool { .. } => asked.result(&id(place, number)).is_some(),
        ModelAct::Hold(_) | ModelAct::Fail(..) => false,
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
