//! Usage of the agents of all tasks and missions: a fold of their journals, and the records of living agents.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use crate::Result;
use crate::app::App;
use crate::flow::activity;
use crate::store::event::Spent;
use crate::store::{Event, Record, WorkItem, WorkItemDir, WorkItemKind, list};
use orange_api::{UnreadableUsage, UsageGroup};
use orange_system::{clock, fault};

/// The kind of groups of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageBy {
    /// A task or a mission.
    Task,
    Project,
    /// Day of the end of an agent in UTC; today, if it is alive.
    Day,
    /// State of a task, or step of a mission.
    State,
    Harness,
}

impl UsageBy {
    /// The names of all kinds.
    pub const NAMES: [&str; 5] = ["task", "project", "day", "state", "harness"];

    /// The kind of this name.
    pub fn named(name: &str) -> Option<UsageBy> {
        Some(match name {
            "task" => UsageBy::Task,
            "project" => UsageBy::Project,
            "day" => UsageBy::Day,
            "state" => UsageBy::State,
            "harness" => UsageBy::Harness,
            _ => return None,
        })
    }

    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            UsageBy::Task => "task",
            UsageBy::Project => "project",
            UsageBy::Day => "day",
            UsageBy::State => "state",
            UsageBy::Harness => "harness",
        }
    }
}

/// An agent of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct AgentUsage {
    spawn: u32,
    state: String,
    harness: String,
    began: String,
    /// Time of its end, if that is recorded.
    ended: Option<String>,
    /// Duration of its life by its wrapper, in seconds.
    duration: Option<u64>,
    spent: Spent,
}

/// The agents of a journal, by spawn number. A record that stands twice adds nothing.
fn agents(records: &[Record]) -> BTreeMap<u32, AgentUsage> {
    let mut agents: BTreeMap<u32, AgentUsage> = BTreeMap::new();
    let mut state = String::new();
    for record in records {
        if let Some(status) = record.set.0.get("status").and_then(serde_json::Value::as_str) {
            status.clone_into(&mut state);
        }
        // The hooks of a transition start agents for the state that it enters.
        if let Event::TransitionStarted(plan) = &record.event {
            state.clone_from(&plan.to);
        }
        if let Event::AgentSpawned(spawn) | Event::AgentRespawned(spawn) = &record.event {
            agents.entry(spawn.spawn).or_insert_with(|| AgentUsage {
                spawn: spawn.spawn,
                state: spawn.step.clone().unwrap_or_else(|| state.clone()),
                harness: spawn.harness.clone(),
                began: record.timestamp.clone(),
                ..AgentUsage::default()
            });
        }
        if let Event::AgentExited(exited) = &record.event
            && let Some(agent) = agents.get_mut(&exited.spawn)
        {
            agent.ended = Some(record.timestamp.clone());
            agent.duration = exited.duration;
            agent.spent = exited.spent();
        }
    }
    agents
}

impl AgentUsage {
    fn seconds(&self, now: SystemTime) -> u64 {
        let end = self.ended.as_deref().and_then(clock::parse).unwrap_or(now);
        let by_journal = || {
            let lived = clock::parse(&self.began).and_then(|began| end.duration_since(began).ok());
            lived.map_or(0, |lived: Duration| lived.as_secs())
        };
        self.duration.unwrap_or_else(by_journal)
    }

    fn day(&self, now: SystemTime) -> String {
        let end = self.ended.clone().unwrap_or_else(|| clock::rfc3339(now));
        end.get(..10).unwrap_or_default().to_owned()
    }

    fn group(&self, now: SystemTime) -> UsageGroup {
        let is_known = self.spent != Spent::default();
        let Spent { tokens, cost, list_price, unpriced, at_least, .. } = self.spent.clone();
        UsageGroup {
            name: String::new(),
            starts: 1,
            seconds: self.seconds(now),
            tokens,
            cost,
            list_price,
            unpriced,
            at_least,
            unknown: u32::from(!is_known),
        }
    }
}

/// Usage in groups, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageGroups {
    groups: BTreeMap<String, UsageGroup>,
}

