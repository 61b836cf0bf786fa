//! Buttons, the life of a code, and an attack: random messages, kills, clocks and revocations against a model of them.

use alloc::format;
use alloc::string::{String, ToString};

use super::*;

const NOW: u64 = 1_000_000;
const TIME: Validity = Validity { now: NOW, lasts: 1800 };

fn deny(request: &str) -> PhoneCommand {
    PhoneCommand::Deny { request: request.to_string() }
}

fn allow(request: &str) -> PhoneCommand {
    PhoneCommand::Allow { request: request.to_string() }
}

/// A book in which the phone was offered to allow or deny one request. All messages before are read.
fn offered() -> CodeBook {
    let mut book = CodeBook::default();
    book.offer("phone", "need", [("a".to_string(), allow("r")), ("d".to_string(), deny("r"))], TIME);
    book.caught_up("phone");
    book
}

fn reply<'r>(id: &'r str, hash: &'r str) -> Reply<'r> {
    Reply { id, hash: Some(hash) }
}

#[track_caller]
fn check_buttons(need: &ShownNeed<'_>, expect: &[PhoneAnswer]) {
    assert_eq!(buttons(&PhoneAnswer::ALL, need), expect);
    assert_eq!(buttons(&[], need), [], "nothing is offered that is not allowed");
}

const ASKED: ShownNeed<'_> = ShownNeed {
    open: &[PhoneAnswer::Deny, PhoneAnswer::Allow],
    argument: Some("cargo test"),
    call: None,
    question: None,
    text: "Bash: cargo test · Mend it",
    is_digest: false,
    has_console: true,
};

#[test]
fn a_question_is_answered_where_it_is_shown_whole() {
    const OPEN: &[PhoneAnswer] = &[PhoneAnswer::Answer];
    let asked = |question, text| ShownNeed { open: OPEN, argument: None, question, text, ..ASKED };
    check_buttons(&asked(Some("When?"), "step when asks ada: When? · Mend it"), OPEN);
    check_buttons(&asked(Some("When?"), "step when asks ada: Wh…"), &[]);
    check_buttons(&asked(Some("When\nis it?"), "When\nis it?"), &[]);
    check_buttons(&asked(None, "step when asks ada: When?"), &[]);
}

#[test]
fn allow_is_offered_where_the_whole_argument_is_shown() {
    const DENY: &[PhoneAnswer] = &[PhoneAnswer::Deny];
    check_buttons(&ASKED, &[PhoneAnswer::Allow, PhoneAnswer::Deny]);
    check_buttons(&ShownNeed { argument: None, ..ASKED }, DENY);
    check_buttons(&ShownNeed { argument: Some(""), ..ASKED }, DENY);
    check_buttons(&ShownNeed { text: "Bash: cargo tes… · Mend it", ..ASKED }, DENY);
    for hidden in ["a\nb", "a  b", "a\u{202e}b", "a\u{200b}b", "a\tb", " a", "a\u{1b}[0mb"] {
        check_buttons(&ShownNeed { argument: Some(hidden), text: hidden, ..ASKED }, DENY);
    }
    let (long, longer) = ("x".repeat(300), "x".repeat(301));
    check_buttons(
        &ShownNeed { argument: Some(&long), text: &long, ..ASKED },
        &[PhoneAnswer::Allow, PhoneAnswer::Deny],
    );
    check_buttons(&ShownNeed { argument: Some(&longer), text: &longer, ..ASKED }, DENY);
}

#[test]
fn a_digest_has_no_buttons_and_a_message_at_most_three() {
    check_buttons(&ShownNeed { is_digest: true, ..ASKED }, &[]);
    check_buttons(&ShownNeed { open: &[], ..ASKED }, &[]);
    let all = ShownNeed { open: &PhoneAnswer::ALL, call: Some("Mend it"), ..ASKED };
    check_buttons(&all, &[PhoneAnswer::Allow, PhoneAnswer::Deny]);
    check_buttons(&ShownNeed { has_console: false, ..all }, &PhoneAnswer::ALL[..3]);
    assert_eq!(buttons(&[PhoneAnswer::Seen], &all), [PhoneAnswer::Seen]);
    assert_eq!(buttons(&[PhoneAnswer::Seen], &ShownNeed { call: Some("unseen"), ..all }), []);
}

