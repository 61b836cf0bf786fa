//! A simulation of a mission.

use std::io::{self, Write};

use orange_analysis::missions::MissionAct;
use orange_analysis::plan_walk::command::{Command, HELP};
use orange_analysis::plan_walk::{ActResult, PlanWalk, pause_name, refusal_name};
use orange_core::mission::{AnswerEffect, Effect, Pause, PauseReason};
use orange_core::plan::{Plan, Policy, StepId};

use super::{Simulated, Simulation, Then};

impl<'p> Simulation<PlanWalk<'p>> {
    /// A mission that has begun.
    pub(crate) fn of_mission(plan: &'p Plan<'p>, policy: Policy) -> Self {
        Self::of(PlanWalk::new(plan, policy))
    }

    fn command(&mut self, command: Command, out: &mut impl Write) -> io::Result<()> {
        match command {
            Command::Act(act) => self.act(&act, out),
            Command::Start(inputs) => {
                let walk = PlanWalk::with_inputs(self.walk.plan, self.walk.mission.policy, inputs);
                self.before.push(std::mem::replace(&mut self.walk, walk));
                self.show(out)
            }
            Command::Next => self.next(out),
            Command::Show => self.show(out),
            Command::Context(step) => {
                writeln!(out, "{}", self.walk.mission.context(self.walk.plan, step).trim_end())
            }
            Command::Back => self.back(out),
            Command::Help => out.write_all(HELP.as_bytes()),
            Command::Quit => Ok(()),
        }
    }

    fn act(&mut self, act: &MissionAct, out: &mut impl Write) -> io::Result<()> {
        let before = self.walk.clone();
        match self.walk.act(act, None) {
            Ok(happened) => {
                self.before.push(before);
                self.happened(&happened, out)?;
                match self.walk.mission.questions.len() {
                    0 | 1 => Ok(()),
                    open => writeln!(out, "  {open} pauses are open"),
                }
            }
            Err(refusal) => {
                self.walk = before;
                self.failed = true;
                let why = refusal.words(self.walk.plan, "the mission");
                writeln!(out, "refused ({}): {why}", refusal_name(&refusal))
            }
        }
    }

    fn happened(&self, happened: &ActResult, out: &mut impl Write) -> io::Result<()> {
        for (step, before) in &happened.changed {
            let now = self.walk.mission.step(*step).status;
            writeln!(out, "{}: {} → {}", self.name(*step), before.as_str(), now.as_str())?;
        }
        happened.effects.iter().try_for_each(|effect| writeln!(out, "  {}", self.effect(effect)))
    }

    fn effect(&self, effect: &Effect) -> String {
        match effect {
            Effect::EndAgent { step, attempt } => {
                format!("ends the agent of {}, attempt {attempt}", self.name(*step))
            }
            Effect::Repeated => "was reported before; nothing changes".to_owned(),
            Effect::Paused(pause) => self.pause(pause),
            Effect::Continued(answered) => match answered {
                AnswerEffect::WentOn => "the mission goes on".to_owned(),
                AnswerEffect::TriedAgain(step) => format!("tries {} again", self.name(*step)),
                AnswerEffect::Granted(step) => format!("grants {} one more round", self.name(*step)),
                AnswerEffect::Accepted(step) => format!("takes the failure of {} as it is", self.name(*step)),
                AnswerEffect::Extended => "grants as many attempts again".to_owned(),
                AnswerEffect::Capped => "lets nothing start any more".to_owned(),
            },
            Effect::Land { step, attempt } => {
                format!("merges the branch of {}, attempt {attempt}", self.name(*step))
            }
            Effect::Start { step, attempt } => {
                let role = self.walk.plan.role(self.walk.plan.step(*step).role);
                format!("starts the agent of {}, attempt {attempt}, role {role}", self.name(*step))
            }
            Effect::Ask { step, attempt } => {
                let who = self.walk.plan.step(*step).ask.map_or(&[][..], |it| it.who);
                let whom = if who.is_empty() { "a person".to_owned() } else { who.join(", ") };
                format!("asks {whom} about {}, attempt {attempt}", self.name(*step))
            }
            Effect::Ended(status) => format!("the mission has ended: {}", status.as_str()),
        }
    }

    fn pause(&self, pause: &Pause) -> String {
        let (number, kind) = (pause.number, pause_name(Some(&pause.reason)));
        match &pause.reason {
            PauseReason::Boundary(step)
            | PauseReason::Warning(step)
            | PauseReason::Error(step)
            | PauseReason::Exhausted(step) => format!("pauses ({kind}, {number}) after {}", self.name(*step)),
            PauseReason::Cap(step) => format!("pauses ({kind}, {number}) before {}", self.name(*step)),
            PauseReason::Obstacle(_) | PauseReason::Changed(_) => {
                format!("pauses ({kind}, {number}): {}", pause.reason.obstacle().unwrap_or_default())
            }
        }
    }

    /// The commands that mean something now.
    fn next(&self, out: &mut impl Write) -> io::Result<()> {
        let (plan, mission) = (self.walk.plan, &self.walk.mission);
        if let Some(step) = mission.busy() {
            let name = self.name(step);
            match plan.results_of(step) {
                [] => writeln!(out, "complete {name}")?,
                results => results.iter().try_for_each(|it| writeln!(out, "complete {name} {it}"))?,
            }
            writeln!(out, "fail {name}\nlose {name}")?;
        }
        for (step, _) in mission.open_asks() {
            let name = self.name(step);
            let answers = plan.step(step).answers();
            answers.iter().try_for_each(|it| writeln!(out, "answer {name} {it}"))?;
            if plan.step(step).timeout.is_some() {
                writeln!(out, "expire {name}")?;
            }
        }
        for pause in &mission.questions {
            let number =
                if mission.questions.len() > 1 { format!(" {}", pause.number) } else { String::new() };
            writeln!(out, "continue{number}")?;
            if mission.asks_about(pause).is_some() {
                writeln!(out, "accept{number}")?;
            }
        }
        match mission.status.is_terminal() {
            true => writeln!(out, "nothing more: the mission has ended: {}", mission.status.as_str()),
            false => writeln!(out, "cancel"),
        }
    }

    fn name(&self, step: StepId) -> &'p str {
        self.walk.plan.step(step).id
    }
}

impl Simulated for Simulation<PlanWalk<'_>> {
    fn line(&mut self, line: &str, out: &mut impl Write) -> io::Result<Then> {
        match Command::parse(self.walk.plan, line) {
            Ok(None) => Ok(Then::GoOn),
            Ok(Some(Command::Quit)) => Ok(Then::Stop),
            Ok(Some(command)) => self.command(command, out).map(|()| Then::GoOn),
            Err(why) => self.cannot(&why, out).map(|()| Then::GoOn),
        }
    }

    fn show(&self, out: &mut impl Write) -> io::Result<()> {
        let mission = &self.walk.mission;
        writeln!(out, "mission: {}", mission.status.as_str())?;
        for step in self.walk.plan.step_ids() {
            let state = mission.step(step);
            let attempt = match state.attempt() {
                0 => String::new(),
                number => format!(", attempt {number}"),
            };
            writeln!(out, "  {}: {}{attempt}", self.name(step), state.status.as_str())?;
        }
        Ok(())
    }
}
