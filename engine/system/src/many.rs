//! Work on thousands of files: on two threads, each with a buffer that is used again.

use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::OFlags;

use crate::nofollow;
use orange_api::Unfit;

/// Maps all of these in no order, on two threads if they are many; each thread has a buffer. More threads would wait for each
/// other: for memory, and for the folder that they all read.
pub fn in_parallel<T: Send, R: Send>(all: Vec<T>, work: &(dyn Fn(T, &mut Vec<u8>) -> R + Sync)) -> Vec<R> {
    const WORTH_A_THREAD: usize = 64;
    /// So many are taken at a time, since a thread that takes each one by itself waits for the other most of the time.
    const PIECE: usize = 16;
    let are_many = all.len() > WORTH_A_THREAD;
    let all = Mutex::new(all.into_iter());
    let next = || -> Vec<T> { locked(&all).by_ref().take(PIECE).collect() };
    let share = || {
        let (mut buffer, mut made) = (Vec::new(), Vec::new());
        let pieces = std::iter::repeat_with(next).take_while(|piece| !piece.is_empty());
        pieces.for_each(|piece| made.extend(piece.into_iter().map(|one| work(one, &mut buffer))));
        made
    };
    std::thread::scope(|scope| {
        let other = are_many.then(|| scope.spawn(share));
        let mut made = share();
        if let Some(other) = other {
            made.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        made
    })
}

/// Maps these in their order, in the same way.
pub fn in_order<T: Sync, R: Send>(all: &[T], work: &(dyn Fn(&T, &mut Vec<u8>) -> R + Sync)) -> Vec<R> {
    let mut made =
        in_parallel(all.iter().enumerate().collect(), &|(at, one), buffer| (at, work(one, buffer)));
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, done)| done).collect()
}

/// The lock of a mutex, also after a panic of the other thread, which ends this one once both are joined.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a whole file into a buffer that grows as needed and is used again for the next file.
pub fn contents<'a>(path: &Path, limit: u64, buffer: &'a mut Vec<u8>) -> std::io::Result<&'a [u8]> {
    const ENOUGH_FOR_MOST: usize = 64 * 1024;
    let mut file = nofollow::open(path, OFlags::RDONLY)?;
    // The length is checked first, so that a huge file is not read up to the limit.
    if file.metadata()?.len() > limit {
        return Err(Unfit::TooLong(limit).into());
    }
    let mut length = 0;
    loop {
        if length as u64 > limit {
            return Err(Unfit::TooLong(limit).into());
        }
        if length == buffer.len() {
            buffer.resize((2 * length).max(ENOUGH_FOR_MOST), 0);
        }
        length += file.read(&mut buffer[length..])?;
        // A regular file returns less than requested only at its end.
        if length < buffer.len() {
            return Ok(&buffer[..length]);
        }
    }
}
