//! Finds a harness's file of an agent's conversation by its contents: the folder and, if its id is unknown, the prompt with which it
//! begins.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use super::{is_id, pattern, spent};
use crate::store::transcripts;
use orange_system::files::{open_regular, real};

/// The conversation to find.
#[derive(Clone, Copy, Debug)]
pub struct Sought<'s> {
    /// The paths of the harness's transcripts.
    pub patterns: &'s [String],
    /// Its id, if it is known.
    pub id: Option<&'s str>,
    /// The folder that the agent works in.
    pub worktree: &'s Path,
    /// The file was written to after this time.
    pub since: Option<SystemTime>,
    /// Its beginning, if its id is unknown: the prompt, or a sentence with the path of its file.
    pub prompt: Option<(&'s str, &'s Path)>,
}

/// A conversation that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundConversation {
    pub id: String,
    pub path: PathBuf,
}

/// Bytes of a file that are searched for its beginning.
const HEAD: u64 = 1 << 20;

/// The latest file of the conversation. `env` returns the variables that patterns name.
pub fn find(sought: &Sought<'_>, env: &dyn Fn(&str) -> Option<OsString>) -> Option<FoundConversation> {
    let named = |pattern: &String| match sought.id {
        Some(id) => pattern.replace("{session}", id),
        None => pattern.clone(),
    };
    let mut candidates: Vec<(SystemTime, FoundConversation)> = Vec::new();
    for (path, session) in sought.patterns.iter().flat_map(|it| pattern::expand(&named(it), env)) {
        let id = sought.id.map_or(session, str::to_owned);
        let written = fs::symlink_metadata(&path).and_then(|it| it.modified());
        if let Some(written) = written.ok().filter(|written| is_id(&id) && sought.is_recent(*written)) {
            candidates.push((written, FoundConversation { id, path }));
        }
    }
    candidates.sort_by_key(|(written, _)| std::cmp::Reverse(*written));
    candidates.into_iter().map(|(_, found)| found).find(|found| sought.is_it(&found.path))
}

/// The end of a transcript, up to the length that is kept.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    transcripts::end_of(&mut open_regular(path)?, transcripts::LONGEST)
}

