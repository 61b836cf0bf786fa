//! The monitor that runs, and the channels of its messages.

use super::{CheckData, CheckFinding, FindingLevel};
use crate::Result;
use crate::flow::notify::{SentMessages, codes, settings};
use crate::flow::only_one;

/// Process that is the monitor. Without one, agents whose wrapper was killed stay unnoticed until one looks.
pub(super) fn monitor(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let message = match only_one::holder(seen.app) {
        Some(holder) => format!("{} is the monitor", holder.description),
        None => {
            "none runs; `orange monitor` looks after agents that die unnoticed, and sends messages".to_owned()
        }
    };
    Ok(vec![CheckFinding::fine(message)])
}

/// Channels that have not taken their last message.
pub(super) fn notifications(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let home = &seen.app.home;
    let (channels, sent) = (settings::read(home)?, SentMessages::read(home)?);
    let failed = channels.iter().filter_map(|channel| {
        let failure = sent.channels.get(&channel.name)?.failure.as_ref()?;
        let message =
            format!("{} has not taken a message at {}: {}", channel.name, failure.at, failure.error);
        let remedy = format!("`orange notify test {}` sends a test message", channel.name);
        Some(CheckFinding::new(FindingLevel::Warning, message).remedy(remedy))
    });
    let book = codes::read(home)?;
    let closed = channels.iter().filter_map(|channel| {
        let until = codes::closed_until(&book, &channel.name)?;
        let message =
            format!("{} takes no answers until {until}, since too many wrong codes came", channel.name);
        Some(CheckFinding::new(FindingLevel::Warning, message).remedy(codes::LEAKED))
    });
    let failed: Vec<CheckFinding> = failed.chain(closed).collect();
    let fine = match channels.len() {
        0 => "no channel: `orange notify list` says how to add one".to_owned(),
        count => format!("{count} channels"),
    };
    Ok(if failed.is_empty() { vec![CheckFinding::fine(fine)] } else { failed })
}
