//! Records and applies consent, and takes it back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::record::{RecordedEdit, SetupConsent};
use super::{Matter, Remedy, SetupRecord, json};
use crate::store::Home;
use crate::store::lock::{self, LockRank};
use crate::{Error, ErrorKind, Result};
use orange_system::files::if_found;
use orange_system::{atomic, clock, fault};

/// Records that this harness may work in this repository, and changes the files that must say so. Returns these files.
pub fn agree(home: &Home, harness: &str, repo: &Path, matters: &[Matter]) -> Result<Vec<PathBuf>> {
    home.prepare()?;
    let _lock = lock::acquire(home, &home.root().join(".setup.lock"), LockRank::Projects, "the setup")?;
    let mut record = SetupRecord::read(home)?;
    if !record.has(harness, repo) {
        record.agreed.push(SetupConsent {
            harness: harness.to_owned(),
            repo: repo.to_owned(),
            at: clock::now(),
            ..SetupConsent::default()
        });
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for matter in matters.iter().filter(|matter| !matter.is_answered) {
        let Remedy::File { file, path, value, before } = &matter.remedy else { continue };
        let _writing = LockFolder::begin(file)?;
        let text = read(file)?;
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let old = text.as_deref().unwrap_or("{}\n");
        let Some((new, depth)) = json::set(old, &names, value) else {
            return Err(Error::new(ErrorKind::Corrupt, format!("{} cannot be changed", file.display()))
                .help(format!("it is not a JSON object with room for `{}`: mend it", path.join("."))));
        };
        record.edits.push(RecordedEdit {
            harness: harness.to_owned(),
            repo: repo.to_owned(),
            file: file.clone(),
            path: path.clone(),
            depth,
            created: text.is_none(),
            before: before.clone(),
            after: value.clone(),
            ..RecordedEdit::default()
        });
        // The change is recorded before it is made, so that it can always be undone.
        fault::step("write", "setup.json");
        record.write(home)?;
        fault::step("change", "a file of a harness");
        atomic::write_linked(file, new.as_bytes())?;
        if !files.contains(file) {
            files.push(file.clone());
        }
    }
    record.write(home).map(|()| files)
}

/// Takes back the consent for this harness, or for all. Later changes of others stay. Returns the changed files.
pub fn undo(home: &Home, harness: Option<&str>) -> Result<Vec<PathBuf>> {
    home.prepare()?;
    let _lock = lock::acquire(home, &home.root().join(".setup.lock"), LockRank::Projects, "the setup")?;
    let mut record = SetupRecord::read(home)?;
    let is_meant = |name: &str| harness.is_none_or(|harness| harness == name);
    let mut files: Vec<PathBuf> = Vec::new();
    for edit in record.edits.iter().rev().filter(|edit| is_meant(&edit.harness)) {
        let _writing = LockFolder::begin(&edit.file)?;
        let Some(text) = read(&edit.file)? else { continue };
        let Some(new) = without(&text, edit) else { continue };
        fault::step("change back", "a file of a harness");
        if edit.created && new.trim() == "{}" {
            fs::remove_file(&edit.file).map_err(|cause| Error::io("remove", &edit.file, &cause))?;
        } else {
            atomic::write_linked(&edit.file, new.as_bytes())?;
        }
        if !files.contains(&edit.file) {
            files.push(edit.file.clone());
        }
    }
    record.agreed.retain(|agreed| !is_meant(&agreed.harness));
    record.edits.retain(|edit| !is_meant(&edit.harness));
    fault::step("write", "setup.json");
    record.write(home).map(|()| files)
}

/// The text without an edit; `None` if the edit is no longer there.
fn without(text: &str, edit: &RecordedEdit) -> Option<String> {
    let names: Vec<&str> = edit.path.iter().map(String::as_str).collect();
    let read: Value = serde_json::from_str(text).ok()?;
    let now = json::get(&read, &names)?;
    if let (Value::Array(now), Value::Array(after)) = (now, &edit.after)
        && now != after
    {
        // If others have added entries, only our own are removed.
        let before = edit.before.as_array().cloned().unwrap_or_default();
        let ours = |value: &Value| after.contains(value) && !before.contains(value);
        let left: Vec<Value> = now.iter().filter(|value| !ours(value)).cloned().collect();
        return (left.len() < now.len())
            .then(|| json::set(text, &names, &Value::Array(left)))?
            .map(|(text, _)| text);
    }
    if *now != edit.after {
        return None;
    }
    if edit.depth == names.len() {
        return json::set(text, &names, &edit.before).map(|(text, _)| text);
    }
    // The outermost object that was created for it is removed, too, unless others have added something.
    let inner = names[edit.depth + 1..].iter().rev();
    let made = inner.fold(edit.after.clone(), |inner, name| {
        Value::Object([((*name).to_owned(), inner)].into_iter().collect())
    });
    let outermost = &names[..=edit.depth];
    let is_alone = json::get(&read, outermost) == Some(&made);
    json::remove(text, if is_alone { outermost } else { &names })
}

fn read(file: &Path) -> Result<Option<String>> {
    if_found(file, fs::read_to_string(file))
}

/// The folder with which claude locks its file, for as long as this lives.
struct LockFolder(PathBuf);

impl LockFolder {
    fn begin(file: &Path) -> Result<LockFolder> {
        const PATIENCE: Duration = Duration::from_secs(5);
        /// An older folder is abandoned: its holder renews it every few seconds.
        const STALE: Duration = Duration::from_secs(60);
        let mut name = file.as_os_str().to_owned();
        name.push(".lock");
        let folder = PathBuf::from(name);
        let until = Instant::now() + PATIENCE;
        loop {
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(LockFolder(folder)),
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                    let modified = fs::metadata(&folder).and_then(|metadata| metadata.modified());
                    if modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > STALE)) {
                        fs::remove_dir(&folder).unwrap_or_default();
                    } else if Instant::now() > until {
                        return Err(Error::new(
                            ErrorKind::Locked,
                            format!("{} is being written", file.display()),
                        )
                        .help(format!("try again; if nothing writes it, remove {}", folder.display())));
                    } else {
                        thread::sleep(Duration::from_millis(20));
                    }
                }
                Err(cause) => return Err(Error::io("lock", file, &cause)),
            }
        }
    }
}

impl Drop for LockFolder {
    fn drop(&mut self) {
        fs::remove_dir(&self.0).unwrap_or_default();
    }
}
