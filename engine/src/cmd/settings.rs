//! The settings that `orange.toml` can have, for `orange project show`.

use crate::Result;
use crate::app::App;
use crate::cmd::answer::table;
use crate::store::effective::{Effective, EffectiveMerge, Sourced, effective};
use crate::store::projects::Project;
use crate::store::settings::{Ports, WorktreeProgram};
use crate::store::trust::{self, Trust};
use orange_api::{
    OrangeToml, PortsOfSlot, SettingOrigin, SettingSource, SetupProgram, SharedBudgetSettings,
    SharedFeedbackSettings, SharedMergeSettings, SharedSandboxSettings, SharedSettings, ShownProject,
    TrustState,
};

/// The settings of a project that apply now.
pub fn shown(app: &App, project: &Project) -> Result<SharedSettings> {
    let settings = effective(&app.home, project)?;
    let (worker, reviewer) = (settings.worker().to_owned(), settings.reviewer().to_owned());
    let Effective {
        copy,
        link,
        setup,
        ports,
        harness,
        review_harness,
        reclaim_when_waiting,
        environment,
        merge,
        forge,
        feedback,
        budget,
        env_deny,
        sandbox,
        intake,
        schedule,
        trust,
    } = settings;
    let programs = setup
        .value
        .iter()
        .map(|WorktreeProgram { argv, timeout }| SetupProgram { argv: argv.clone(), timeout: *timeout });
    Ok(SharedSettings {
        file: OrangeToml {
            path: trust::path(project).display().to_string(),
            trust: state(&trust),
            warning: trust.warning(&project.name),
        },
        setup: with(programs.collect(), &setup),
        copy: with(copy.value.clone(), &copy),
        link: with(link.value.clone(), &link),
        ports: with(ports.value.map(|it| of_slots(project, it)).unwrap_or_default(), &ports),
        harness: with(worker, &harness),
        review_harness: with(reviewer, &review_harness),
        reclaim_when_waiting: with(reclaim_when_waiting.value, &reclaim_when_waiting),
        environment: with(environment.value.clone(), &environment),
        merge: shown_merge(&merge),
        forge: with(forge.value.map(|it| it.as_str().to_owned()), &forge),
        feedback: SharedFeedbackSettings {
            authors: with(feedback.authors.value.words(), &feedback.authors),
            bots: with(feedback.bots.value.clone(), &feedback.bots),
            resolve: with(feedback.resolve.value.as_str().to_owned(), &feedback.resolve),
            patience: with(feedback.patience.value, &feedback.patience),
        },
        budget: SharedBudgetSettings {
            task: with(budget.task.value, &budget.task),
            day: with(budget.day.value, &budget.day),
            month: with(budget.month.value, &budget.month),
        },
        env_deny: with(env_deny.value.clone(), &env_deny),
        sandbox: SharedSandboxSettings {
            level: with(sandbox.level.value.as_str().to_owned(), &sandbox.level),
            network: with(sandbox.network.value.as_str().to_owned(), &sandbox.network),
            read: with(sandbox.read.value.clone(), &sandbox.read),
            write: with(sandbox.write.value.clone(), &sandbox.write),
            env: with(sandbox.env.value.clone(), &sandbox.env),
            hosts: with(sandbox.hosts.value.clone(), &sandbox.hosts),
        },
        intake: with(intake.value.iter().map(|it| it.label.clone()).collect(), &intake),
        schedule: with(schedule.value.iter().map(|it| it.name.clone()).collect(), &schedule),
    })
}

fn shown_merge(merge: &EffectiveMerge) -> SharedMergeSettings {
    let EffectiveMerge { strategy, sync, into, message, coauthors, push, keep } = merge;
    SharedMergeSettings {
        strategy: with(strategy.value.as_str().to_owned(), strategy),
        sync: with(sync.value.as_str().to_owned(), sync),
        into: with(into.value.clone(), into),
        message: with(message.value.as_str().to_owned(), message),
        coauthors: with(coauthors.value, coauthors),
        push: with(push.value, push),
        keep: with(keep.value, keep),
    }
}

