//! Random bytes of the kernel.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::{Error, Result};

/// Random bytes.
///
/// # Errors
/// `environment` where the system gives none.
pub fn bytes<const N: usize>() -> Result<[u8; N]> {
    let (source, mut bytes) = (Path::new("/dev/urandom"), [0; N]);
    let read = File::open(source).and_then(|mut source| source.read_exact(&mut bytes));
    read.map(|()| bytes).map_err(|cause| Error::io("read", source, &cause))
}
