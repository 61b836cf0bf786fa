//! `orange schedule`: the schedules of a project, with their next slots.

use std::time::{Duration, UNIX_EPOCH};

use crate::Result;
use crate::app::App;
use crate::cmd::answer::{CommandAnswer, one_line, table};
use crate::cmd::args::ScheduleArgs;
use crate::cmd::project;
use crate::flow::schedule::{now, zone};
use crate::store::effective::effective;
use crate::store::schedules::{self, ScheduleState};
use crate::store::settings::ScheduleSettings;
use orange_api::{ScheduleRow, Schedules};
use orange_system::clock;

pub fn run(app: &App, args: &ScheduleArgs) -> Result<CommandAnswer> {
    let project = project::named_or_here(app, args.project.as_deref())?;
    let settings = effective(&app.home, &project)?;
    let states = schedules::read(&app.home, &project.name)?;
    let row = |schedule| row(app, schedule, states.get(&schedule.name).cloned().unwrap_or_default());
    let answer = Schedules {
        project: project.name.clone(),
        warning: settings.trust.warning(&project.name),
        schedules: settings.schedule.value.iter().map(row).collect(),
    };
    CommandAnswer::of(&answer, text(&answer))
}

fn row(app: &App, schedule: &ScheduleSettings, state: ScheduleState) -> ScheduleRow {
    let zone = zone(schedule);
    let next = zone.as_ref().ok().and_then(|zone| schedule.times.next(zone, now()));
    let plan = app.machines.plan(&schedule.mission).map(drop);
    let at = |seconds: i64| {
        let since = Duration::from_secs(u64::try_from(seconds).ok()?);
        Some(clock::rfc3339(UNIX_EPOCH + since))
    };
    let (owed, owed_reason) = state.owed.map(|(slot, reason)| (slot.slot, reason)).unzip();
    let (last, last_result) = state.last.unzip();
    ScheduleRow {
        name: schedule.name.clone(),
        cron: schedule.cron.clone(),
        tz: schedule.tz.clone(),
        mission: schedule.mission.clone(),
        next: next.map(|slot| slot.local.to_string()),
        next_at: next.and_then(|slot| at(slot.at)),
        owed,
        owed_reason,
        last,
        last_result,
        missions: state.missions,
        error: zone.err().or(plan.err()).map(|error| error.one_line()),
    }
}

fn text(answer: &Schedules) -> String {
    const WIDTH: usize = 60;
    let Schedules { project, warning, schedules } = answer;
    let mut parts = Vec::new();
    parts.extend(warning.clone());
    if schedules.is_empty() {
        parts.push(format!(
            "no mission of {project} starts by itself: `[[schedule]]` in its orange.toml names times, once that file is trusted"
        ));
        return parts.join("\n\n");
    }
    let none = || "-".to_owned();
    let row = |it: &ScheduleRow| {
        let next = it.next.as_ref().map(|next| format!("{next} {}", it.tz));
        let last =
            it.last.as_ref().zip(it.last_result.as_ref()).map(|(slot, result)| format!("{slot}: {result}"));
        let owed = it.owed.as_ref().zip(it.owed_reason.as_ref());
        let owed = owed.map(|(slot, reason)| format!("{slot} waits ({reason})"));
        let state = it.error.clone().or(owed).or(last);
        [
            it.name.clone(),
            it.cron.clone(),
            it.mission.clone(),
            next.unwrap_or_else(none),
            state.map_or_else(none, |state| one_line(&state, WIDTH)),
        ]
    };
    let rows: Vec<_> = schedules.iter().map(row).collect();
    parts.push(table(["SCHEDULE", "CRON", "MISSION", "NEXT", "LAST"], &rows));
    parts.join("\n\n")
}