impl UsageGroups {
    fn add(&mut self, name: String, one: UsageGroup) {
        let group = self.groups.entry(name).or_default();
        *group = sum(std::mem::take(group), one);
    }

    /// The groups, and their sum.
    pub fn finish(self) -> (Vec<UsageGroup>, UsageGroup) {
        let named = |(name, group)| UsageGroup { name, ..group };
        let groups: Vec<UsageGroup> = self.groups.into_iter().map(named).collect();
        let total = groups.iter().cloned().fold(UsageGroup::default(), sum);
        (groups, UsageGroup { name: String::new(), ..total })
    }
}

fn sum(one: UsageGroup, other: UsageGroup) -> UsageGroup {
    let spent = |group: &UsageGroup| Spent {
        tokens: group.tokens,
        fresh_tokens: None,
        cost: group.cost,
        list_price: group.list_price,
        unpriced: group.unpriced.clone(),
        at_least: group.at_least,
    };
    let Spent { tokens, cost, list_price, unpriced, at_least, .. } = spent(&one).and(spent(&other));
    UsageGroup {
        name: one.name,
        starts: one.starts.saturating_add(other.starts),
        seconds: one.seconds.saturating_add(other.seconds),
        tokens,
        cost,
        list_price,
        unpriced,
        at_least,
        unknown: one.unknown.saturating_add(other.unknown),
    }
}

/// The selection of agents, and how they are grouped.
#[derive(Clone, Debug)]
pub struct UsageSelection<'a> {
    pub by: UsageBy,
    pub project: Option<&'a str>,
    /// The first day that counts, `YYYY-MM-DD`.
    pub since: Option<&'a str>,
}

/// The usage of all agents of tasks and missions that are not deleted, and the journals that cannot be read.
pub fn usage(app: &App, selection: &UsageSelection<'_>) -> Result<(UsageGroups, Vec<UnreadableUsage>)> {
    let now = fault::now();
    let mut groups = UsageGroups::default();
    let mut unreadable = Vec::new();
    let mut dirs = list::dirs(&app.home, &WorkItemKind::ALL, selection.project)?;
    dirs.sort_by(|one, other| (&one.project, &one.id).cmp(&(&other.project, &other.id)));
    for dir in dirs {
        match of_item(app, &dir) {
            Ok(agents) => add(&mut groups, selection, &dir, agents, now),
            Err(error) => unreadable.push(UnreadableUsage {
                id: dir.id.as_str().into(),
                project: dir.project.as_str().into(),
                error: error.one_line(),
            }),
        }
    }
    Ok((groups, unreadable))
}

fn of_item(app: &App, dir: &WorkItemDir) -> Result<Vec<AgentUsage>> {
    let (item, journal) = WorkItem::read(&app.home, dir)?;
    let mut agents = agents(&journal.records);
    let history = journal.history();
    if !history.agents.alive.is_empty() {
        for (spawn, spent) in activity::spent(app, dir, &item, &history) {
            if let Some(agent) = agents.get_mut(&spawn) {
                agent.spent = spent;
            }
        }
    }
    Ok(agents.into_values().collect())
}

