//! Work on thousands of files: on two threads, each with a buffer that is used again.

use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::OFlags;

use crate::nofollow;
use orange_api::Unfit;

/// Runs `work` on all of these, on two threads if they are many; each thread has a buffer. More threads would wait for each
/// other: for memory, and for the folder that they all read.
pub fn in_parallel<T: Send>(all: Vec<T>, are_many: bool, work: &(dyn Fn(T, &mut Vec<u8>) + Sync)) {
    let all = Mutex::new(all.into_iter());
    let next = || locked(&all).next();
    let share = || {
        let mut buffer = Vec::new();
        while let Some(one) = next() {
            work(one, &mut buffer);
        }
    };
    std::thread::scope(|scope| {
        if are_many {
            scope.spawn(share);
        }
        share();
    });
}

/// True if there are enough for a second thread.
pub fn are_many<T>(all: &[T]) -> bool {
    const WORTH_A_THREAD: usize = 64;
    all.len() > WORTH_A_THREAD
}

/// Maps these in their order, in the same way.
pub fn in_order<T: Sync, R: Send>(all: &[T], work: &(dyn Fn(&T, &mut Vec<u8>) -> R + Sync)) -> Vec<R> {
    const PIECE: usize = 64;
    let made = Mutex::new(Vec::new());
    in_parallel(all.chunks(PIECE).enumerate().collect(), are_many(all), &|(at, piece), buffer| {
        let done: Vec<R> = piece.iter().map(|one| work(one, buffer)).collect();
        locked(&made).push((at, done));
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().flat_map(|(_, done)| done).collect()
}

/// The lock of a mutex, also after a panic of the other thread, which ends this one once both are joined.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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
