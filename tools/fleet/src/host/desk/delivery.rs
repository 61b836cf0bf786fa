//! Instructions to crabs, as gateways that share a store say them to each other.

use orange_core::plan::StepId;
use orange_core::scheduler::Item;
use serde_json::{Value, json};

use crate::host::{Delivery, Instruction};

/// The form of a delivery.
pub fn write_delivery(delivery: &Delivery) -> Value {
    let Delivery { colony, crab, what } = delivery;
    let (mission, step, attempt, role) = match what {
        Instruction::Offer(Item { mission, step, attempt, role }) => (mission, step, attempt, Some(role)),
        Instruction::EndAgent { mission, step, attempt } => (mission, step, attempt, None),
    };
    json!([colony, crab, mission, step.0, attempt, role])
}

/// The delivery of a form, unless a newer program means something else by it.
pub fn read_delivery(form: &Value) -> Option<Delivery> {
    let text = |at: usize| form[at].as_str().map(str::to_owned);
    let number = |at: usize| form[at].as_u64();
    let (mission, step) = (text(2)?, StepId(u16::try_from(number(3)?).ok()?));
    let attempt = u32::try_from(number(4)?).ok()?;
    let what = match text(5) {
        Some(role) => Instruction::Offer(Item { mission, step, attempt, role }),
        None => Instruction::EndAgent { mission, step, attempt },
    };
    Some(Delivery { colony: text(0)?, crab: text(1)?, what })
}
