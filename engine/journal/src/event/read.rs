//! Records out of the lines of a journal: what is written by the derive in the file above, read back.

use serde::{Deserialize, Deserializer};

use super::{
    CounterValue, Event, Pass, PlannedHook, Record, Report, Spawn, Spent, Trace, Transition, Waiting,
};
use crate::members::{self, Members, Object};
use crate::set::Set;

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Record, D::Error> {
        members::deserialize(from)
    }
}

impl Object for Record {
    fn take(from: &mut Members) -> Record {
        let set = Set(from.optional("set"));
        if let Some((key, value)) = set.misnamed() {
            from.refuse(format!("its `{key}` is no name: {value}"));
        }
        Record {
            seq: from.required("seq"),
            timestamp: from.required("timestamp"),
            event: Event::take(from),
            set,
        }
    }
}

impl Object for Event {
    fn take(from: &mut Members) -> Event {
        let kind: String = from.required("type");
        match kind.as_str() {
            "task.created" => Event::TaskCreated {
                branch: from.required("branch"),
                actor: from.required("actor"),
                creator: from.optional("creator"),
            },
            "agent.spawned" => Event::AgentSpawned(Spawn::take(from)),
            "agent.respawned" => Event::AgentRespawned(Spawn::take(from)),
            "agent.exited" => Event::AgentExited {
                spawn: from.required("spawn"),
                code: from.optional("code"),
                signal: from.optional("signal"),
                reason: from.optional("reason"),
                duration: from.optional("duration"),
                last_lines: from.optional("last_lines"),
                trace: Trace::take(from),
            },
            "agent.not_resumed" => Event::AgentNotResumed {
                spawn: from.required("spawn"),
                conversation: from.required("conversation"),
                reason: from.optional("reason"),
            },
            "agent.crashed" => Event::AgentCrashed {
                spawn: from.optional("spawn"),
                status: from.required("status"),
                crash_count: from.required("crash_count"),
                reason: from.required("reason"),
            },
            "agent.waiting" => Event::AgentWaiting(Waiting::take(from)),
            "agent.given_up" => {
                Event::AgentGivenUp { spawn: from.required("spawn"), reason: from.required("reason") }
            }
            "agent.stopped" => {
                Event::AgentStopped { spawns: from.required("spawns"), actor: from.optional("actor") }
            }
            "agent.activity" => Event::AgentActivity(Report::take(from)),
            "agent.continued" => {
                Event::AgentContinued { spawn: from.required("spawn"), reason: from.optional("reason") }
            }
            "transition.started" => Event::TransitionStarted(Transition::take(from)),
            "hook.ended" => Event::HookEnded {
                hook: from.required("hook"),
                index: from.required("index"),
                error: from.optional("error"),
            },
            "status.changed" => Event::StatusChanged {
                from: from.required("from"),
                to: from.required("to"),
                cause: from.optional("cause"),
                actor: from.optional("actor"),
                gate: from.optional("gate"),
            },
            "auto.advanced" => Event::AutoAdvanced {
                from: from.required("from"),
                to: from.required("to"),
                reason: from.required("reason"),
            },
            "task.repaired" => Event::TaskRepaired {
                field: from.required("field"),
                found: from.optional("found"),
                kept: from.optional("kept"),
            },
            "branch.made" => {
                Event::BranchMade { branch: from.required("branch"), commit: from.required("commit") }
            }
            "merge.started" => {
                Event::MergeStarted { into: from.required("into"), commit: from.required("commit") }
            }
            "task.merged" => Event::TaskMerged {
                strategy: from.required("strategy"),
                into: from.required("into"),
                commit: from.optional("commit"),
            },
            "task.force_merged" => Event::TaskForceMerged {
                from: from.required("from"),
                strategy: from.required("strategy"),
                into: from.required("into"),
                commit: from.optional("commit"),
            },
            "pr.created" => Event::PrCreated { url: from.required("url") },
            "pr.merged" => Event::PrMerged { url: from.required("url") },
            "pr.closed" => Event::PrClosed { url: from.required("url") },
            "workflow.changed" => Event::WorkflowChanged {
                workflow: from.required("workflow"),
                from: from.required("from"),
                to: from.required("to"),
                compare: from.optional("compare"),
            },
            "task.migrated" => Event::TaskMigrated {
                from: from.required("from"),
                to: from.required("to"),
                workflow: from.required("workflow"),
                actor: from.optional("actor"),
                dropped_hooks: from.optional("dropped_hooks"),
            },
            "command.ended" => Event::CommandEnded {
                argv: from.required("argv"),
                code: from.optional("code"),
                output: from.optional("output"),
                file: from.optional("file"),
            },
            "work.backed_up" => {
                Event::WorkBackedUp { reference: from.required("reference"), commit: from.optional("commit") }
            }
            "work.set_aside" => Event::WorkSetAside { folder: from.required("folder") },
            "task.deleted" => Event::TaskDeleted { actor: from.optional("actor") },
            "task.restored" => Event::TaskRestored { actor: from.optional("actor") },
            _ => Event::Unknown,
        }
    }
}

impl Object for Spawn {
    fn take(from: &mut Members) -> Spawn {
        Spawn {
            spawn: from.required("spawn"),
            actor: from.required("actor"),
            prompt: from.optional("prompt"),
            harness: from.optional("harness"),
            session: from.optional("session"),
            window: from.optional("window"),
            permissions: from.optional("permissions"),
            conversation: from.optional("conversation"),
            resumed: from.optional("resumed"),
            not_resumed: from.optional("not_resumed"),
            stood: from.optional("stood"),
            answers: from.optional("answers"),
        }
    }
}

impl Object for Trace {
    fn take(from: &mut Members) -> Trace {
        Trace {
            conversation: from.optional("conversation"),
            transcript: from.optional("transcript"),
            not_kept: from.optional("not_kept"),
            spent: Spent { tokens: from.optional("tokens"), cost: from.optional("cost") },
        }
    }
}

impl Object for Report {
    fn take(from: &mut Members) -> Report {
        Report {
            spawn: from.required("spawn"),
            state: from.required("state"),
            reason: from.optional("reason"),
            until: from.optional("until"),
            request: from.optional("request"),
            conversation: from.optional("conversation"),
            transcript: from.optional("transcript"),
            tokens: from.optional("tokens"),
            cost: from.optional("cost"),
        }
    }
}

impl Object for Waiting {
    fn take(from: &mut Members) -> Waiting {
        Waiting {
            spawn: from.required("spawn"),
            until: from.required("until"),
            after: from.required("after"),
            reason: from.optional("reason"),
        }
    }
}

impl Object for Transition {
    fn take(from: &mut Members) -> Transition {
        Transition {
            from: from.required("from"),
            to: from.required("to"),
            transition: from.optional("transition"),
            cause: from.optional("cause"),
            actor: from.optional("actor"),
            hooks: from.optional("hooks"),
            gate: from.optional("gate"),
            stood: from.optional("stood"),
        }
    }
}

impl Object for PlannedHook {
    fn take(from: &mut Members) -> PlannedHook {
        PlannedHook {
            name: from.required("name"),
            index: from.required("index"),
            counter: from.optional("counter"),
        }
    }
}

impl Object for CounterValue {
    fn take(from: &mut Members) -> CounterValue {
        CounterValue { name: from.required("name"), value: from.required("value") }
    }
}

impl Object for Pass {
    fn take(from: &mut Members) -> Pass {
        Pass {
            section: from.required("section"),
            hash: from.required("hash"),
            commit: from.optional("commit"),
        }
    }
}
