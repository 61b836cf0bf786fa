//! Names of tasks and missions in the commands that people read: the branch where that leads to them, and else the id.
//!
//! What is stored and what programs run has ids, which name the same task for ever. A branch is what a person types now.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::app::App;
use crate::store::{WorkItem, WorkItemDir, WorkItemKind, id, list};
use crate::{Error, Result};
use orange_api::{MissionAsk, MissionPause, Need};

/// The names of one answer; the tasks that they need are read once.
#[derive(Debug)]
pub struct KnownNames<'a> {
    app: &'a App,
    /// By id, and whether the command takes tasks and missions alike.
    known: Mutex<BTreeMap<(String, bool), Option<String>>>,
    /// Every task and mission, read when a name depends on others.
    all: OnceLock<Vec<Branch>>,
}

/// The branch of a task or mission.
#[derive(Debug)]
struct Branch {
    dir: WorkItemDir,
    name: String,
    is_over: bool,
}

/// An id in a command.
#[derive(Debug, PartialEq, Eq)]
struct Mention {
    place: Range<usize>,
    /// `orange task …` or `orange mission …`.
    kind: WorkItemKind,
    /// True if the command takes tasks and missions alike.
    takes_both: bool,
}

/// True if the text has a command with an id.
pub fn has_ids(text: &str) -> bool {
    !mentions(text).is_empty()
}

impl<'a> KnownNames<'a> {
    /// No name is known yet.
    pub fn of(app: &'a App) -> KnownNames<'a> {
        KnownNames { app, known: Mutex::default(), all: OnceLock::new() }
    }

    /// The text with branches in place of the ids in its commands.
    pub fn in_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut named = Cow::Borrowed(text);
        for Mention { place, kind, takes_both } in mentions(text).into_iter().rev() {
            if let Some(branch) = self.branch(&text[place.clone()], kind, takes_both) {
                named.to_mut().replace_range(place, &branch);
            }
        }
        named
    }

    /// The error with branches in place of the ids in its commands.
    pub fn in_error(&self, mut error: Error) -> Error {
        error.message = self.in_text(&error.message).into_owned();
        error.help = self.in_text(&error.help).into_owned();
        error
    }

    /// The need with branches in place of the ids in its reason. Its actions keep ids, since programs run them.
    pub fn in_need(&self, need: Need) -> Need {
        Need { why: self.in_text(&need.why).into_owned(), ..need }
    }

    /// The pause with branches in place of the ids in its text and its commands.
    pub fn in_pause(&self, pause: MissionPause) -> MissionPause {
        let in_text = |text: &String| self.in_text(text).into_owned();
        MissionPause {
            what: in_text(&pause.what),
            offers: pause.offers.iter().map(in_text).collect(),
            ..pause
        }
    }

    /// The questions with branches in place of the ids in their commands.
    pub fn in_asks(&self, asks: Vec<MissionAsk>) -> Vec<MissionAsk> {
        let in_text = |text: &String| self.in_text(text).into_owned();
        let named = |ask: MissionAsk| MissionAsk { offers: ask.offers.iter().map(in_text).collect(), ..ask };
        asks.into_iter().map(named).collect()
    }

    /// The name of a task in commands for tasks, or of a mission in those for missions.
    pub fn name(&self, dir: &WorkItemDir) -> String {
        self.branch(&dir.id, dir.kind, false).unwrap_or_else(|| dir.id.clone())
    }

    fn branch(&self, id: &str, kind: WorkItemKind, takes_both: bool) -> Option<String> {
        let key = (id.to_owned(), takes_both);
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known.clone();
        }
        // Without an answer, the id is right.
        let found = self.found(id, kind, takes_both).unwrap_or_default();
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
        found
    }

    fn found(&self, id: &str, kind: WorkItemKind, takes_both: bool) -> Result<Option<String>> {
        let home = &self.app.home;
        let [dir] = &list::with_id(home, &WorkItemKind::ALL, None, id)?[..] else { return Ok(None) };
        if dir.kind != kind && !takes_both {
            return Ok(None);
        }
        let (task, _) = WorkItem::read_last(home, dir, 0)?;
        let branch = task.branch.as_str();
        if !is_plain(branch) || branch.contains(id) {
            return Ok(None);
        }
        // Of the unfinished tasks and missions of one project, no two have one branch.
        let is_alone = !self.app.is_over(&task) && list::projects_with_tasks(home)? == [dir.project.as_str()];
        if is_alone {
            return Ok(Some(task.branch));
        }
        let kinds: &[WorkItemKind] = if takes_both { &WorkItemKind::ALL } else { &[kind] };
        Ok((self.led_to(kinds, branch) == Some(dir)).then_some(task.branch))
    }

    /// The one that a command finds by this branch: an unfinished one, or else a finished one.
    fn led_to(&self, kinds: &[WorkItemKind], branch: &str) -> Option<&WorkItemDir> {
        let all = self.all.get_or_init(|| branches(self.app).unwrap_or_default());
        let with_branch = all.iter().filter(|it| it.name == branch && kinds.contains(&it.dir.kind));
        let (over, live): (Vec<&Branch>, Vec<&Branch>) = with_branch.partition(|it| it.is_over);
        match &(if live.is_empty() { over } else { live })[..] {
            [one] => Some(&one.dir),
            [..] => None,
        }
    }
}