#[test]
fn a_message_has_the_form_of_a_code_or_none() {
    let code = "0123456789abcdef0123456789abcdef";
    assert_eq!(code_in(&text_of(code)), Some(code));
    assert_eq!(code_in(&format!("{}\n", text_of(code))), Some(code));
    for other in ["", "o1", "o1 ", "o1 x", code, &text_of(&code[1..]), &text_of(&code.to_uppercase()), "o2 0"]
    {
        assert_eq!(code_in(other), None, "{other}");
    }
}

#[test]
fn a_code_is_used_once_and_ends_its_siblings() {
    let mut book = offered();
    book.offer("other", "need", [("o".to_string(), deny("r"))], TIME);
    book.offer("phone", "need 2", [("x".to_string(), deny("r2"))], TIME);
    assert_eq!(book.receive("phone", reply("1", "a"), NOW + 5), Received::Take(allow("r")));
    assert_eq!(book.taken(), [("a".to_string(), allow("r"))]);
    assert_eq!(book.receive("phone", reply("2", "a"), NOW + 5), Received::Dead(CodeEnd::Used));
    book.finish("a", NOW + 6);
    assert_eq!(book.taken(), []);
    assert_eq!(book.receive("phone", reply("3", "a"), NOW + 7), Received::Dead(CodeEnd::Used));
    assert_eq!(book.receive("phone", reply("4", "d"), NOW + 7), Received::Dead(CodeEnd::Sibling));
    assert_eq!(book.receive("other", reply("4", "o"), NOW + 7), Received::Dead(CodeEnd::Sibling));
    assert_eq!(book.receive("phone", reply("5", "x"), NOW + 7), Received::Take(deny("r2")));
}

#[test]
fn a_message_is_read_once() {
    let mut book = offered();
    assert_eq!(book.receive("phone", Reply { id: "1", hash: None }, NOW), Received::NoCode);
    assert_eq!(book.receive("phone", reply("1", "a"), NOW), Received::Repeated);
    assert_eq!(book.replies("phone").place.as_deref(), Some("1"));
    book.read_from("phone", "another topic");
    assert_eq!(book.replies("phone").place, None);
    assert_eq!(book.receive("phone", reply("1", "a"), NOW), Received::Take(allow("r")));
}

#[test]
fn a_code_dies_by_its_time() {
    for (now, expect) in [
        (NOW, Received::Take(allow("r"))),
        (NOW + 1799, Received::Take(allow("r"))),
        (NOW + 1800, Received::Dead(CodeEnd::Expired)),
        // The clock was set back.
        (NOW - 1, Received::Dead(CodeEnd::Expired)),
    ] {
        assert_eq!(offered().receive("phone", reply("1", "a"), now), expect, "{now}");
    }
    let mut taken = offered();
    taken.receive("phone", reply("1", "a"), NOW);
    taken.end_late(NOW + 1800);
    assert_eq!(taken.taken(), [], "a command is not carried out late");
}

#[test]
fn a_code_dies_by_the_end_of_its_need_or_a_revocation() {
    let needs = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<BTreeSet<_>>();
    let mut book = offered();
    book.tidy(&needs(&["need"]), NOW + 1);
    assert_eq!(book.open("phone"), 2);
    book.tidy(&needs(&["another"]), NOW + 1);
    assert_eq!(book.receive("phone", reply("1", "a"), NOW + 2), Received::Dead(CodeEnd::NeedOver));
    book.tidy(&needs(&[]), NOW + 1 + MEMORY);
    assert_eq!(book.codes, []);

    let mut book = offered();
    assert_eq!((book.revoke("other", NOW), book.revoke("phone", NOW), book.revoke("phone", NOW)), (0, 2, 0));
    assert_eq!(book.receive("phone", reply("1", "d"), NOW), Received::Dead(CodeEnd::Revoked));
    let mut book = offered();
    book.receive("phone", reply("1", "a"), NOW);
    assert_eq!(book.revoke("phone", NOW), 1, "a taken code is not carried out any more");
    assert_eq!(book.taken(), []);
    let mut book = offered();
    book.keep_allowed(&BTreeMap::from([("phone", &[PhoneAnswer::Deny][..])]), NOW);
    assert_eq!(book.receive("phone", reply("1", "a"), NOW), Received::Dead(CodeEnd::Revoked));
    assert_eq!((book.open("phone"), book.channels.len()), (1, 1));
    book.keep_allowed(&BTreeMap::from([("other", &PhoneAnswer::ALL[..])]), NOW);
    assert_eq!((book.open("phone"), book.channels.len()), (0, 0));
}