/// A project and its settings as text.
pub fn text(shown: &ShownProject) -> String {
    let ShownProject { project, settings: it } = shown;
    let or_none = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let programs = it.setup.value.iter().map(|it| format!("{} ({} s)", it.argv.join(" "), it.timeout));
    let ports = it.ports.value.iter().map(|it| format!("{}: {} to {}", it.workspace, it.first, it.last));
    let row = |name: &str, value: String, source: SettingOrigin| {
        [name.to_owned(), or_none(value), source.as_str().to_owned()]
    };
    let environment = match &it.environment.value {
        Some(names) => names.join(", "),
        None => "all".to_owned(),
    };
    let rows = [
        row("copy", it.copy.value.join(", "), it.copy.source),
        row("link", it.link.value.join(", "), it.link.source),
        row("setup", programs.collect::<Vec<_>>().join("; "), it.setup.source),
        row("ports", ports.collect::<Vec<_>>().join("; "), it.ports.source),
        row("harness", it.harness.value.clone(), it.harness.source),
        row("review_harness", it.review_harness.value.clone(), it.review_harness.source),
        row(
            "reclaim_when_waiting",
            it.reclaim_when_waiting.value.to_string(),
            it.reclaim_when_waiting.source,
        ),
        row("environment", environment, it.environment.source),
        row("merge.strategy", it.merge.strategy.value.clone(), it.merge.strategy.source),
        row("merge.sync", it.merge.sync.value.clone(), it.merge.sync.source),
        row("merge.into", it.merge.into.value.clone().unwrap_or_default(), it.merge.into.source),
        row("merge.message", it.merge.message.value.clone(), it.merge.message.source),
        row("merge.coauthors", it.merge.coauthors.value.to_string(), it.merge.coauthors.source),
        row("merge.push", it.merge.push.value.to_string(), it.merge.push.source),
        row("merge.keep", it.merge.keep.value.to_string(), it.merge.keep.source),
        row("forge", it.forge.value.clone().unwrap_or_else(|| "by the remote".to_owned()), it.forge.source),
        row("feedback.authors", it.feedback.authors.value.join(", "), it.feedback.authors.source),
        row("feedback.bots", it.feedback.bots.value.join(", "), it.feedback.bots.source),
        row("feedback.resolve", it.feedback.resolve.value.clone(), it.feedback.resolve.source),
        row("feedback.patience", format!("{} min", it.feedback.patience.value), it.feedback.patience.source),
        row("budget.task", it.budget.task.value.words(), it.budget.task.source),
        row("budget.day", it.budget.day.value.words(), it.budget.day.source),
        row("budget.month", it.budget.month.value.words(), it.budget.month.source),
        row("agent.env_deny", it.env_deny.value.join(", "), it.env_deny.source),
        row("sandbox.level", it.sandbox.level.value.clone(), it.sandbox.level.source),
        row("sandbox.network", it.sandbox.network.value.clone(), it.sandbox.network.source),
        row("sandbox.read", it.sandbox.read.value.join(", "), it.sandbox.read.source),
        row("sandbox.write", it.sandbox.write.value.join(", "), it.sandbox.write.source),
        row("sandbox.env", it.sandbox.env.value.join(", "), it.sandbox.env.source),
        row("sandbox.hosts", it.sandbox.hosts.value.join(", "), it.sandbox.hosts.source),
        row("intake", it.intake.value.join(", "), it.intake.source),
        row("schedule", it.schedule.value.join(", "), it.schedule.source),
    ];
    let head = format!(
        "{}  {}\nbranch {}, {} worktrees, workflow {}, queue {}",
        project.name,
        project.path,
        project.default_branch,
        project.pool_size,
        project.workflow,
        project.queue
    );
    let warning = it.file.warning.as_ref().map(|warning| format!("\n{warning}"));
    let (table, warning) = (table(["SETTING", "VALUE", "FROM"], &rows), warning.unwrap_or_default());
    format!("{head}\n\n{table}{warning}")
}

fn state(trust: &Trust) -> TrustState {
    match trust {
        Trust::Absent => TrustState::Absent,
        Trust::Trusted => TrustState::Trusted,
        Trust::Untrusted => TrustState::Untrusted,
        Trust::Changed => TrustState::Changed,
        Trust::Gone => TrustState::Gone,
        Trust::Unfit(_) => TrustState::Unfit,
    }
}

fn with<T, U>(value: U, from: &Sourced<T>) -> SettingSource<U> {
    SettingSource { value, source: from.source }
}

fn of_slots(project: &Project, ports: Ports) -> Vec<PortsOfSlot> {
    let of = |number| {
        let range = ports.of_slot(number)?;
        let workspace = format!("{}--{number}", project.name);
        Some(PortsOfSlot { workspace, first: range.first, last: range.last })
    };
    (1..=project.pool_size).filter_map(of).collect()
}