fn branches(app: &App) -> Result<Vec<Branch>> {
    let known = list::journals(&app.home, &WorkItemKind::ALL, None, &|_, _| true)?;
    Ok(list::each(known, |listed| {
        let name = listed.branch()?.into_owned();
        let is_over = listed.task.as_ref().is_ok_and(|task| app.is_over(task));
        Some(Branch { dir: listed.dir, name, is_over })
    }))
}

/// True if a person can type it as it is: no shell and no list of names gives a letter of it another meaning.
fn is_plain(branch: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./+@".contains(letter);
    !branch.is_empty() && branch.chars().all(is_plain)
}

/// The ids in the commands of a text, from the first to the last. A command ends at a backquote or with its line.
fn mentions(text: &str) -> Vec<Mention> {
    const COMMANDS: [(&str, WorkItemKind); 2] =
        [("orange task ", WorkItemKind::Task), ("orange mission ", WorkItemKind::Mission)];
    let mut found = Vec::new();
    for (command, kind) in COMMANDS {
        for (at, _) in text.match_indices(command) {
            let begin = at + command.len();
            let rest = &text[begin..];
            let end = rest.find(['`', '\n']).unwrap_or(rest.len());
            let takes_both = rest.starts_with("answer ");
            found.extend(ids(&rest[..end]).map(|id| {
                let place = begin + id.start..begin + id.end;
                Mention { place, kind, takes_both }
            }));
        }
    }
    found.sort_by_key(|mention| mention.place.start);
    found.dedup_by_key(|mention| mention.place.start);
    found
}

