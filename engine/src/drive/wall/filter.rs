//! The filter of system calls, as a program of the kernel's classic BPF: no agent types into its own terminal, and none reads a
//! keyring that it has inherited.
//!
//! The agent shares the terminal's session with its pane, or it would hear of no resize. On such a terminal `TIOCSTI` puts
//! characters into the input of the shell that has it afterwards.

/// Calls that are refused, and the number of `ioctl`, of one calling convention.
struct Convention {
    /// `AUDIT_ARCH_*` of `linux/audit.h`.
    arch: u32,
    ioctl: &'static [u32],
    /// `add_key`, `request_key`, `keyctl`.
    keys: &'static [u32],
}

/// Marks calls of the 32-bit convention that x86-64 has beside its own.
const X32: u32 = 0x4000_0000;

const X86_64: Convention = Convention {
    arch: 0xc000_003e,
    ioctl: &[16, X32 | 514],
    keys: &[248, 249, 250, X32 | 248, X32 | 249, X32 | 250],
};
const I386: Convention = Convention { arch: 0x4000_0003, ioctl: &[54], keys: &[286, 287, 288] };
const AARCH64: Convention = Convention { arch: 0xc000_00b7, ioctl: &[29], keys: &[217, 218, 219] };
const ARM: Convention = Convention { arch: 0x4000_0028, ioctl: &[54], keys: &[309, 310, 311] };

const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;

/// Offsets in `struct seccomp_data`. The kernel reads a request of `ioctl` as 32 bits, the lower half of the second argument.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const REQUEST: u32 = 24;

const ALLOW: u32 = 0x7fff_0000;
/// `SECCOMP_RET_ERRNO` with `EPERM`.
const REFUSE: u32 = 0x0005_0001;

/// `BPF_LD | BPF_W | BPF_ABS`, `BPF_JMP | BPF_JEQ | BPF_K`, `BPF_RET | BPF_K` of `linux/filter.h`.
const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

/// One instruction: `struct sock_filter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Instruction {
    code: u16,
    /// Instructions to skip if a comparison holds.
    then: u8,
    /// Instructions to skip if it does not.
    otherwise: u8,
    value: u32,
}

/// The filter for this processor as bytes for `bwrap --seccomp`; `None` where the wall has none.
pub fn bytes() -> Option<Vec<u8>> {
    let conventions = match std::env::consts::ARCH {
        "x86_64" => [X86_64, I386],
        "aarch64" => [AARCH64, ARM],
        _ => return None,
    };
    Some(program(&conventions).into_iter().flat_map(Instruction::bytes).collect())
}

/// For each convention its own checks. Calls of any other are refused.
fn program(conventions: &[Convention]) -> Vec<Instruction> {
    let mut program = vec![load(ARCH)];
    for convention in conventions {
        let checks = checks(convention);
        program.push(Instruction {
            code: EQUAL,
            then: 0,
            otherwise: length(&checks),
            value: convention.arch,
        });
        program.extend(checks);
    }
    program.push(give(REFUSE));
    program
}

fn checks(convention: &Convention) -> Vec<Instruction> {
    let mut checks = vec![load(NUMBER)];
    let refused = |value: u32| [Instruction { code: EQUAL, then: 0, otherwise: 1, value }, give(REFUSE)];
    checks.extend(convention.keys.iter().flat_map(|number| refused(*number)));
    let mut requests = vec![load(REQUEST)];
    requests.extend([TIOCSTI, TIOCLINUX].into_iter().flat_map(refused));
    requests.push(give(ALLOW));
    for number in convention.ioctl {
        checks.push(Instruction { code: EQUAL, then: 0, otherwise: length(&requests), value: *number });
        checks.extend(&requests);
    }
    checks.push(give(ALLOW));
    checks
}

fn load(offset: u32) -> Instruction {
    Instruction { code: LOAD, then: 0, otherwise: 0, value: offset }
}

fn give(value: u32) -> Instruction {
    Instruction { code: RETURN, then: 0, otherwise: 0, value }
}

/// A jump reaches at most 255 instructions; the tests run every jump.
fn length(part: &[Instruction]) -> u8 {
    u8::try_from(part.len()).unwrap_or(u8::MAX)
}

impl Instruction {
    fn bytes(self) -> [u8; 8] {
        let ([a, b], [c, d, e, f]) = (self.code.to_ne_bytes(), self.value.to_ne_bytes());
        [a, b, self.then, self.otherwise, c, d, e, f]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's answer to a call.
    fn run(program: &[Instruction], arch: u32, number: u32, request: u64) -> u32 {
        let (mut at, mut loaded) = (0, 0);
        loop {
            let Instruction { code, then, otherwise, value } = program[at];
            at += 1;
            match code {
                LOAD => {
                    loaded = match value {
                        NUMBER => number,
                        ARCH => arch,
                        REQUEST => (request & 0xffff_ffff) as u32,
                        other => panic!("offset {other}"),
                    };
                }
                EQUAL => at += usize::from(if loaded == value { then } else { otherwise }),
                RETURN => return value,
                other => panic!("code {other:#x}"),
            }
        }
    }

    #[test]
    fn typing_into_the_terminal_is_refused_on_every_convention() {
        for conventions in [[X86_64, I386], [AARCH64, ARM]] {
            let program = program(&conventions);
            assert!(program.len() < 255);
            for Convention { arch, ioctl, keys } in &conventions {
                for number in *ioctl {
                    for request in [TIOCSTI, TIOCLINUX] {
                        assert_eq!(run(&program, *arch, *number, request.into()), REFUSE);
                        // The kernel ignores the upper half.
                        assert_eq!(run(&program, *arch, *number, u64::from(request) | 7 << 32), REFUSE);
                    }
                    // TIOCGWINSZ, TCSETS.
                    assert_eq!(run(&program, *arch, *number, 0x5413), ALLOW);
                    assert_eq!(run(&program, *arch, *number, 0x5402), ALLOW);
                }
                for number in *keys {
                    assert_eq!(run(&program, *arch, *number, 0), REFUSE);
                }
                for number in (0..600).filter(|number| !ioctl.contains(number) && !keys.contains(number)) {
                    assert_eq!(run(&program, *arch, number, TIOCSTI.into()), ALLOW);
                }
            }
            assert_eq!(run(&program, 0xc000_0016, 16, 0), REFUSE);
        }
    }

    #[test]
    fn an_instruction_has_eight_bytes() {
        assert_eq!(give(REFUSE).bytes(), [6, 0, 0, 0, 1, 0, 5, 0]);
        assert!(bytes().is_none_or(|bytes| bytes.len() % 8 == 0 && bytes.len() > 200));
    }
}
