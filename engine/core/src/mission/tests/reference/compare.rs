//! The reference beside the reducer: the same state in the reducer's types.

use super::*;

impl MissionReference<'_> {
    /// The first thing in which the mission differs from this.
    pub fn differs_from(&self, mission: &Mission) -> Option<String> {
        let differ = |what: &str, expected: &dyn core::fmt::Debug, found: &dyn core::fmt::Debug| {
            let (expected, found) = (format!("{expected:?}"), format!("{found:?}"));
            (expected != found).then(|| format!("{what}: expected {expected}, found {found}"))
        };
        let expected = self.as_mission();
        if expected == *mission {
            return None;
        }
        let steps = expected.steps.iter().zip(&mission.steps).zip(&self.rules);
        differ("mission", &expected.status, &mission.status)
            .or_else(|| differ("policy", &expected.policy, &mission.policy))
            .or_else(|| differ("questions", &expected.questions, &mission.questions))
            .or_else(|| differ("cap", &expected.cap, &mission.cap))
            .or_else(|| differ("number of pauses", &expected.pauses, &mission.pauses))
            .or_else(|| {
                steps.into_iter().find_map(|((expected, found), rule)| {
                    let of = |what: &str| format!("{} of step {}", what, rule.name);
                    differ(&of("status"), &expected.status, &found.status)
                        .or_else(|| differ(&of("number of attempts"), &expected.attempt(), &found.attempt()))
                        .or_else(|| differ(&of("attempts"), &expected.attempts, &found.attempts))
                        .or_else(|| differ(&of("items"), &expected.items, &found.items))
                        .or_else(|| differ(&of("latest items"), &expected.latest_items, &found.latest_items))
                        .or_else(|| differ(&of("rounds"), &expected.rounds, &found.rounds))
                        .or_else(|| differ(&of("completions"), &expected.completions, &found.completions))
                        .or_else(|| differ(&of("granted"), &expected.granted, &found.granted))
                        .or_else(|| differ(&of("is_exhausted"), &expected.is_exhausted, &found.is_exhausted))
                        .or_else(|| differ(&of("is_handled"), &expected.is_handled, &found.is_handled))
                        .or_else(|| differ(&of("failure"), &expected.failure, &found.failure))
                        .or_else(|| differ(&of("latest"), &expected.latest, &found.latest))
                        .or_else(|| differ(&of("lost"), &expected.lost, &found.lost))
                        .or_else(|| differ(&of("abandoned"), &expected.abandoned, &found.abandoned))
                        .or_else(|| differ(&of("sent_back_by"), &expected.sent_back_by, &found.sent_back_by))
                })
            })
    }

    /// The state of the mission in the reducer's types.
    pub fn as_mission(&self) -> Mission {
        let steps = self.known.iter().map(|it| StepState {
            status: match it.stand {
                Stand::Blocked => StepStatus::Blocked,
                Stand::Queued if it.has_left_queue() => StepStatus::Running,
                Stand::Queued => StepStatus::Queued,
                Stand::Assigned => StepStatus::Assigned,
                Stand::Running => StepStatus::Running,
                Stand::Asked => StepStatus::Asked,
                Stand::Completed => StepStatus::Completed,
                Stand::Failed(_) | Stand::Handled(_) => StepStatus::Failed,
                Stand::Skipped => StepStatus::Skipped,
                Stand::Cancelled => StepStatus::Cancelled,
            },
            attempts: it.attempts(),
            lost: it.lost,
            abandoned: it.abandoned,
            completions: it.completions,
            granted: it.granted,
            is_exhausted: it.is_exhausted,
            failure: it.why().cloned(),
            is_handled: matches!(it.stand, Stand::Handled(_)),
            latest: it.latest.clone(),
            sent_back_by: it.sent_back_by,
            items: it.items.clone(),
            latest_items: it.reports.clone(),
            rounds: it.rounds,
        });
        let questions = self.questions.iter().map(|(number, reason)| {
            let is_pointless = match reason {
                PauseReason::Error(step) | PauseReason::Exhausted(step) => {
                    self.known(*step).asked_in != Some(*number)
                }
                PauseReason::Boundary(_)
                | PauseReason::Warning(_)
                | PauseReason::Cap(_)
                | PauseReason::Obstacle(_)
                | PauseReason::Changed(_) => false,
            };
            Pause { number: *number, reason: reason.clone(), is_pointless }
        });
        Mission {
            status: self.status,
            policy: self.policy,
            steps: steps.collect(),
            questions: questions.collect(),
            pauses: self.pauses,
            inputs: self.inputs.clone(),
            cap: self.most.map(|_| Cap { left: self.left, is_final: self.is_final }),
        }
    }
}
