//! The gates of a task: the sections that have passed, and the programs that were asked.

use std::collections::BTreeMap;

use crate::event::{Answer, Pass, Question, Spawn, Transition};

/// Gates of a task.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct GatesHistory {
    /// The content with which each section last passed a gate, and the work for which that content first did.
    pub passes: BTreeMap<String, Pass>,
    /// The content of sections when the task entered its status.
    pub entered: Vec<Pass>,
    /// The content of sections when agents were started in that status.
    pub found: Vec<Pass>,
    /// The program that a gate asks, with the number of the record: it has not answered, and its answer is wanted.
    pub asked: Option<(u64, Question)>,
    /// The last answer of each program.
    pub answers: Vec<(Question, Answer)>,
}

impl GatesHistory {
    /// The task enters another status by this transition.
    pub(super) fn enter(&mut self, plan: &Transition) {
        for pass in &plan.passed {
            // A verdict stays about the work for which a gate first accepted it.
            let known = self.passes.get(&pass.section);
            if known.is_none_or(|known| known.hash != pass.hash) {
                self.passes.insert(pass.section.clone(), pass.clone());
            }
        }
        self.entered.clone_from(&plan.stood);
        self.found.clear();
    }

    /// The task moves without a transition.
    pub(super) fn forget(&mut self) {
        self.entered.clear();
        self.found.clear();
    }

    pub(super) fn start_agent(&mut self, spawn: &Spawn) {
        let new: Vec<Pass> = spawn.stood.iter().filter(|it| !self.found.contains(it)).cloned().collect();
        self.found.extend(new);
    }

    /// The answer to a question that is no longer asked is not kept.
    pub(super) fn answer(&mut self, answer: &Answer) {
        if let Some((_, question)) = self.asked.take_if(|(seq, _)| *seq == answer.asked) {
            self.answers.retain(|(other, _)| other.argv != question.argv);
            self.answers.push((question, answer.clone()));
        }
    }
}
