//! Rollouts of codex, which repeat the total of their thread after each answer.
//!
//! A rollout that was forked from another begins with a copy of that one. Some versions copy its totals, too, with new times.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use orange_system::clock;
use orange_system::files::open_regular;

use super::{MOST_SUBAGENTS, TokenCounts, Usage};

/// Bytes of a rollout's first line, which has the instructions of the thread.
const LONGEST_META: u64 = 1 << 20;

/// A rollout that is read line by line.
#[derive(Debug, Default)]
pub(super) struct Rollout {
    meta: Option<SessionMeta>,
    /// True while the lines are copies of another rollout.
    is_copied: bool,
    model: String,
    /// The last total of the thread.
    seen: TokenCounts,
    usage: Usage,
}

/// First line of a rollout.
#[derive(Clone, Debug, Default)]
struct SessionMeta {
    id: String,
    /// The thread at the root of a tree of subagents.
    session: Option<String>,
    /// The thread that has started this one.
    parent: Option<String>,
    is_fork: bool,
    /// Number of the first line that is not copied, in newer versions.
    starts_at: Option<u64>,
    began: Option<SystemTime>,
}

impl SessionMeta {
    fn of(line: &Value) -> Option<SessionMeta> {
        let payload = line.get("payload").filter(|_| line["type"] == "session_meta")?;
        let text = |path: &str| payload.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let parent =
            text("/parent_thread_id").or_else(|| text("/source/subagent/thread_spawn/parent_thread_id"));
        Some(SessionMeta {
            id: text("/id")?,
            session: text("/session_id"),
            is_fork: parent.is_some() || text("/forked_from_id").is_some(),
            parent,
            starts_at: payload["subagent_history_start_ordinal"].as_u64(),
            began: text("/timestamp").as_deref().and_then(clock::parse),
        })
    }

    /// True if this line begins a turn of this thread, and not of the copied one. Newer ids of turns and threads begin with their time.
    fn is_own_turn(&self, line: &Value) -> bool {
        let payload = &line["payload"];
        let begins = line["type"] == "turn_context" || payload["type"] == "task_started";
        let Some(turn) = payload["turn_id"].as_str().filter(|_| begins) else { return false };
        if has_time(turn) && has_time(&self.id) {
            return *turn >= *self.id;
        }
        let seconds =
            |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map(|it| it.as_secs()).ok();
        let began = self.began.and_then(seconds);
        payload["started_at"].as_u64().zip(began).is_some_and(|(turn, began)| turn >= began)
    }
}

/// True for the first line of a rollout of a subagent.
pub fn is_of_subagent(line: &Value) -> bool {
    SessionMeta::of(line).is_some_and(|meta| meta.parent.is_some())
}

/// True for a version 7 UUID, which begins with its time.
fn has_time(id: &str) -> bool {
    id.len() == 36 && id.as_bytes().get(14) == Some(&b'7')
}

impl Rollout {
    /// The id of the thread; `None` without its first line.
    pub(super) fn own(&self) -> Option<&str> {
        self.meta.as_ref().map(|meta| meta.id.as_str())
    }

    pub(super) fn note(&mut self, line: &Value, is_earlier: bool) {
        if let Some(meta) = SessionMeta::of(line) {
            match &self.meta {
                // The first line of the rollout that was copied.
                Some(own) => self.is_copied |= own.id != meta.id,
                None => {
                    self.is_copied = meta.is_fork;
                    self.meta = Some(meta);
                }
            }
            return;
        }
        self.look_for_own(line);
        if let Some(model) = line["payload"]["model"].as_str().filter(|_| line["type"] == "turn_context") {
            model.clone_into(&mut self.model);
        }
        if let Some((total, last)) = totals(line) {
            let new = since(self.seen, total, last);
            self.seen = total;
            if !is_earlier && !self.is_copied {
                self.usage.add(&self.model, new);
            }
        }
    }

    fn look_for_own(&mut self, line: &Value) {
        let Some(meta) = self.meta.as_ref().filter(|_| self.is_copied) else { return };
        self.is_copied = match (meta.starts_at, line["ordinal"].as_u64()) {
            (Some(start), Some(number)) => number < start,
            (_, _) => !meta.is_own_turn(line),
        };
    }

    /// Adds what the thread itself has used. Of a copy without an end, the thread's own part is unknown.
    pub(super) fn add_to(self, usage: &mut Usage) {
        usage.is_partial |= self.is_copied && self.seen.total() > 0;
        self.usage.models.iter().for_each(|(model, counts)| usage.add(model, *counts));
    }
}

