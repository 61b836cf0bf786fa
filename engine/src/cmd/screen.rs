//! The terminal that answers are printed on, and how wide text is there.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::tcgetwinsize;
use unicode_width::UnicodeWidthStr;

/// The columns of the terminal; `None` when standard output is not a terminal, or does not say.
pub fn width() -> Option<usize> {
    let out = io::stdout();
    let columns = out.is_terminal().then(|| tcgetwinsize(&out).ok())??.ws_col;
    (columns > 0).then_some(columns.into())
}

/// True if the output is seen in colours: on a terminal, unless `NO_COLOR` is set.
pub fn has_colours() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// True if the output may still be read: the other end of a pipe is open.
pub fn is_read() -> bool {
    let out = io::stdout();
    let mut polled = [PollFd::new(&out, PollFlags::empty())];
    let at_once = Timespec::default();
    let is_known = poll(&mut polled, Some(&at_once)).is_ok_and(|count| count > 0);
    !is_known || !polled[0].revents().intersects(PollFlags::ERR | PollFlags::NVAL)
}

/// Waits for so long, or until nobody can read what is printed any more: the other end of a pipe is closed. Returns whether somebody
/// still can.
pub fn rest(pause: Duration) -> bool {
    let (out, begin) = (io::stdout(), Instant::now());
    let mut polled = [PollFd::new(&out, PollFlags::empty())];
    loop {
        let left = pause.saturating_sub(begin.elapsed());
        let Ok(timeout) = Timespec::try_from(left) else { return true };
        match poll(&mut polled, Some(&timeout)) {
            Ok(0) => return true,
            Ok(_) if polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => return false,
            Err(Errno::INTR) => {}
            // What cannot be polled, such as some devices, is not waited for.
            Ok(_) | Err(_) => {
                std::thread::sleep(left);
                return true;
            }
        }
    }
}

/// Number of columns that the text takes.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// The part of the text that fits, with an ellipsis for the rest.
pub fn fit(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8());
    let end = ends.take_while(|end| columns(&text[..*end]) < width).last().unwrap_or_default();
    format!("{}…", text[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, width: usize, expect: &str) {
        let found = fit(text, width);
        assert_eq!(found, expect);
        assert!(columns(&found) <= width);
    }

    #[test]
    fn text_is_cut_where_the_terminal_ends() {
        check("abc", 3, "abc");
        check("abcd", 3, "ab…");
        check("ab cd", 4, "ab…");
        check("日本語", 6, "日本語");
        check("日本語", 5, "日本…");
        check("日本語", 4, "日…");
        check("🍊🍊", 3, "🍊…");
        check("👩\u{200d}🚀👩\u{200d}🚀", 4, "👩\u{200d}🚀👩\u{200d}🚀");
        check("👩\u{200d}🚀👩\u{200d}🚀", 3, "👩\u{200d}🚀…");
        check("e\u{301}e\u{301}e", 3, "e\u{301}e\u{301}e");
        check("ab", 1, "…");
    }
}