impl Sought<'_> {
    fn is_recent(&self, written: SystemTime) -> bool {
        self.since.is_none_or(|since| written >= since)
    }

    fn is_it(&self, path: &Path) -> bool {
        let mut head = Vec::new();
        let read = open_regular(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
        if read.is_err() {
            return false;
        }
        let lines = head.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        let mut seen = ConversationSigns { folder: false, prompt: self.prompt.is_none() };
        for (number, line) in lines.enumerate() {
            // A subagent's record may begin with a copy of the conversation.
            if number == 0 && self.id.is_none() && spent::is_of_subagent(&line) {
                return false;
            }
            self.look(&line, None, &mut seen);
            if seen.folder && seen.prompt {
                return true;
            }
        }
        false
    }

    fn look(&self, value: &Value, key: Option<&str>, seen: &mut ConversationSigns) {
        match value {
            Value::String(text) if key == Some("cwd") => {
                let folder = Path::new(text);
                seen.folder |= folder == self.worktree || real(folder) == real(self.worktree);
            }
            Value::String(text) => seen.prompt |= self.begins_with(text),
            Value::Array(values) => values.iter().for_each(|value| self.look(value, key, seen)),
            Value::Object(members) => {
                members.iter().for_each(|(key, value)| self.look(value, Some(key), seen));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn begins_with(&self, text: &str) -> bool {
        let is_file = |file: &Path| file.to_str().is_some_and(|file| text.contains(file));
        self.prompt.is_some_and(|(prompt, file)| text.trim() == prompt.trim() || is_file(file))
    }
}

/// Signs of a conversation in a file.
struct ConversationSigns {
    folder: bool,
    prompt: bool,
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::symlink;
    use std::time::Duration;

    use super::*;

    const PATTERN: &str = "~/sessions/*/{session}.jsonl";

    struct SessionFolder {
        folder: tempfile::TempDir,
        patterns: Vec<String>,
    }

    impl SessionFolder {
        fn new() -> SessionFolder {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir_all(folder.path().join("sessions/x")).unwrap();
            fs::create_dir_all(folder.path().join("wt")).unwrap();
            SessionFolder { folder, patterns: vec![PATTERN.to_owned()] }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        /// A conversation in this folder with this prompt.
        fn write(&self, id: &str, cwd: &str, prompt: &str) -> PathBuf {
            let path = self.at("sessions/x").join(format!("{id}.jsonl"));
            let cwd = self.at(cwd);
            let said = serde_json::json!({ "message": { "content": [{ "text": prompt }] } });
            fs::write(
                &path,
                format!("{}\nbroken\n{said}\n", serde_json::json!({ "payload": { "cwd": cwd } })),
            )
            .unwrap();
            path
        }

        fn find(&self, id: Option<&str>, prompt: Option<&str>, since: Option<SystemTime>) -> Option<String> {
            let home = |name: &str| (name == "HOME").then(|| self.folder.path().as_os_str().to_owned());
            let (worktree, file) = (self.at("wt"), self.at("prompts/1.md"));
            let prompt = prompt.map(|prompt| (prompt, file.as_path()));
            let sought = Sought { patterns: &self.patterns, id, worktree: &worktree, since, prompt };
            find(&sought, &home).map(|found| found.id)
        }
    }

    #[test]
    fn a_conversation_is_found_by_its_id_or_its_prompt() {
        let place = SessionFolder::new();
        place.write("one", "wt", "Do one.\n");
        place.write("two", "wt", "Do two.");
        let found = |id, prompt| place.find(id, prompt, None);
        assert_eq!(found(Some("one"), None).as_deref(), Some("one"));
        assert_eq!(found(None, Some("Do two.\n")).as_deref(), Some("two"));
        assert_eq!(found(None, Some("Do three.")), None);
        assert_eq!(found(Some("three"), None), None);
        place.write("long", "wt", &format!("Read the file {}.", place.at("prompts/1.md").display()));
        assert_eq!(found(None, Some("much")).as_deref(), Some("long"));
    }

    #[test]
    fn a_conversation_in_another_folder_is_somebody_elses() {
        let place = SessionFolder::new();
        place.write("one", "other", "Do it.");
        assert_eq!(place.find(Some("one"), None, None), None);
        assert_eq!(place.find(None, Some("Do it."), None), None);
        symlink(place.at("wt"), place.at("link")).unwrap();
        place.write("two", "link", "Do it.");
        assert_eq!(place.find(None, Some("Do it."), None).as_deref(), Some("two"));
    }

    #[test]
    fn a_copy_of_a_conversation_for_a_subagent_is_not_found() {
        let place = SessionFolder::new();
        place.write("one", "wt", "Do it.");
        let copy = place.write("two", "wt", "Do it.");
        let meta = serde_json::json!({ "type": "session_meta", "payload": { "id": "two", "parent_thread_id": "one" } });
        fs::write(&copy, format!("{meta}\n{}", fs::read_to_string(&copy).unwrap())).unwrap();
        assert_eq!(place.find(None, Some("Do it."), None).as_deref(), Some("one"));
    }

    #[test]
    fn an_older_conversation_is_another_agents() {
        let place = SessionFolder::new();
        let now = SystemTime::now() - Duration::from_secs(1);
        let old = place.write("old", "wt", "Do it.");
        File::options().append(true).open(old).unwrap().set_modified(now - Duration::from_secs(60)).unwrap();
        assert_eq!(place.find(None, Some("Do it."), Some(now)), None);
        assert_eq!(place.find(Some("old"), None, None).as_deref(), Some("old"));
        place.write("new", "wt", "Do it.");
        assert_eq!(place.find(None, Some("Do it."), Some(now)).as_deref(), Some("new"));
    }

    #[test]
    fn links_fifos_and_huge_files_are_no_danger() {
        let place = SessionFolder::new();
        let there = place.write("real", "wt", "Do it.");
        symlink(&there, place.at("sessions/x/link.jsonl")).unwrap();
        symlink("/etc/passwd", place.at("sessions/x/passwd.jsonl")).unwrap();
        let fifo = place.at("sessions/x/fifo.jsonl");
        orange_testkit::make_fifo(&fifo);
        let huge = place.write("huge", "wt", "Do it.");
        File::options().append(true).open(&huge).unwrap().set_len(10 << 30).unwrap();
        for (id, expect) in [("link", None), ("passwd", None), ("fifo", None), ("huge", Some("huge"))] {
            assert_eq!(place.find(Some(id), None, None).as_deref(), expect, "{id}");
        }
        assert!(read(&huge).unwrap().len() as u64 <= transcripts::LONGEST);
        assert!(read(&fifo).is_err() && read(&place.at("sessions/x/passwd.jsonl")).is_err());
    }

    #[test]
    fn an_id_with_other_characters_finds_nothing() {
        let place = SessionFolder::new();
        place.write("-c", "wt", "Do it.");
        fs::write(place.at("sessions/secret.jsonl"), "").unwrap();
        for id in ["-c", "../secret", "*", "?c", "a b", "$(x)", "{session}"] {
            assert_eq!(place.find(Some(id), None, None), None, "{id}");
        }
    }
}
