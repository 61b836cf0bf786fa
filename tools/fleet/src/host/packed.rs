//! Long texts, compressed for the disk.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::HostError;

/// A text as a store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Its length in bytes as a text.
    pub length: u32,
    /// Its compressed bytes.
    pub body: Vec<u8>,
}

/// Compresses a text.
///
/// # Errors
/// It is too long to count, or memory is short.
pub fn pack(text: &str) -> Result<Packed, HostError> {
    let failed = |cause: String| HostError::Unavailable(format!("a text cannot be compressed: {cause}"));
    let length = u32::try_from(text.len()).map_err(|cause| failed(cause.to_string()))?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    Ok(Packed { length, body: written.map_err(|cause| failed(cause.to_string()))? })
}

/// The text again. Nothing longer than its length is read.
///
/// # Errors
/// The bytes are damaged.
pub fn unpack(packed: &Packed) -> Result<String, HostError> {
    let damaged = |why: &str| HostError::Corrupt(format!("a text of an attempt is damaged: {why}"));
    let mut text = String::new();
    let mut decoder = DeflateDecoder::new(&packed.body[..]).take(u64::from(packed.length) + 1);
    decoder.read_to_string(&mut text).map_err(|cause| damaged(&cause.to_string()))?;
    match text.len() == packed.length as usize {
        true => Ok(text),
        false => Err(damaged("it has another length")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_as_it_was() {
        for text in ["", "añb\r\n\u{0}", &"+ one line\n".repeat(20_000)] {
            let packed = pack(text).unwrap();
            assert_eq!(unpack(&packed).as_deref(), Ok(text));
            assert!(text.len() < 1000 || packed.body.len() * 20 < text.len(), "{}", packed.body.len());
        }
    }

    #[test]
    fn damaged_bytes_are_an_error() {
        let packed = pack(&"one line\n".repeat(100)).unwrap();
        let wrong = [
            Packed { length: packed.length - 1, ..packed.clone() },
            Packed { length: packed.length + 1, ..packed.clone() },
            Packed { body: packed.body[..packed.body.len() / 2].to_vec(), ..packed.clone() },
            Packed { body: vec![0xff; 10], ..packed },
        ];
        for it in wrong {
            assert!(matches!(unpack(&it), Err(HostError::Corrupt(_))), "{it:?}");
        }
    }
}