#[test]
fn five_wrong_codes_in_a_minute_close_answers_for_ten_minutes() {
    let mut book = offered();
    let mut count = 0;
    let mut guess = |book: &mut CodeBook, now| {
        count += 1;
        book.receive("phone", reply(&format!("m{count}"), "guess"), now)
    };
    for now in [NOW, NOW + 1, NOW + 2, NOW + 3, NOW + 60] {
        assert_eq!(guess(&mut book, now), Received::Wrong { closes: false }, "{now}");
    }
    assert_eq!(guess(&mut book, NOW + 60), Received::Wrong { closes: true });
    let until = NOW + 60 + CLOSED_FOR;
    assert_eq!(book.receive("phone", reply("1", "a"), until - 1), Received::Closed { until });
    assert_eq!(book.replies("phone").closed(until - 1), Some(until));
    assert_eq!(book.replies("phone").closed(until), None);
    assert_eq!(book.replies("phone").closed(NOW - CLOSED_FOR), None, "the clock was set back");
    assert_eq!(book.receive("phone", reply("2", "a"), until), Received::Take(allow("r")));
}

#[test]
fn only_new_and_unknown_codes_are_guesses() {
    let mut book = offered();
    book.offer("other", "need", [("o".to_string(), deny("r"))], TIME);
    for id in ["1", "2", "3", "4", "5", "6"] {
        assert_eq!(book.receive("phone", reply(id, "o"), NOW), Received::OtherChannel);
    }
    book.revoke("phone", NOW);
    for id in ["11", "12", "13", "14", "15", "16"] {
        assert_eq!(book.receive("phone", reply(id, "d"), NOW), Received::Dead(CodeEnd::Revoked));
    }
    // Messages from before the codes count for nothing.
    book.offer("phone", "need 2", [("n".to_string(), deny("r2"))], TIME);
    for id in ["21", "22", "23", "24", "25", "26"] {
        assert_eq!(book.receive("phone", reply(id, "old"), NOW), Received::Wrong { closes: false });
    }
    assert_eq!(book.receive("phone", reply("31", "n"), NOW), Received::Take(deny("r2")));
}

/// Numbers that look random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

/// An offered code, as the attacker and the judge of the test know it.
struct Offered {
    hash: String,
    channel: &'static str,
    need: u64,
    command: PhoneCommand,
    made: u64,
    is_revoked: bool,
}

/// The world of the test: the book in memory, the book on disk, the engine, and a judge that knows nothing of either.
#[derive(Default)]
struct World {
    book: CodeBook,
    disk: CodeBook,
    now: u64,
    offered: Vec<Offered>,
    /// Every message that was ever on the topics, which an attacker may send again.
    messages: Vec<(&'static str, String, String)>,
    /// Needs that are open. The engine refuses an answer to any other.
    open: BTreeSet<u64>,
    /// Answers that the engine has accepted, each with its need and its time.
    accepted: Vec<(u64, PhoneCommand, u64)>,
    needs: u64,
}

const CHANNELS: [&str; 2] = ["phone", "tablet"];

impl World {
    #[track_caller]
    fn offer(&self, hash: &str) -> &Offered {
        let Some(code) = self.offered.iter().find(|code| code.hash == hash) else {
            panic!("{hash} was not offered")
        };
        code
    }

    fn write(&mut self) {
        self.disk = self.book.clone();
    }

    fn send(&mut self, channel: &'static str, numbers: &mut Numbers) {
        let need = match numbers.below(3) {
            0 => self.needs.saturating_sub(1),
            _ => {
                self.needs += 1;
                self.open.insert(self.needs);
                self.needs
            }
        };
        let request = format!("r{need}");
        let commands = [allow(&request), deny(&request)];
        let mut codes = Vec::new();
        for command in commands.into_iter().take(1 + numbers.below(2) as usize) {
            let hash = format!("h{}", self.offered.len());
            codes.push((hash.clone(), command.clone()));
            self.offered.push(Offered { hash, channel, need, command, made: self.now, is_revoked: false });
        }
        self.book.offer(channel, &format!("n{need}"), codes, Validity { now: self.now, lasts: 100 });
        self.write();
    }