/// The total of a thread and the usage of its last answer.
fn totals(line: &Value) -> Option<(TokenCounts, Option<TokenCounts>)> {
    let info = line.get("payload").filter(|payload| payload["type"] == "token_count")?.get("info")?;
    Some((counts(info.get("total_token_usage")?)?, info.get("last_token_usage").and_then(counts)))
}

/// Tokens of a cache are a part of those that were read, and those of the reasoning a part of those that were written.
fn counts(usage: &Value) -> Option<TokenCounts> {
    let total = usage["total_tokens"].as_u64()?;
    let number = |name: &str| usage[name].as_u64().unwrap_or_default();
    let (read, write) = (number("cached_input_tokens"), number("cache_write_input_tokens"));
    let known = TokenCounts {
        input: number("input_tokens").saturating_sub(read).saturating_sub(write),
        output: number("output_tokens"),
        cache_read: read,
        cache_write_5m: write,
        ..TokenCounts::default()
    };
    // Kinds that do not make up the total are not known.
    let is_whole = known.total() == total;
    Some(if is_whole { known } else { TokenCounts { other: total, ..TokenCounts::default() } })
}

/// The usage between two totals. A thread repeats its total without a new answer, and a fork may begin at 0 again.
fn since(before: TokenCounts, total: TokenCounts, last: Option<TokenCounts>) -> TokenCounts {
    let goes_on = last.is_none_or(|last| before.total() + last.total() == total.total());
    if total.total() == before.total() {
        TokenCounts::default()
    } else if total.total() < before.total() || !goes_on && last == Some(total) {
        total
    } else if before.other > 0 || total.other > 0 {
        TokenCounts { other: total.total() - before.total(), ..TokenCounts::default() }
    } else {
        total.minus(before)
    }
}

/// The rollouts of the subagents of this thread, and of theirs: `sessions/YYYY/MM/DD/rollout-*.jsonl`, beside those of all
/// other threads.
pub(super) fn subagents(path: &Path, id: &str, since: Option<SystemTime>) -> Vec<PathBuf> {
    let Some((sessions, own_day)) = day_of(path) else { return Vec::new() };
    let days = folders(&sessions).flat_map(|it| folders(&it)).flat_map(|it| folders(&it));
    // A thread is not older than the one that has started it.
    let days = days.filter(|day| day.strip_prefix(&sessions).is_ok_and(|day| day >= own_day.as_path()));
    let mut rollouts: Vec<PathBuf> = days.flat_map(|day| entries(&day)).filter(|it| is_rollout(it)).collect();
    // By the ids, which begin with their time: a thread comes before those that it starts.
    rollouts.sort_by(|one, other| thread_of(one).cmp(&thread_of(other)));
    let mut known = BTreeSet::from([id.to_owned()]);
    let mut found = Vec::new();
    let may_be_later = |it: &PathBuf| it != path && (!has_time(id) || thread_of(it) >= Some(id));
    for rollout in rollouts.into_iter().filter(may_be_later) {
        let Some(meta) = meta_of(&rollout) else { continue };
        let is_below = |of: &Option<String>| of.as_ref().is_some_and(|of| known.contains(of));
        let is_subagent = meta.parent.is_some() && (is_below(&meta.parent) || is_below(&meta.session));
        if !is_subagent || !known.insert(meta.id) {
            continue;
        }
        let written = fs::symlink_metadata(&rollout).and_then(|it| it.modified()).ok();
        if since.is_none_or(|since| written.is_none_or(|written| written >= since)) {
            found.push(rollout);
        }
        if found.len() > MOST_SUBAGENTS {
            break;
        }
    }
    found
}

/// The folder of all days, and the day of this rollout in it; `None` if it is elsewhere.
fn day_of(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let day = path.parent()?;
    let sessions = day.ancestors().nth(3)?;
    let day = day.strip_prefix(sessions).ok()?;
    let is_number = |part: &OsStr| part.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    day.iter().all(is_number).then(|| (sessions.to_owned(), day.to_owned()))
}

fn folders(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    entries(folder).filter(|it| it.is_dir())
}

/// The entries of a folder; none if it cannot be listed.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn is_rollout(path: &Path) -> bool {
    thread_of(path).is_some() && path.extension() == Some(OsStr::new("jsonl"))
}

/// The id at the end of a rollout's name.
fn thread_of(path: &Path) -> Option<&str> {
    let name = path.file_stem()?.to_str()?.strip_prefix("rollout-")?;
    name.get(name.len().checked_sub(36)?..)
}

fn meta_of(path: &Path) -> Option<SessionMeta> {
    let mut first = Vec::new();
    BufReader::new(open_regular(path).ok()?.take(LONGEST_META)).read_until(b'\n', &mut first).ok()?;
    SessionMeta::of(&serde_json::from_slice(&first).ok()?)
}
