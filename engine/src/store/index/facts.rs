//! Facts that indexes keep about journals and texts.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use orange_journal::history::owned;
use orange_journal::read::parse;
use serde::{Deserialize, Serialize};

use crate::store::frontmatter::Document;
use crate::store::index::FileFact;
use crate::store::{Owned, Set, WorkItem, WorkItemDir, WorkItemKind, journal};
use orange_system::many::contents;
use orange_system::regular;

/// Facts of a journal that lists need.
#[derive(Clone, Debug, Default)]
pub struct JournalFacts {
    /// The state that the journal folds to; `None` if only a full read finds it. Most tasks that are over share theirs.
    pub owned: Option<Arc<Owned>>,
    /// That it is known to be idle.
    pub idle: Option<Idle>,
}

/// That a journal was read whole: it has no open transition, no agent whose end is not recorded, no worktree and no session, and its
/// last line is whole. With what else is asked of such journals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The time of its last change of status.
    pub since: Box<str>,
    /// Facts about its end as they are in an index.
    last: Box<str>,
}

/// Facts about the end of an idle journal.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    /// The time of its last record.
    pub ends: String,
    /// The branches that the engine created.
    pub made: Vec<String>,
}

impl Idle {
    /// Of a journal that was not looked at, since the list of idle tasks has it.
    pub fn listed(since: &str) -> Idle {
        Idle { since: since.into(), last: "".into() }
    }

    /// Facts about its end; `None` if they were not read.
    pub fn last(&self) -> Option<Last> {
        serde_json::from_str(&self.last).ok()
    }

    fn of(bytes: &[u8]) -> Option<Idle> {
        let journal = parse(bytes).ok()?;
        let history = journal.history();
        let is_idle =
            history.transition.open.is_none() && history.agents.alive.is_empty() && journal.torn.is_none();
        let ends = journal.records.last().filter(|_| is_idle)?.timestamp.clone();
        let last = Last { ends, made: history.branch.made.into_keys().collect() };
        let last = serde_json::to_string(&last).ok()?.into();
        (!history.since.contains(char::is_whitespace)).then(|| Idle { since: history.since.into(), last })
    }
}

/// Facts of a text without its body.
#[derive(Clone, Debug, Default)]
pub struct TextFacts {
    /// The branch; `None` for a text that only a careful read judges.
    pub branch: Option<String>,
    /// The frontmatter as its line in an index.
    head: Option<String>,
}

/// The values that people own, in the order of a line.
type LineHead = (
    (String, String, String, String),
    (Option<String>, Option<String>, i32, Vec<String>),
    (Option<String>, Option<String>, String, String),
);

impl FileFact for JournalFacts {
    const INDEX: &'static str = ".journals.index";

    type Shared = SharedOwned;

    fn file(_: WorkItemKind) -> &'static str {
        "history.jsonl"
    }

    fn read(dir: &WorkItemDir, is_kept: bool, buffer: &mut Vec<u8>) -> JournalFacts {
        let Ok(bytes) = contents(&dir.history(), journal::LONGEST, buffer) else {
            return JournalFacts::default();
        };
        let Some(owned) = owned(bytes) else { return JournalFacts::default() };
        let is_free = owned.workspace.is_none() && owned.tmux_session.is_none();
        let idle = (is_kept && is_free).then(|| Idle::of(bytes)).flatten();
        JournalFacts { owned: Some(Arc::new(owned)), idle }
    }

    fn encode(&self) -> Option<String> {
        let owned = self.owned.as_deref()?;
        let set = serde_json::to_string(&set_of(owned)).ok()?;
        let idle =
            self.idle.as_ref().map_or_else(String::new, |Idle { since, last }| format!("{since} {last}"));
        (owned_of(&set).as_ref() == Some(owned)).then(|| format!("{idle}\t{set}"))
    }

    fn decode(line: &str, shared: &mut Self::Shared) -> Option<JournalFacts> {
        let (idle, set) = line.split_once('\t')?;
        let idle = idle.split_once(' ').map(|(since, last)| Idle { since: since.into(), last: last.into() });
        let owned = shared.of(set)?;
        Some(JournalFacts { owned: Some(owned), idle })
    }
}

/// The values that were decoded. Most tasks that are over share theirs with the one before.
#[derive(Debug, Default)]
pub struct SharedOwned {
    last: String,
    known: HashMap<String, Arc<Owned>>,
    owned: Option<Arc<Owned>>,
}

impl SharedOwned {
    fn of(&mut self, set: &str) -> Option<Arc<Owned>> {
        if self.owned.is_none() || self.last != set {
            let owned = match self.known.get(set) {
                Some(owned) => Arc::clone(owned),
                None => Arc::new(owned_of(set)?),
            };
            self.known.insert(set.to_owned(), Arc::clone(&owned));
            (self.last, self.owned) = (set.to_owned(), Some(owned));
        }
        self.owned.clone()
    }
}