/// Ranges of the ids in the arguments. An id stands alone or at the beginning of the name of a request.
fn ids(arguments: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    arguments.split([' ', ',']).filter_map(move |word| {
        let begin = at;
        at += word.len() + 1;
        let (id, rest) = word.split_at_checked(id::LENGTH)?;
        let ends = !rest.starts_with(|letter: char| letter.is_alphanumeric() || "-_/".contains(letter));
        (id::is_prefix(id) && ends).then(|| begin..begin + id.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::tests::MACHINES;
    use crate::machines::Machines;
    use crate::store::{Event, LockedWorkItem, Set, WorkItemDraft, create, find, tests};

    const ID: &str = "k3v9qa8b2c7d1e6f0g5h4";

    #[track_caller]
    fn check_mentions(text: &str, expect: &[(&str, WorkItemKind, bool)]) {
        let found = mentions(text);
        let found: Vec<_> =
            found.iter().map(|it| (&text[it.place.clone()], it.kind, it.takes_both)).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn ids_are_found_in_commands_alone() {
        let (task, mission) = (WorkItemKind::Task, WorkItemKind::Mission);
        check_mentions(&format!("task {ID} is gone"), &[]);
        check_mentions(&format!("`orange task next {ID}` shows {ID}"), &[(ID, task, false)]);
        check_mentions(&format!("  orange mission retry {ID}\n{ID}"), &[(ID, mission, false)]);
        check_mentions(&format!("`orange task answer {ID}.1.9f2c allow`"), &[(ID, task, true)]);
        check_mentions(&format!("orange task spawn {ID},{ID}."), &[(ID, task, false), (ID, task, false)]);
        let two = format!("`orange task undo {ID}`; or `orange mission show {ID}`");
        check_mentions(&two, &[(ID, task, false), (ID, mission, false)]);
        for other in [&ID[1..], &format!("{ID}x"), &format!("orange-tasks/{ID}"), &format!("{ID}/x")] {
            check_mentions(&format!("`orange task show {other}`"), &[]);
        }
    }

    fn lab() -> (tempfile::TempDir, App) {
        let (folder, home) = tests::home();
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        (folder, app)
    }

    fn draft(branch: &str) -> WorkItemDraft {
        WorkItemDraft { workflow: "test".to_owned(), ..tests::draft(branch) }
    }

    fn task(app: &App, draft: &WorkItemDraft) -> WorkItemDir {
        create(&app.home, draft, |_| Ok(())).unwrap().dir().clone()
    }

    /// The name in a command, which leads back to the task.
    #[track_caller]
    fn check_name(app: &App, dir: &WorkItemDir, expect: &str) {
        let command = format!("`orange {} show {}`", dir.kind.word(), dir.id);
        let named = KnownNames::of(app).in_text(&command).into_owned();
        assert_eq!(named, format!("`orange {} show {expect}`", dir.kind.word()));
        let found = find::named(&app.home, dir.kind, expect, None, &|kind, owned| app.is_end(kind, owned));
        assert_eq!(found.as_ref(), Ok(dir));
    }

    fn finish(app: &App, dir: &WorkItemDir, status: &str) {
        LockedWorkItem::lock(&app.home, dir)
            .unwrap()
            .append(Event::Unknown, Set::new().status(status))
            .unwrap();
    }

    fn in_project(app: &App, project: &str, branch: &str) -> WorkItemDir {
        task(app, &WorkItemDraft { project: project.to_owned(), ..draft(branch) })
    }

    #[test]
    fn a_command_names_a_task_by_its_branch() {
        let (_folder, app) = lab();
        let dir = task(&app, &draft("fix/login"));
        check_name(&app, &dir, "fix/login");
        let mission = tests::mission(&app.home, "brew").dir().clone();
        check_name(&app, &mission, "brew");
        check_name(&app, &dir, "fix/login");
        let error =
            Error::new(crate::ErrorKind::Refused, "no").help(format!("`orange task stop {}`", dir.id));
        assert_eq!(KnownNames::of(&app).in_error(error).help, "`orange task stop fix/login`");
        let pause = MissionPause {
            number: 1,
            reason: "obstacle".to_owned(),
            step: None,
            what: format!("`orange mission show {}` tells more", mission.id),
            offers: vec![format!("orange mission cancel {}", mission.id)],
        };
        let MissionPause { what, offers, .. } = KnownNames::of(&app).in_pause(pause);
        assert_eq!(
            (what.as_str(), &offers[..]),
            ("`orange mission show brew` tells more", &["orange mission cancel brew".to_owned()][..])
        );
    }

    #[test]
    fn a_branch_that_leads_elsewhere_is_not_named() {
        let (_folder, app) = lab();
        let first = task(&app, &draft("fix"));
        finish(&app, &first, "done");
        check_name(&app, &first, "fix");
        let second = task(&app, &draft("fix"));
        check_name(&app, &first, &first.id.clone());
        check_name(&app, &second, "fix");
        finish(&app, &second, "done");
        check_name(&app, &second, &second.id.clone());

        let alone = in_project(&app, "tea", "steep");
        check_name(&app, &alone, "steep");
        let both = [in_project(&app, "tea", "pour"), in_project(&app, "coffee", "pour")];
        both.iter().for_each(|dir| check_name(&app, dir, &dir.id));
    }

    #[test]
    fn what_a_shell_reads_otherwise_is_not_named() {
        let (_folder, app) = lab();
        for branch in ["a$(b)", "it's", "a;b", "a,b", "größer", "a&b", "#1"] {
            let dir = task(&app, &draft(branch));
            check_name(&app, &dir, &dir.id);
        }
        let dir = task(&app, &WorkItemDraft { branch: None, ..draft("") });
        check_name(&app, &dir, &dir.id);
    }

    #[test]
    fn an_answer_names_a_mission_by_its_branch_too() {
        let (_folder, app) = lab();
        let mission = tests::mission(&app.home, "brew").dir().clone();
        let answer = format!("`orange task answer {}.1.9f2c allow`", mission.id);
        assert_eq!(KnownNames::of(&app).in_text(&answer), "`orange task answer brew.1.9f2c allow`");
        let diff = format!("`orange task diff {}`", mission.id);
        assert_eq!(KnownNames::of(&app).in_text(&diff), diff);
    }
}
