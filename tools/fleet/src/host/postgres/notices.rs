//! Notices between gateways on one database: hints, since a lost connection misses them.

use serde::{Deserialize, Serialize};

use crate::host::Delivery;

/// The most bytes of a notice; Postgres takes less than 8000.
const ROOM: usize = 7000;

/// Notice of another gateway.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Notice {
    pub(super) name: String,
    /// The number of its newest record.
    pub(super) newest: u64,
    /// Instructions to crabs.
    pub(super) deliveries: Vec<Delivery>,
}

/// The texts of a transaction.
pub(super) fn write(name: &str, newest: u64, deliveries: &[Delivery]) -> Vec<String> {
    let mut texts = Vec::new();
    let (mut some, mut size) = (Vec::new(), 0);
    for delivery in deliveries {
        let length = serde_json::to_string(delivery).map_or(0, |it| it.len());
        if size + length > ROOM {
            texts.push(text(name, newest, std::mem::take(&mut some)));
            size = 0;
        }
        // A crab that asks again hears what has no room.
        if length <= ROOM {
            size += length + 1;
            some.push(delivery.clone());
        }
    }
    texts.push(text(name, newest, some));
    texts
}

fn text(name: &str, newest: u64, deliveries: Vec<Delivery>) -> String {
    let notice = Notice { name: name.to_owned(), newest, deliveries };
    // Its maps have text as keys, so that it always can be written.
    serde_json::to_string(&notice).unwrap_or_default()
}

/// Reads a notice. One of a newer program may be another form, and is only a hint.
pub(super) fn read(text: &str) -> Option<Notice> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use orange_core::plan::StepId;
    use orange_core::scheduler::Item;

    use super::*;
    use crate::host::Instruction;

    #[test]
    fn notices_are_read_as_they_were_written() {
        let delivery = |number: u32| {
            let (mission, step) = ("m".repeat(21), StepId(7));
            let what = match number % 2 {
                0 => Instruction::Offer(Item::of_lane("wörker,wall", mission, step, number)),
                _ => Instruction::EndAgent { mission, step, attempt: number },
            };
            Delivery { colony: "c".repeat(21), crab: format!("crab {number}"), what }
        };
        let all: Vec<Delivery> = (0..500).map(delivery).collect();
        let texts = write("me", 9, &all);
        assert!(texts.len() > 1 && texts.iter().all(|it| it.len() < 8000));
        let read: Vec<Notice> = texts.iter().map(|it| read(it).unwrap()).collect();
        assert!(read.iter().all(|it| it.name == "me" && it.newest == 9));
        assert_eq!(read.into_iter().flat_map(|it| it.deliveries).collect::<Vec<_>>(), all);
        assert_eq!(write("me", 9, &[]).len(), 1);
    }
}