fn add(
    groups: &mut UsageGroups,
    selection: &UsageSelection<'_>,
    dir: &WorkItemDir,
    agents: Vec<AgentUsage>,
    now: SystemTime,
) {
    for agent in agents {
        let day = agent.day(now);
        if selection.since.is_some_and(|since| *day < *since) {
            continue;
        }
        let name = match selection.by {
            UsageBy::Task => dir.id.as_str().to_owned(),
            UsageBy::Project => dir.project.as_str().to_owned(),
            UsageBy::Day => day,
            UsageBy::State => agent.state.clone(),
            UsageBy::Harness => agent.harness.clone(),
        };
        groups.add(name, agent.group(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::event::{Exited, Spawn, Transition};
    use crate::store::{Home, Set};

    fn at(seq: u64, time: &str, event: Event, set: Set) -> Record {
        Record { seq, timestamp: format!("2026-11-{time}.000Z"), event, set }
    }

    fn spawn(spawn: u32, harness: &str, step: Option<&str>) -> Event {
        let (harness, step) = (harness.to_owned(), step.map(str::to_owned));
        Event::AgentSpawned(Spawn { spawn, harness, step, ..Spawn::default() })
    }

    fn exited(spawn: u32, tokens: Option<u64>, list_price: Option<u64>) -> Event {
        Event::AgentExited(Exited { tokens, list_price, ..Exited::of(spawn, "exited") })
    }

    fn journal() -> Vec<Record> {
        let entered = Transition { to: "reviewing".to_owned(), ..Transition::default() };
        vec![
            at(1, "20T10:00:00", Event::Unknown, Set::new().status("working")),
            at(2, "20T10:00:01", spawn(1, "claude", None), Set::new()),
            at(3, "20T10:01:01", exited(1, Some(100), Some(20)), Set::new()),
            // A second record of one end adds nothing.
            at(4, "20T10:01:01", exited(1, Some(100), Some(20)), Set::new()),
            at(5, "20T23:59:00", Event::TransitionStarted(entered), Set::new()),
            at(6, "20T23:59:00", spawn(2, "codex", None), Set::new()),
            at(7, "21T00:01:00", exited(2, Some(7), None), Set::new().status("reviewing")),
            at(8, "21T00:02:00", spawn(3, "gemini", Some("ship")), Set::new()),
        ]
    }

    fn grouped(by: UsageBy, since: Option<&str>) -> (Vec<UsageGroup>, UsageGroup) {
        let folder = tempfile::tempdir().unwrap();
        let dir = Home::at(folder.path()).task("coffee", "t1");
        let now = clock::parse("2026-11-22T00:02:30Z").unwrap();
        let mut groups = UsageGroups::default();
        let agents = agents(&journal()).into_values().collect();
        add(&mut groups, &UsageSelection { by, project: None, since }, &dir, agents, now);
        groups.finish()
    }

    fn short(groups: &[UsageGroup]) -> Vec<(&str, u32, u64, Option<u64>)> {
        groups.iter().map(|it| (it.name.as_str(), it.starts, it.seconds, it.tokens)).collect()
    }

    #[test]
    fn agents_are_grouped_by_each_kind() {
        let day = 24 * 60 * 60;
        let all = ("", 3, 60 + 120 + day + 30, Some(107));
        for (by, expect) in [
            (UsageBy::Task, vec![("t1", all.1, all.2, all.3)]),
            (UsageBy::Project, vec![("coffee", all.1, all.2, all.3)]),
            (
                UsageBy::Day,
                vec![
                    ("2026-11-20", 1, 60, Some(100)),
                    ("2026-11-21", 1, 120, Some(7)),
                    ("2026-11-22", 1, day + 30, None),
                ],
            ),
            (
                UsageBy::State,
                vec![
                    ("reviewing", 1, 120, Some(7)),
                    ("ship", 1, day + 30, None),
                    ("working", 1, 60, Some(100)),
                ],
            ),
            (
                UsageBy::Harness,
                vec![("claude", 1, 60, Some(100)), ("codex", 1, 120, Some(7)), ("gemini", 1, day + 30, None)],
            ),
        ] {
            let (groups, total) = grouped(by, None);
            assert_eq!(short(&groups), expect, "{by:?}");
            assert_eq!(short(std::slice::from_ref(&total)), [all], "{by:?}");
            assert_eq!((total.list_price, total.unknown), (Some(20), 1));
        }
    }

    #[test]
    fn earlier_days_do_not_count() {
        let (groups, total) = grouped(UsageBy::Day, Some("2026-11-21"));
        assert_eq!(groups.len(), 2);
        assert_eq!((total.starts, total.tokens), (2, Some(7)));
        assert_eq!(grouped(UsageBy::Task, Some("2027-01-01")), (Vec::new(), UsageGroup::default()));
    }

    #[test]
    fn each_kind_has_its_name() {
        for name in UsageBy::NAMES {
            assert_eq!(UsageBy::named(name).map(UsageBy::name), Some(name));
        }
        assert_eq!(UsageBy::named("week"), None);
    }
}
