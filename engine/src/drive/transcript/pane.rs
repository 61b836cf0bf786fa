//! Recordings of panes: written while the pane lives, and converted to text afterwards.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::{Error, Result};
use orange_system::nofollow;

/// The length of a recording; of a longer one, the end is kept.
const LONGEST: u64 = 8 << 20;

/// Records the input until it ends, in a file that is locked meanwhile. On a full disk, what does not fit is lost.
pub fn record(input: &mut dyn Read, path: &Path) -> Result<()> {
    record_within(input, path, LONGEST)
}

fn record_within(input: &mut dyn Read, path: &Path, longest: u64) -> Result<()> {
    let failed = |cause: io::Error| Error::io("write", path, &cause);
    let file = nofollow::open(path, OFlags::RDWR | OFlags::CREATE).map_err(failed)?;
    record_into(file, input, longest).map_err(failed)
}

fn record_into(mut file: File, input: &mut dyn Read, longest: u64) -> io::Result<()> {
    const AT_ONCE: usize = 64 * 1024;
    file.lock()?;
    let mut length = file.seek(SeekFrom::End(0))?;
    let mut buffer = vec![0; AT_ONCE];
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
            Err(cause) => return Err(cause),
        };
        if file.write_all_at(&buffer[..read], length).is_ok() {
            length += read as u64;
        }
        if length > longest {
            // After a failure, the next bytes are another attempt.
            length = keep_half(&file, length, longest / 2).unwrap_or(length);
        }
    }
}

/// Moves the last bytes of a file to its beginning, and returns its new length.
fn keep_half(file: &File, length: u64, half: u64) -> io::Result<u64> {
    let mut end = Vec::new();
    let mut file = file;
    file.seek(SeekFrom::Start(length - half))?;
    file.take(half).read_to_end(&mut end)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&end)?;
    file.set_len(half)?;
    Ok(half)
}

/// The text of a terminal's output: without escape sequences and control characters, and with the last version of overwritten
/// lines.
pub fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_sequence(&mut letters),
            '\u{9b}' => skip_until(&mut letters, is_final),
            '\n' => plain.push('\n'),
            '\t' => plain.push('\t'),
            '\r' if letters.peek() != Some(&'\n') => {
                plain.truncate(plain.rfind('\n').map_or(0, |end| end + 1));
            }
            '\u{8}' if !plain.ends_with('\n') => drop(plain.pop()),
            control if control.is_control() => {}
            other => plain.push(other),
        }
    }
    plain
}

type Letters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

fn skip_sequence(letters: &mut Letters<'_>) {
    match letters.next() {
        Some('[') => skip_until(letters, is_final),
        // A string for the terminal ends with a bell, or with an escape and a backslash.
        Some(']' | 'P' | '_' | '^' | 'X') => skip_string(letters),
        Some(' '..='/') => skip_until(letters, |letter| ('0'..='~').contains(&letter)),
        Some(_) | None => {}
    }
}

fn skip_until(letters: &mut Letters<'_>, is_last: impl Fn(char) -> bool) {
    // A control character ends an incomplete sequence.
    while let Some(letter) = letters.next_if(|letter| !letter.is_control()) {
        if is_last(letter) {
            return;
        }
    }
}

fn skip_string(letters: &mut Letters<'_>) {
    while let Some(letter) = letters.next() {
        match letter {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                letters.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

fn is_final(letter: char) -> bool {
    ('@'..='~').contains(&letter)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expect: &str) {
        assert_eq!(plain(bytes), expect);
    }

    #[test]
    fn escape_sequences_are_no_text() {
        check(b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07text\r\n", "red text\n");
        check(b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link");
        check(b"\x1b(B\x1b[?25hok\x1b7\x1b8", "ok");
        check(b"10%\r20%\r100%\r\ndone", "100%\ndone");
        check(b"ab\x08c\tx\x00\x07", "ac\tx");
        check("é ✓\n".as_bytes(), "é ✓\n");
        check(b"torn \x1b[3", "torn ");
        check(b"torn \x1b[3\nnext", "torn \nnext");
        check(b"\xff", "\u{fffd}");
    }

    #[test]
    fn what_comes_in_is_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.pane");
        record(&mut b"one ".as_slice(), &path).unwrap();
        record(&mut b"two".as_slice(), &path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one two");
    }

    #[test]
    fn the_end_of_much_is_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.pane");
        let lines: Vec<u8> = (0..100_000).flat_map(|number| format!("{number}\n").into_bytes()).collect();
        record_within(&mut lines.as_slice(), &path, 100_000).unwrap();
        let recorded = fs::read(&path).unwrap();
        assert!(recorded.len() <= 100_000 + 64 * 1024, "{}", recorded.len());
        assert!(recorded.len() >= 50_000 && lines.ends_with(&recorded));
    }

    #[test]
    fn a_link_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["1.pane", "other"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(record(&mut b"x".as_slice(), &path).is_err());
        assert!(!other.exists());
        // It leaves out bytes that cannot be written, and goes on reading.
        let mut full = b"x".repeat(1 << 20);
        full.push(b'\n');
        let mut input = full.as_slice();
        let file = File::options().read(true).write(true).open("/dev/full").unwrap();
        assert!(record_into(file, &mut input, LONGEST).is_ok());
        assert!(input.is_empty());
    }
}
