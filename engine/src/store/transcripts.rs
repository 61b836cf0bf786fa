//! Transcripts of agents: a compressed file for each spawn in the task's folder; the oldest are removed to save space.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use rustix::fs::OFlags;

use crate::store::{WorkItemDir, home};
use crate::{Error, ErrorKind, Result};
use orange_system::files::if_found;
use orange_system::{atomic, fault, nofollow};

/// Bytes of a transcript that are kept, before compression: its end.
pub const LONGEST: u64 = 64 << 20;

/// The megabytes that all transcripts of a task may take, unless its project sets another limit.
pub const DEFAULT_MB: u32 = 20;

/// The form of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TranscriptForm {
    /// The output of the agent's pane, as its terminal got it.
    Pane,
    /// The harness's own file: a JSON object for each line.
    Jsonl,
}

/// A transcript in the task's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTranscript {
    pub spawn: u32,
    pub form: TranscriptForm,
    pub path: PathBuf,
    /// Its size on disk, in bytes.
    pub size: u64,
}

impl TranscriptForm {
    fn named(name: &str) -> Option<TranscriptForm> {
        match name {
            "pane" => Some(TranscriptForm::Pane),
            "jsonl" => Some(TranscriptForm::Jsonl),
            _ => None,
        }
    }
}

impl fmt::Display for TranscriptForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TranscriptForm::Pane => "pane",
            TranscriptForm::Jsonl => "jsonl",
        })
    }
}

/// The transcripts of a task, by spawn.
pub fn all(dir: &WorkItemDir) -> Result<Vec<StoredTranscript>> {
    let mut all: Vec<StoredTranscript> = entries(dir)?.iter().filter_map(StoredTranscript::of).collect();
    all.sort_by_key(|kept| (kept.spawn, kept.form));
    Ok(all)
}

/// Saves the transcript of an agent, removes those of the oldest agents to make room, and returns the file's name. The caller
/// holds the task's lock. On failure the earlier file stays.
pub fn keep(
    dir: &WorkItemDir,
    spawn: u32,
    form: TranscriptForm,
    contents: &[u8],
    limit: u64,
) -> Result<String> {
    let folder = dir.transcripts();
    home::make_folder(&folder)?;
    atomic::sweep(&folder);
    let name = format!("{spawn}.{form}.gz");
    let path = folder.join(&name);
    let small = compress_within(contents, limit).map_err(|cause| Error::io("compress", &path, &cause))?;
    make_room(dir, spawn, limit.saturating_sub(small.len() as u64))?;
    atomic::write(&path, &small)?;
    Ok(name)
}

impl StoredTranscript {
    fn of(entry: &fs::DirEntry) -> Option<StoredTranscript> {
        let name = entry.file_name();
        let (spawn, form) = name.to_str()?.strip_suffix(".gz")?.split_once('.')?;
        let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some(StoredTranscript {
            spawn: spawn.parse().ok()?,
            form: TranscriptForm::named(form)?,
            path: entry.path(),
            size: metadata.len(),
        })
    }

    /// Its contents; of an incomplete file, what is there.
    pub fn read(&self) -> Result<Vec<u8>> {
        let unreadable = |cause: io::Error| Error::io("read", &self.path, &cause);
        let mut contents = Vec::new();
        let file = nofollow::open(&self.path, OFlags::RDONLY).map_err(unreadable)?;
        match GzDecoder::new(file).take(LONGEST).read_to_end(&mut contents) {
            Err(cause)
                if !matches!(cause.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput) =>
            {
                Err(unreadable(cause))
            }
            Ok(_) | Err(_) => Ok(contents),
        }
    }
}

/// Reads the recorded output of an agent's pane once its recorder has ended; `None` without a recording.
pub fn pane(dir: &WorkItemDir, spawn: u32) -> Result<Option<Vec<u8>>> {
    let path = dir.pane(spawn);
    let Some(mut file) = if_found(&path, nofollow::open(&path, OFlags::RDONLY))? else { return Ok(None) };
    until_unlocked(&file);
    end_of(&mut file, LONGEST).map(Some).map_err(|cause| Error::io("read", &path, &cause))
}

/// Waits, at most ten seconds, until tmux has started the recorder of an agent's pane.
pub fn until_recorded(dir: &WorkItemDir, spawn: u32) {
    const PATIENCE: Duration = Duration::from_secs(10);
    let path = dir.pane(spawn);
    wait_while(PATIENCE, || nofollow::metadata(&path).is_err());
}