    fn message(&mut self, channel: &'static str, numbers: &mut Numbers) {
        let count = self.messages.len() as u64;
        let (channel, id, hash) = match numbers.below(8) {
            // A replay of a whole message, or of its text.
            0 if count > 0 => self.messages[numbers.below(count) as usize].clone(),
            1 if count > 0 => {
                let (_, _, hash) = self.messages[numbers.below(count) as usize].clone();
                (channel, format!("m{count}"), hash)
            }
            2 => (channel, format!("m{count}"), format!("guess{}", numbers.below(99))),
            _ => match self.offered.len() as u64 {
                0 => return,
                known => {
                    let code = &self.offered[numbers.below(known) as usize];
                    let channel = if numbers.below(5) == 0 { channel } else { code.channel };
                    (channel, format!("m{count}"), code.hash.clone())
                }
            },
        };
        self.messages.push((channel, id.clone(), hash.clone()));
        let decided = self.book.receive(channel, Reply { id: &id, hash: Some(&hash) }, self.now);
        self.book.caught_up(channel);
        if numbers.below(6) == 0 {
            // Killed before the decision is written down: nothing was carried out.
            self.book = self.disk.clone();
            return;
        }
        self.write();
        if let Received::Take(command) = &decided {
            let code = self.offer(&hash);
            assert_eq!((&code.command, code.channel), (command, channel), "it is the command of the code");
            assert!((code.made..code.made + 100).contains(&self.now), "it is in time");
            assert!(!code.is_revoked, "it was not revoked");
        }
        if numbers.below(6) == 0 {
            // Killed before the command is carried out.
            self.book = self.disk.clone();
            return;
        }
        self.carry_out(numbers);
    }

    /// The caller carries out what is taken, also after a restart.
    fn carry_out(&mut self, numbers: &mut Numbers) {
        self.book.end_late(self.now);
        for (hash, command) in self.book.taken() {
            let code = self.offer(&hash);
            assert!(!code.is_revoked && self.now < code.made + 100);
            let need = code.need;
            if self.open.remove(&need) {
                self.accepted.push((need, command, self.now));
            }
            if numbers.below(4) == 0 {
                // Killed after it was carried out and before that is written down.
                self.book = self.disk.clone();
                return;
            }
            self.book.finish(&hash, self.now);
            self.write();
        }
    }
}

#[test]
fn no_attack_repeats_forges_or_outlives_an_answer() {
    let (mut all_accepted, mut all_closed) = (0, 0);
    for seed in 1..=1500 {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let mut world = World { now: NOW, ..World::default() };
        for _ in 0..80 {
            let channel = CHANNELS[numbers.below(2) as usize];
            match numbers.below(12) {
                0..=2 => world.send(channel, &mut numbers),
                3 => world.now += numbers.below(60),
                4 => world.book = world.disk.clone(),
                5 => world.carry_out(&mut numbers),
                6 if numbers.below(3) == 0 => {
                    world.book.revoke(channel, world.now);
                    world.write();
                    for code in world.offered.iter_mut().filter(|code| code.channel == channel) {
                        code.is_revoked = true;
                    }
                }
                7 => {
                    if let Some(over) = world.open.iter().next().copied().filter(|_| numbers.below(2) == 0) {
                        // A person answers elsewhere.
                        world.open.remove(&over);
                    }
                    let needs = world.open.iter().map(|need| format!("n{need}")).collect();
                    world.book.tidy(&needs, world.now);
                    world.write();
                }
                _ => world.message(channel, &mut numbers),
            }
        }
        let mut needs = Vec::new();
        for (need, command, at) in &world.accepted {
            assert!(!needs.contains(need), "seed {seed}: a need has two answers");
            needs.push(*need);
            let is_its = |code: &Offered| code.need == *need && code.command == *command && code.made <= *at;
            assert!(world.offered.iter().any(is_its), "seed {seed}: an answer was not offered");
        }
        all_accepted += world.accepted.len();
        all_closed += world.book.channels.values().filter(|it| it.closed(world.now).is_some()).count();
    }
    assert!(all_accepted > 1000 && all_closed > 10, "the attack reaches both: {all_accepted}, {all_closed}");
}
