//! The settings that apply: a person's in `projects.json` before those of a trusted `orange.toml`.

use orange_api::SettingOrigin;
use orange_core::budget::Budget;
use orange_core::feedback::{Authors, Resolve};
use orange_core::forge::ForgeKind;
use orange_core::merge::{MessageForm, Strategy};
use orange_core::wall::{Grants, Level, NetworkGrant};

use crate::Result;
use crate::store::Home;
use crate::store::projects::Project;
use crate::store::settings::{IntakeSettings, Ports, ScheduleSettings, Settings, WorktreeProgram};
use crate::store::trust::{self, Trust};
use crate::store::work_item::DEFAULT_HARNESS;

/// A value, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    pub value: T,
    /// Origin of the value.
    pub source: SettingOrigin,
}

/// The settings of a project that apply now.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// As in [`Settings`].
    pub copy: Sourced<Vec<String>>,
    /// As in [`Settings`].
    pub link: Sourced<Vec<String>>,
    /// As in [`Settings`].
    pub setup: Sourced<Vec<WorktreeProgram>>,
    /// As in [`Settings`].
    pub ports: Sourced<Option<Ports>>,
    /// As in [`Settings`].
    pub harness: Sourced<Option<String>>,
    /// As in [`Settings`].
    pub review_harness: Sourced<Option<String>>,
    /// As in [`Settings`].
    pub reclaim_when_waiting: Sourced<bool>,
    /// As in [`Settings`].
    pub environment: Sourced<Option<Vec<String>>>,
    /// As in [`Settings`].
    pub merge: EffectiveMerge,
    /// As in [`Settings`]; `None` for that of the remote's address.
    pub forge: Sourced<Option<ForgeKind>>,
    /// As in [`Settings`].
    pub feedback: EffectiveFeedback,
    /// As in [`Settings`], without those of all projects.
    pub budget: EffectiveBudget,
    /// As in [`Settings`], with those of the content that was agreed to last: what was denied stays so while the file changes.
    pub env_deny: Sourced<Vec<String>>,
    /// As in [`Settings`]: the level is the strictest, and that of the content that was agreed to last stays while the file changes.
    pub sandbox: EffectiveSandbox,
    /// As in [`Settings`].
    pub intake: Sourced<Vec<IntakeSettings>>,
    /// As in [`Settings`].
    pub schedule: Sourced<Vec<ScheduleSettings>>,
    /// Trust in the `orange.toml` of the repository.
    pub trust: Trust,
}

/// The budgets of a project that apply now, as in [`BudgetSettings`].
///
/// [`BudgetSettings`]: crate::store::settings::BudgetSettings
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveBudget {
    pub task: Sourced<Budget>,
    pub day: Sourced<Budget>,
    pub month: Sourced<Budget>,
}

/// The confinement of agents that applies now, as in [`SandboxSettings`].
///
/// [`SandboxSettings`]: crate::store::settings::SandboxSettings
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveSandbox {
    pub level: Sourced<Level>,
    pub network: Sourced<NetworkGrant>,
    pub read: Sourced<Vec<String>>,
    pub write: Sourced<Vec<String>>,
    pub env: Sourced<Vec<String>>,
    pub hosts: Sourced<Vec<String>>,
}

impl EffectiveSandbox {
    /// The grants alone.
    pub fn grants(&self) -> Grants {
        let EffectiveSandbox { read, write, env, hosts, .. } = self;
        let [read, write, env, hosts] = [read, write, env, hosts].map(|list| list.value.clone());
        Grants { network: self.network.value, read, write, env, hosts }
    }
}

/// The settings of merges and syncs that apply now, as in [`MergeSettings`].
///
/// [`MergeSettings`]: crate::store::settings::MergeSettings
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveMerge {
    pub strategy: Sourced<Strategy>,
    pub sync: Sourced<Strategy>,
    pub into: Sourced<Option<String>>,
    pub message: Sourced<MessageForm>,
    pub coauthors: Sourced<bool>,
    pub push: Sourced<bool>,
    pub keep: Sourced<bool>,
}

/// Minutes for which a fact of a watch rule may wait for a busy agent, where the project does not say.
const DEFAULT_PATIENCE: u32 = 15;

/// The settings of feedback that apply now, as in [`FeedbackSettings`].
///
/// [`FeedbackSettings`]: crate::store::settings::FeedbackSettings
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveFeedback {
    pub authors: Sourced<Authors>,
    pub bots: Sourced<Vec<String>>,
    pub resolve: Sourced<Resolve>,
    pub patience: Sourced<u32>,
}

impl Effective {
    /// The harness of workers of new tasks.
    pub fn worker(&self) -> &str {
        self.harness.value.as_deref().unwrap_or(DEFAULT_HARNESS)
    }

    /// The harness of reviewers of new tasks.
    pub fn reviewer(&self) -> &str {
        self.review_harness.value.as_deref().unwrap_or(DEFAULT_HARNESS)
    }
}