/// Removes the recording of a pane, which another file has now.
pub fn forget_pane(dir: &WorkItemDir, spawn: u32) -> Result<()> {
    atomic::remove(&dir.pane(spawn))
}

/// The agents whose pane was recorded and whose transcript is not saved, alive or not.
pub fn panes(dir: &WorkItemDir) -> Result<Vec<u32>> {
    let names = entries(dir)?.into_iter().map(|entry| entry.file_name());
    Ok(names.filter_map(|name| name.to_str()?.strip_suffix(".pane")?.parse().ok()).collect())
}

fn entries(dir: &WorkItemDir) -> Result<Vec<fs::DirEntry>> {
    let folder = dir.transcripts();
    nofollow::entries(&folder).map_err(|cause| Error::io("read the folder", &folder, &cause))
}

/// The end of a file, at most `longest` bytes.
pub fn end_of(file: &mut File, longest: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(longest)))?;
    let mut contents = Vec::new();
    file.take(longest).read_to_end(&mut contents)?;
    if length > longest {
        contents = from_line(&contents, 0).to_vec();
    }
    Ok(contents)
}

/// Waits briefly for the end of the recorder, which holds a lock on its file as long as the pane exists.
fn until_unlocked(file: &File) {
    const PATIENCE: Duration = Duration::from_secs(2);
    wait_while(PATIENCE, || matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
}

fn wait_while(patience: Duration, mut lasts: impl FnMut() -> bool) {
    const PAUSE: Duration = Duration::from_millis(5);
    let until = Instant::now() + patience;
    while lasts() && Instant::now() < until {
        std::thread::sleep(PAUSE);
    }
}

/// Compresses a transcript; as long as the result is too large, it drops the first half.
fn compress_within(mut contents: &[u8], limit: u64) -> io::Result<Vec<u8>> {
    loop {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(contents)?;
        let small = encoder.finish()?;
        if small.len() as u64 <= limit || contents.is_empty() {
            return Ok(small);
        }
        contents = from_line(contents, contents.len() / 2 + 1);
    }
}

/// The rest from the first line that begins at `at` or later.
fn from_line(contents: &[u8], at: usize) -> &[u8] {
    let rest = contents.get(at..).unwrap_or_default();
    rest.iter().position(|byte| *byte == b'\n').map_or(rest, |end| &rest[end + 1..])
}

/// Removes the transcripts of the oldest agents until the others take at most `room` bytes.
fn make_room(dir: &WorkItemDir, but: u32, room: u64) -> Result<()> {
    let others: Vec<StoredTranscript> = all(dir)?.into_iter().filter(|kept| kept.spawn != but).collect();
    let mut size: u64 = others.iter().map(|kept| kept.size).sum();
    for oldest in others {
        if size <= room {
            break;
        }
        fault::step("remove", oldest.path.display());
        remove(&oldest.path)?;
        size -= oldest.size;
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    nofollow::remove(path).map_err(|cause| {
        Error::new(ErrorKind::Environment, format!("cannot remove {}: {cause}", path.display()))
            .help("mend the permissions of its folder")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Home;

    fn task() -> (tempfile::TempDir, WorkItemDir) {
        let folder = tempfile::tempdir().unwrap();
        let dir = Home::at(folder.path()).task("toy", "t1");
        fs::create_dir_all(&dir.path).unwrap();
        (folder, dir)
    }

    /// Bytes that no compression makes smaller, the same for the same seed.
    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut state = seed | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn what_is_kept_is_read_back() {
        let (_folder, dir) = task();
        assert_eq!(all(&dir).unwrap(), []);
        let text = b"{\"a\":1}\n".repeat(10_000);
        assert_eq!(keep(&dir, 2, TranscriptForm::Jsonl, &text, 1 << 20).unwrap(), "2.jsonl.gz");
        assert_eq!(keep(&dir, 1, TranscriptForm::Pane, b"$ ls", 1 << 20).unwrap(), "1.pane.gz");
        let kept = all(&dir).unwrap();
        assert_eq!(
            kept.iter().map(|it| (it.spawn, it.form)).collect::<Vec<_>>(),
            [(1, TranscriptForm::Pane), (2, TranscriptForm::Jsonl)]
        );
        assert_eq!((kept[0].read().unwrap(), kept[1].read().unwrap()), (b"$ ls".to_vec(), text));
        assert!(kept[1].size < 2_000, "{}", kept[1].size);
        // Keeping it again, as after a kill, changes nothing.
        keep(&dir, 1, TranscriptForm::Pane, b"$ ls", 1 << 20).unwrap();
        assert_eq!(all(&dir).unwrap(), kept);
    }

    #[test]
    fn the_oldest_go_when_there_is_too_much() {
        let (_folder, dir) = task();
        for spawn in 1..=11 {
            keep(&dir, spawn, TranscriptForm::Pane, &noise(spawn.into(), 10_000), 35_000).unwrap();
            let size: u64 = all(&dir).unwrap().iter().map(|kept| kept.size).sum();
            assert!(size <= 35_000, "{size}");
        }
        let spawns: Vec<u32> = all(&dir).unwrap().iter().map(|kept| kept.spawn).collect();
        assert_eq!(spawns, [9, 10, 11]);
    }

    #[test]
    fn of_one_that_is_too_large_the_end_is_kept() {
        let (_folder, dir) = task();
        let mut contents = noise(7, 50_000);
        contents.extend_from_slice(b"\nthe last line\n");
        keep(&dir, 1, TranscriptForm::Jsonl, &contents, 20_000).unwrap();
        let kept = all(&dir).unwrap().remove(0);
        assert!(kept.size <= 20_000, "{}", kept.size);
        let read = kept.read().unwrap();
        assert!(contents.ends_with(&read) && read.ends_with(b"the last line\n"), "{}", read.len());
        assert_eq!(keep(&dir, 1, TranscriptForm::Jsonl, &contents, 0).unwrap(), "1.jsonl.gz");
    }

    #[test]
    fn a_torn_file_gives_what_is_there_and_a_bomb_is_bounded() {
        let (_folder, dir) = task();
        keep(&dir, 1, TranscriptForm::Pane, &noise(3, 100_000), 1 << 20).unwrap();
        let kept = all(&dir).unwrap().remove(0);
        let whole = fs::read(&kept.path).unwrap();
        fs::write(&kept.path, &whole[..whole.len() / 2]).unwrap();
        assert!(noise(3, 100_000).starts_with(&kept.read().unwrap()));
        fs::write(&kept.path, "no gzip at all").unwrap();
        assert_eq!(kept.read().unwrap(), b"");
        let zeros = vec![0; 1 << 20];
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        (0..LONGEST >> 20 << 1).for_each(|_| encoder.write_all(&zeros).unwrap());
        fs::write(&kept.path, encoder.finish().unwrap()).unwrap();
        assert_eq!(kept.read().unwrap().len() as u64, LONGEST);
    }

    #[test]
    fn strangers_in_the_folder_are_no_transcripts() {
        let (_folder, dir) = task();
        fs::create_dir_all(dir.transcripts().join("3.pane.gz")).unwrap();
        for name in ["x.pane.gz", "1.txt.gz", "1.pane", ".1.pane.gz.1.1.tmp", "-1.pane.gz"] {
            fs::write(dir.transcripts().join(name), "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", dir.transcripts().join("4.pane.gz")).unwrap();
        assert_eq!(all(&dir).unwrap(), []);
        assert_eq!(panes(&dir).unwrap(), [1]);
    }

    #[test]
    fn a_pane_is_read_when_its_recorder_is_gone() {
        let (_folder, dir) = task();
        assert_eq!(pane(&dir, 1).unwrap(), None);
        fs::create_dir_all(dir.transcripts()).unwrap();
        fs::write(dir.pane(1), "abc").unwrap();
        let recorder = File::open(dir.pane(1)).unwrap();
        recorder.lock().unwrap();
        let release = std::thread::spawn({
            let path = dir.pane(1);
            move || {
                fs::write(path, "abcdef").unwrap();
                drop(recorder);
            }
        });
        let read = pane(&dir, 1).unwrap().unwrap();
        release.join().unwrap();
        assert_eq!(read, b"abcdef");
        forget_pane(&dir, 1).unwrap();
        forget_pane(&dir, 1).unwrap();
        assert_eq!(pane(&dir, 1).unwrap(), None);
    }
}
