//! Measures how fast each form resolves transitions; `cargo xtask bench` runs it and makes a table.
//!
//! Without arguments: a line `FORM NANOSECONDS` for each. With a form and a number: that many rounds of it and
//! nothing else, for a tool that counts instructions.

mod forms;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use forms::{Question, hand, rust_fsm, smlang, statig};

/// A form: its name, and what runs so many rounds over all questions.
type Form = (&'static str, fn(&[Question], usize));

const FORMS: [Form; 5] = [
    ("harness", |questions, rounds| run(questions, rounds, |question| question, nothing)),
    ("hand-written match", |questions, rounds| run(questions, rounds, hand::ask, hand::fires)),
    ("smlang", |questions, rounds| run(questions, rounds, smlang::ask, smlang::fires)),
    ("statig", |questions, rounds| run(questions, rounds, statig::ask, statig::fires)),
    ("rust-fsm", |questions, rounds| run(questions, rounds, rust_fsm::ask, rust_fsm::fires)),
];

fn main() -> ExitCode {
    let questions = forms::questions();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => FORMS.iter().for_each(|form| println!("{}\t{:.2}", form.0, nanoseconds(form, &questions))),
        [name, rounds] => {
            let form = FORMS.iter().find(|form| form.0 == name);
            let (Some(form), Ok(rounds)) = (form, rounds.parse()) else { return ExitCode::from(2) };
            form.1(&questions, rounds);
        }
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}

/// The best of many runs, for one question: what else the machine does only ever adds.
fn nanoseconds((_, run): &Form, questions: &[Question]) -> f64 {
    const ROUNDS: usize = 100;
    let once = || {
        let started = Instant::now();
        run(questions, ROUNDS);
        started.elapsed().as_secs_f64() * 1e9 / (ROUNDS * questions.len()) as f64
    };
    (0..20).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn run<Own: Copy>(
    questions: &[Question],
    rounds: usize,
    ask: impl Fn(Question) -> Own,
    fires: impl Fn(Own) -> bool,
) {
    let asked: Vec<Own> = questions.iter().copied().map(ask).collect();
    for _ in 0..rounds {
        let fired = black_box(&asked).iter().filter(|question| fires(**question)).count();
        black_box(fired);
    }
}

#[inline(never)]
fn nothing(question: Question) -> bool {
    black_box(question.2) == u32::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_gives_the_same_answers() {
        for from in 0..8 {
            for to in 1..8 {
                for round in 0..5 {
                    let question = (from, to, round);
                    let expect = hand::fires(hand::ask(question));
                    assert_eq!(smlang::fires(smlang::ask(question)), expect, "smlang {question:?}");
                    assert_eq!(statig::fires(statig::ask(question)), expect, "statig {question:?}");
                    assert_eq!(rust_fsm::fires(rust_fsm::ask(question)), expect, "rust-fsm {question:?}");
                }
            }
        }
    }
}