/// The settings of a project, from its `orange.toml` as it is now, if that content is trusted.
pub fn effective(home: &Home, project: &Project) -> Result<Effective> {
    let (trust, file) = trust::of(home, project)?;
    let last = if file.is_some() { None } else { trust::last(home, project)? };
    let file = file.unwrap_or_default();
    let level = file.sandbox.level.or(last.as_ref().and_then(|it| it.sandbox.level));
    let denied = Settings {
        env_deny: file.env_deny.clone().or(last.and_then(|it| it.env_deny)),
        ..Settings::default()
    };
    let own = &project.settings;
    Ok(Effective {
        copy: first(own, &file, |it| it.copy.clone()),
        link: first(own, &file, |it| it.link.clone()),
        setup: first(own, &file, |it| it.setup.clone()),
        ports: first(own, &file, |it| it.ports.map(Some)),
        harness: first(own, &file, |it| it.harness.clone().map(Some)),
        review_harness: first(own, &file, |it| it.review_harness.clone().map(Some)),
        reclaim_when_waiting: first(own, &file, |it| it.reclaim_when_waiting),
        environment: first(own, &file, |it| it.environment.clone().map(Some)),
        merge: EffectiveMerge {
            strategy: first(own, &file, |it| it.merge.strategy),
            sync: first_or(own, &file, Strategy::Merge, |it| it.merge.sync),
            into: first(own, &file, |it| it.merge.into.clone().map(Some)),
            message: first(own, &file, |it| it.merge.message),
            coauthors: first_or(own, &file, true, |it| it.merge.coauthors),
            push: first_or(own, &file, true, |it| it.merge.push),
            keep: first(own, &file, |it| it.merge.keep),
        },
        forge: first(own, &file, |it| it.forge.map(Some)),
        feedback: EffectiveFeedback {
            authors: first(own, &file, |it| it.feedback.authors.clone()),
            bots: first(own, &file, |it| it.feedback.bots.clone()),
            resolve: first(own, &file, |it| it.feedback.resolve),
            patience: first_or(own, &file, DEFAULT_PATIENCE, |it| it.feedback.patience),
        },
        budget: EffectiveBudget {
            task: first(own, &file, |it| it.budget.task),
            day: first(own, &file, |it| it.budget.day),
            month: first(own, &file, |it| it.budget.month),
        },
        env_deny: first(own, &denied, |it| it.env_deny.clone()),
        sandbox: EffectiveSandbox {
            level: strictest(own.sandbox.level, level),
            network: first(own, &file, |it| it.sandbox.network),
            read: first(own, &file, |it| it.sandbox.read.clone()),
            write: first(own, &file, |it| it.sandbox.write.clone()),
            env: first(own, &file, |it| it.sandbox.env.clone()),
            hosts: first(own, &file, |it| it.sandbox.hosts.clone()),
        },
        intake: first(own, &file, |it| it.intake.clone()),
        schedule: first(own, &file, |it| it.schedule.clone()),
        trust,
    })
}

/// The strictest of both levels: neither source takes away what the other demands.
fn strictest(own: Option<Level>, file: Option<Level>) -> Sourced<Level> {
    let (value, source) = match (own, file) {
        (Some(own), Some(file)) if file > own => (file, SettingOrigin::File),
        (Some(own), _) => (own, SettingOrigin::Project),
        (None, Some(file)) => (file, SettingOrigin::File),
        (None, None) => (Level::default(), SettingOrigin::Default),
    };
    Sourced { value, source }
}

fn first<T: Default>(own: &Settings, file: &Settings, of: impl Fn(&Settings) -> Option<T>) -> Sourced<T> {
    first_or(own, file, T::default(), of)
}

fn first_or<T>(
    own: &Settings,
    file: &Settings,
    default: T,
    of: impl Fn(&Settings) -> Option<T>,
) -> Sourced<T> {
    match (of(own), of(file)) {
        (Some(value), _) => Sourced { value, source: SettingOrigin::Project },
        (None, Some(value)) => Sourced { value, source: SettingOrigin::File },
        (None, None) => Sourced { value: default, source: SettingOrigin::Default },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::settings::{FILE, SandboxSettings};
    use crate::store::tests;

    #[test]
    fn the_stricter_level_applies() {
        let (off, wall) = (Some(Level::Off), Some(Level::Wall));
        for (own, file, expect, source) in [
            (None, None, Level::Off, SettingOrigin::Default),
            (off, wall, Level::Wall, SettingOrigin::File),
            (wall, off, Level::Wall, SettingOrigin::Project),
            (None, wall, Level::Wall, SettingOrigin::File),
            (off, off, Level::Off, SettingOrigin::Project),
        ] {
            assert_eq!(strictest(own, file), Sourced { value: expect, source }, "{own:?} {file:?}");
        }
    }

    #[test]
    fn a_change_of_the_file_takes_no_wall_away_and_grants_nothing() {
        let (_folder, home) = tests::home();
        let repository = tempfile::tempdir().unwrap();
        let project = Project { path: repository.path().to_owned(), ..Project::default() };
        let write = |text: &str| std::fs::write(repository.path().join(FILE), text).unwrap();
        let now = || effective(&home, &project).unwrap().sandbox;
        let text = "[sandbox]\nlevel = 'wall'\nnetwork = 'open'\nread = ['/a']\n";
        write(text);
        let nothing = (Level::Off, Grants::default());
        assert_eq!((now().level.value, now().grants()), nothing, "no person has agreed to it");
        trust::agree(&home, &project.name, Some(text)).unwrap();
        assert_eq!((now().level.value, now().read.value), (Level::Wall, vec!["/a".to_owned()]));
        assert_eq!(now().grants().network, NetworkGrant::Open);
        write("[sandbox]\nlevel = 'off'\nnetwork = 'open'\nread = ['/']\n");
        assert_eq!((now().level.value, now().grants()), (Level::Wall, Grants::default()));
        write("[sandbox]\nlevel = 'off'\nread = ['/b']\n");
        assert_eq!((now().level.value, now().grants()), (Level::Wall, Grants::default()));
        std::fs::remove_file(repository.path().join(FILE)).unwrap();
        assert_eq!(now().level.value, Level::Wall);
        let own = SandboxSettings { read: Some(vec!["/c".to_owned()]), ..SandboxSettings::default() };
        let settings = Settings { sandbox: own, ..Settings::default() };
        let asked = effective(&home, &Project { settings, ..project.clone() }).unwrap().sandbox;
        assert_eq!((asked.level.value, asked.read.value), (Level::Wall, vec!["/c".to_owned()]));
    }
}
