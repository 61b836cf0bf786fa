//! Examines a built binary: its size, and whether it is static.

/// True if a 64-bit ELF file runs without a dynamic loader; `None` for any other file.
pub fn is_static(elf: &[u8]) -> Option<bool> {
    const INTERPRETER: u32 = 3;
    let is_elf64_little_endian = elf.get(..6)? == [0x7f, b'E', b'L', b'F', 2, 1];
    if !is_elf64_little_endian {
        return None;
    }
    let table = usize::try_from(u64::from_le_bytes(bytes(elf, 32)?)).ok()?;
    let entry_size = usize::from(u16::from_le_bytes(bytes(elf, 54)?));
    let entries = usize::from(u16::from_le_bytes(bytes(elf, 56)?));
    let kinds: Option<Vec<u32>> =
        (0..entries).map(|entry| bytes(elf, table + entry * entry_size).map(u32::from_le_bytes)).collect();
    Some(!kinds?.contains(&INTERPRETER))
}

/// A size for people.
pub fn kibibytes(size: u64) -> String {
    format!("{} KiB", size.div_ceil(1024))
}

fn bytes<const N: usize>(from: &[u8], at: usize) -> Option<[u8; N]> {
    from.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(kinds: &[u32]) -> Vec<u8> {
        let mut elf = vec![0; 64];
        elf[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        elf[32] = 64;
        elf[54] = 56;
        elf[56] = kinds.len() as u8;
        for kind in kinds {
            elf.extend(kind.to_le_bytes());
            elf.extend([0; 52]);
        }
        elf
    }

    #[test]
    fn a_binary_with_an_interpreter_is_not_static() {
        assert_eq!(is_static(&elf(&[6, 3, 1])), Some(false));
        assert_eq!(is_static(&elf(&[1, 2])), Some(true));
        assert_eq!(is_static(&elf(&[1])[..70]), Some(true));
        assert_eq!(is_static(&elf(&[1, 1])[..100]), None);
        assert_eq!(is_static(b"#!/bin/sh\n"), None);
        assert_eq!(is_static(b""), None);
    }

    #[test]
    fn sizes_round_up() {
        assert_eq!(kibibytes(1), "1 KiB");
        assert_eq!(kibibytes(1024 * 1024), "1024 KiB");
    }
}