/// The set that gives a new task all of these values.
pub(super) fn set_of(owned: &Owned) -> Set {
    let Owned { status, counters, workspace, tmux_session, workflow, .. } = owned;
    let set = Set::new()
        .status(status)
        .workflow(workflow, &owned.definition)
        .workspace(workspace.as_deref())
        .tmux_session(tmux_session.as_deref())
        .waiting_until(owned.waiting_until.as_deref())
        .stopped_at(owned.stopped_at.as_deref())
        .hooks_wait(owned.hooks_wait.as_deref())
        .base(owned.base.as_deref())
        .parent(owned.parent.as_deref())
        .source(owned.source.as_deref(), owned.source_by.as_deref(), owned.held);
    counters.iter().fold(set, |set, (name, value)| set.counter(name, *value))
}

/// The values of a set; `None` if a name in it is none, as in a journal.
pub(super) fn owned_of(set: &str) -> Option<Owned> {
    let set = Set(serde_json::from_str(set).ok()?);
    let mut owned = Owned::default();
    owned.apply(&set);
    (set.misnamed().is_none() && !owned.status.is_empty()).then_some(owned)
}

impl FileFact for TextFacts {
    const INDEX: &'static str = ".texts.index";

    type Shared = ();

    fn file(kind: WorkItemKind) -> &'static str {
        kind.file()
    }

    fn read(dir: &WorkItemDir, _: bool, buffer: &mut Vec<u8>) -> TextFacts {
        let bytes = contents(&dir.task_md(), regular::LIMIT, buffer).ok();
        let Some(document) = bytes.and_then(|bytes| Document::parse(bytes).ok()) else {
            return TextFacts::default();
        };
        let task = WorkItem::with(dir, document, Owned::default(), ("", "")).ok();
        let task = task.filter(|task| !task.branch.is_empty() && !task.created_at.is_empty());
        let Some(task) = task else { return TextFacts::default() };
        TextFacts { head: encode_head(&task), branch: Some(task.branch) }
    }

    fn encode(&self) -> Option<String> {
        let branch = serde_json::to_string(self.branch.as_ref()?).ok()?;
        Some(format!("{branch}\t{}", self.head.as_ref()?))
    }

    fn decode(line: &str, _: &mut ()) -> Option<TextFacts> {
        let (branch, head) = line.split_once('\t')?;
        let branch = serde_json::from_str(branch).ok()?;
        Some(TextFacts { branch: Some(branch), head: Some(head.to_owned()) })
    }
}

impl TextFacts {
    /// The task without its body; `None` if only a careful read finds it.
    pub fn task(&self, dir: &WorkItemDir, owned: Owned) -> Option<WorkItem> {
        let head: LineHead = serde_json::from_str(self.head.as_deref()?).ok()?;
        let ((branch, summary, harness, review_harness), (effort, model, priority, blocked_by), last) = head;
        let (attention, pr_url, created_at, updated_at) = last;
        Some(WorkItem {
            kind: dir.kind,
            id: dir.id.clone(),
            project: dir.project.clone(),
            branch,
            summary,
            harness,
            review_harness,
            effort,
            model,
            owned,
            priority,
            blocked_by,
            attention,
            pr_url,
            created_at,
            updated_at,
            body: String::new(),
        })
    }
}

fn encode_head(task: &WorkItem) -> Option<String> {
    let WorkItem { branch, summary, harness, review_harness, effort, model, priority, blocked_by, .. } = task;
    let last = (&task.attention, &task.pr_url, &task.created_at, &task.updated_at);
    let head = ((branch, summary, harness, review_harness), (effort, model, priority, blocked_by), last);
    serde_json::to_string(&head).ok()
}

/// The frontmatter of a text without what people own, as it was found.
#[derive(Clone, Debug, Default)]
pub struct EngineKeys(Option<BTreeMap<String, String>>);

impl EngineKeys {
    /// The value of a key, as it was found; nothing for a text that cannot be parsed.
    pub fn get(&self, key: &str) -> Option<String> {
        self.0.as_ref()?.get(key).cloned()
    }
}

impl FileFact for EngineKeys {
    const INDEX: &'static str = ".keys.index";

    type Shared = ();

    fn file(kind: WorkItemKind) -> &'static str {
        kind.file()
    }

    fn read(dir: &WorkItemDir, _: bool, buffer: &mut Vec<u8>) -> EngineKeys {
        const OF_PEOPLE: [&str; 5] = ["branch", "summary", "attention", "created_at", "updated_at"];
        let bytes = contents(&dir.task_md(), regular::LIMIT, buffer).ok();
        let Some(document) = bytes.and_then(|bytes| Document::parse(bytes).ok()) else {
            return EngineKeys::default();
        };
        let mut keys = document.keys();
        keys.retain(|key| !OF_PEOPLE.contains(&key.as_str()));
        let found = |key: String| Some((document.get(&key).ok()??, key));
        EngineKeys(Some(keys.into_iter().filter_map(found).map(|(value, key)| (key, value)).collect()))
    }

    fn encode(&self) -> Option<String> {
        serde_json::to_string(self.0.as_ref()?).ok()
    }

    fn decode(line: &str, _: &mut ()) -> Option<EngineKeys> {
        serde_json::from_str(line).ok().map(|keys| EngineKeys(Some(keys)))
    }
}
