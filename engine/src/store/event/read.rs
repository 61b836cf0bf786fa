//! Records out of the lines of a journal: what is written by the derive in the file above, read back.

use serde::{Deserialize, Deserializer};

use super::{
    CounterValue, Event, Pass, PlannedHook, Record, Report, Spawn, Spent, Trace, Transition, Waiting,
};
use crate::members::{self, Members, Object};
use crate::store::set::Set;

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Record, D::Error> {
        members::deserialize(from)
    }
}

impl Object for Record {
    fn take(from: &mut Members) -> Record {
        let set = Set(from.may("set"));
        if let Some((key, value)) = set.misnamed() {
            from.refuse(format!("its `{key}` is no name: {value}"));
        }
        Record { seq: from.must("seq"), timestamp: from.must("timestamp"), event: Event::take(from), set }
    }
}

impl Object for Event {
    fn take(from: &mut Members) -> Event {
        let kind: String = from.must("type");
        match kind.as_str() {
            "task.created" => Event::TaskCreated {
                branch: from.must("branch"),
                actor: from.must("actor"),
                creator: from.may("creator"),
            },
            "agent.spawned" => Event::AgentSpawned(Spawn::take(from)),
            "agent.respawned" => Event::AgentRespawned(Spawn::take(from)),
            "agent.exited" => Event::AgentExited {
                spawn: from.must("spawn"),
                code: from.may("code"),
                signal: from.may("signal"),
                reason: from.may("reason"),
                duration: from.may("duration"),
                last_lines: from.may("last_lines"),
                trace: Trace::take(from),
            },
            "agent.not_resumed" => Event::AgentNotResumed {
                spawn: from.must("spawn"),
                conversation: from.must("conversation"),
                reason: from.may("reason"),
            },
            "agent.crashed" => Event::AgentCrashed {
                spawn: from.may("spawn"),
                status: from.must("status"),
                crash_count: from.must("crash_count"),
                reason: from.must("reason"),
            },
            "agent.waiting" => Event::AgentWaiting(Waiting::take(from)),
            "agent.given_up" => {
                Event::AgentGivenUp { spawn: from.must("spawn"), reason: from.must("reason") }
            }
            "agent.stopped" => Event::AgentStopped { spawns: from.must("spawns"), actor: from.may("actor") },
            "agent.activity" => Event::AgentActivity(Report::take(from)),
            "agent.continued" => {
                Event::AgentContinued { spawn: from.must("spawn"), reason: from.may("reason") }
            }
            "transition.started" => Event::TransitionStarted(Transition::take(from)),
            "hook.ended" => Event::HookEnded {
                hook: from.must("hook"),
                index: from.must("index"),
                error: from.may("error"),
            },
            "status.changed" => Event::StatusChanged {
                from: from.must("from"),
                to: from.must("to"),
                cause: from.may("cause"),
                actor: from.may("actor"),
                gate: from.may("gate"),
            },
            "auto.advanced" => Event::AutoAdvanced {
                from: from.must("from"),
                to: from.must("to"),
                reason: from.must("reason"),
            },
            "task.repaired" => Event::TaskRepaired {
                field: from.must("field"),
                found: from.may("found"),
                kept: from.may("kept"),
            },
            "branch.made" => Event::BranchMade { branch: from.must("branch"), commit: from.must("commit") },
            "merge.started" => Event::MergeStarted { into: from.must("into"), commit: from.must("commit") },
            "task.merged" => Event::TaskMerged {
                strategy: from.must("strategy"),
                into: from.must("into"),
                commit: from.may("commit"),
            },
            "task.force_merged" => Event::TaskForceMerged {
                from: from.must("from"),
                strategy: from.must("strategy"),
                into: from.must("into"),
                commit: from.may("commit"),
            },
            "pr.created" => Event::PrCreated { url: from.must("url") },
            "pr.merged" => Event::PrMerged { url: from.must("url") },
            "pr.closed" => Event::PrClosed { url: from.must("url") },
            "workflow.changed" => Event::WorkflowChanged {
                workflow: from.must("workflow"),
                from: from.must("from"),
                to: from.must("to"),
                compare: from.may("compare"),
            },
            "task.migrated" => Event::TaskMigrated {
                from: from.must("from"),
                to: from.must("to"),
                workflow: from.must("workflow"),
                actor: from.may("actor"),
                dropped_hooks: from.may("dropped_hooks"),
            },
            "command.ended" => Event::CommandEnded {
                argv: from.must("argv"),
                code: from.may("code"),
                output: from.may("output"),
                file: from.may("file"),
            },
            "work.backed_up" => {
                Event::WorkBackedUp { reference: from.must("reference"), commit: from.may("commit") }
            }
            "work.set_aside" => Event::WorkSetAside { folder: from.must("folder") },
            "task.deleted" => Event::TaskDeleted { actor: from.may("actor") },
            "task.restored" => Event::TaskRestored { actor: from.may("actor") },
            _ => Event::Unknown,
        }
    }
}

impl Object for Spawn {
    fn take(from: &mut Members) -> Spawn {
        Spawn {
            spawn: from.must("spawn"),
            actor: from.must("actor"),
            prompt: from.may("prompt"),
            harness: from.may("harness"),
            session: from.may("session"),
            window: from.may("window"),
            permissions: from.may("permissions"),
            conversation: from.may("conversation"),
            resumed: from.may("resumed"),
            not_resumed: from.may("not_resumed"),
            stood: from.may("stood"),
            answers: from.may("answers"),
        }
    }
}

impl Object for Trace {
    fn take(from: &mut Members) -> Trace {
        Trace {
            conversation: from.may("conversation"),
            transcript: from.may("transcript"),
            not_kept: from.may("not_kept"),
            spent: Spent { tokens: from.may("tokens"), cost: from.may("cost") },
        }
    }
}

impl Object for Report {
    fn take(from: &mut Members) -> Report {
        Report {
            spawn: from.must("spawn"),
            state: from.must("state"),
            reason: from.may("reason"),
            until: from.may("until"),
            request: from.may("request"),
            conversation: from.may("conversation"),
            transcript: from.may("transcript"),
            tokens: from.may("tokens"),
            cost: from.may("cost"),
        }
    }
}

impl Object for Waiting {
    fn take(from: &mut Members) -> Waiting {
        Waiting {
            spawn: from.must("spawn"),
            until: from.must("until"),
            after: from.must("after"),
            reason: from.may("reason"),
        }
    }
}

impl Object for Transition {
    fn take(from: &mut Members) -> Transition {
        Transition {
            from: from.must("from"),
            to: from.must("to"),
            transition: from.may("transition"),
            cause: from.may("cause"),
            actor: from.may("actor"),
            hooks: from.may("hooks"),
            gate: from.may("gate"),
            stood: from.may("stood"),
        }
    }
}

impl Object for PlannedHook {
    fn take(from: &mut Members) -> PlannedHook {
        PlannedHook { name: from.must("name"), index: from.must("index"), counter: from.may("counter") }
    }
}

impl Object for CounterValue {
    fn take(from: &mut Members) -> CounterValue {
        CounterValue { name: from.must("name"), value: from.must("value") }
    }
}

impl Object for Pass {
    fn take(from: &mut Members) -> Pass {
        Pass { section: from.must("section"), hash: from.must("hash"), commit: from.may("commit") }
    }
}
